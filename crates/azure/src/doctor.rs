//! Whether locks are safe in this container.

use crate::{Options, names, refusal::Refusal, server::Server, times};
use azure_storage_blob::models::{
    BlobContainerClientGetAccountInfoResultHeaders, BlobContainerClientGetPropertiesResultHeaders,
    SkuName,
};
use lockwork_core::lock::{Finding, Report, Result, Severity};
use std::time::{Duration, SystemTime};

/// A clock that is off by more will be a surprise: at a quarter of an hour nothing works any more.
const SKEW: Duration = Duration::from_secs(60);

pub(crate) async fn look(server: &Server, options: &Options) -> Result<Report> {
    let mut findings = Vec::new();
    let nothing = format!("{}nothing", names::all(&server.prefix));
    if let Err(refusal) = server.blobs.look(&nothing).await {
        findings.extend(clock(&refusal, SystemTime::now()));
        if refusal.said != crate::refusal::Said::NoBlob {
            return Err(refusal.error);
        }
    }
    findings.extend(key(options));
    findings.extend(replication(server).await);
    findings.extend(immutability(server).await);
    Ok(Report::new(findings))
}

fn clock(refusal: &Refusal, now: SystemTime) -> Option<Finding> {
    let apart = times::millis(refusal.date?).abs_diff(times::millis(now));
    let apart = Duration::from_millis(apart);
    (apart > SKEW).then(|| {
        Finding::new(
            Severity::Warning,
            format!(
                "the clocks of this machine and of the account are {} s apart",
                apart.as_secs()
            ),
            "set this machine's clock: at a quarter of an hour its requests are refused",
        )
    })
}

fn key(options: &Options) -> Option<Finding> {
    let what = match &options.credential {
        credential if credential.is_known_to_all() => {
            "the account is Azurite's, whose key everybody knows"
        }
        crate::credential::Credential::Key(_) => {
            "the account's key may do everything with the account, and is hard to change"
        }
        _ => return None,
    };
    let remedy = "use an identity of Entra ID with a role on this container alone";
    Some(Finding::new(Severity::Note, what, remedy))
}

/// An answer that is not for everybody: without the right to it nothing is said.
async fn replication(server: &Server) -> Option<Finding> {
    let about = server
        .blobs
        .once(server.blobs.container().get_account_info(None));
    let sku = about.await.ok()?.sku_name().ok()??;
    let elsewhere = matches!(sku, SkuName::StandardGrs | SkuName::StandardRagrs)
        || sku.to_string().contains("GZRS");
    elsewhere.then(|| {
        Finding::new(
            Severity::Note,
            format!("the account is copied to another region ({sku}), behind time"),
            "after a failover to that region, expect locks granted before it to be forgotten: let what \
             they protect refuse lower tokens",
        )
    })
}

async fn immutability(server: &Server) -> Option<Finding> {
    let about = server
        .blobs
        .once(server.blobs.container().get_properties(None));
    let about = about.await.ok()?;
    let fixed = about.has_immutability_policy().ok()? == Some(true)
        || about.has_legal_hold().ok()? == Some(true);
    fixed.then(|| {
        Finding::new(
            Severity::Unsafe,
            "the container has an immutability policy or a legal hold: blobs cannot be written to twice",
            "use a container of its own for locks",
        )
    })
}
