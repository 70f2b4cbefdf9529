//! Looking at the deployment.

use crate::{connect::Link, errors::refused, options::Options, schema};
use lockwork_core::lock::{Finding, Report, Result, Severity};

pub(crate) async fn examine(link: &mut Link, options: &Options) -> Result<Report> {
    let mut findings = Vec::new();
    findings.extend(flavor(link).await?);
    findings.extend(rights(link).await?);
    findings.extend(replicas(link).await?);
    if options.principal.eq_ignore_ascii_case("public") {
        findings.push(Finding::new(
            Severity::Note,
            "everybody who is in the database can take these locks, and keep them",
            "create a role, let it have nobody but these programs for members, and say \
             principal=ROLE in all of them at once",
        ));
    }
    if !options.tokens {
        findings.push(Finding::new(
            Severity::Warning,
            "grants have no tokens, so nothing can fence off a holder that was replaced",
            format!(
                "have an administrator run `{}` and leave tokens=false away",
                schema::script(link, options).await?
            ),
        ));
    }
    Ok(Report::new(findings))
}

/// Babelfish is not SQL Server, and its locks have a smaller space.
async fn flavor(link: &mut Link) -> Result<Option<Finding>> {
    let row = link.row("SELECT @@VERSION", &[]).await?;
    let version: Option<&str> = row.try_get(0).map_err(refused)?;
    let is_babelfish = version.is_some_and(|version| version.contains("Babelfish"));
    Ok(is_babelfish.then(|| {
        Finding::new(
            Severity::Note,
            "this is Babelfish: all its databases and principals share one space of locks, and a \
             wait that is called off ends up to two seconds later",
            "use the PostgreSQL backend of lockwork for the same server, if you can",
        )
    }))
}

async fn rights(link: &mut Link) -> Result<Option<Finding>> {
    let text = "SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')";
    let row = link.row(text, &[]).await?;
    let may: Option<i32> = row.try_get(0).map_err(refused)?;
    Ok((may != Some(1)).then(|| {
        Finding::new(
            Severity::Note,
            "this login may not see who holds a lock",
            "GRANT VIEW SERVER STATE to it, and ALTER ANY CONNECTION where it is to break locks",
        )
    }))
}

/// Application locks are not replicated: at a failover every lock is free.
async fn replicas(link: &mut Link) -> Result<Option<Finding>> {
    let row = link
        .row("SELECT CONVERT(int, SERVERPROPERTY('IsHadrEnabled'))", &[])
        .await?;
    let has_replicas: Option<i32> = row.try_get(0).map_err(refused)?;
    Ok((has_replicas == Some(1)).then(|| {
        Finding::new(
            Severity::Warning,
            "availability groups are on: after a failover every lock is free, and to a replica that \
             commits asynchronously tokens can repeat",
            "let the replica commit synchronously, or keep what the locks protect in this same \
             database",
        )
    }))
}
