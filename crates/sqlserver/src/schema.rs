//! Where tokens come from: one sequence for all locks of a database.
//!
//! A sequence hands out each number once and in order, also to several sessions. Of those that the
//! server keeps ready in memory a crash loses some; none comes twice.

use crate::{
    connect::{Link, nothing},
    errors::{is_lack_of_rights, is_there_already, refused},
    options::{Options, literal, quoted},
};
use lockwork_core::lock::{Error, ErrorKind, Result};

/// The highest number that fits into a token.
const LAST: i64 = (1 << 47) - 1;

/// What an administrator runs where lockwork may not create a schema: once or several times, whatever
/// of it is there already, and in one piece. CREATE SCHEMA stands in a batch of its own.
pub(crate) async fn script(link: &mut Link, options: &Options) -> Result<String> {
    let row = link.row("SELECT USER_NAME()", &[]).await?;
    let user: &str = row.try_get(0).map_err(refused)?.ok_or_else(nothing)?;
    let (schema, name) = (literal(&options.schema), options.sequence());
    let create = literal(&format!("CREATE SCHEMA {}", options.quoted_schema()));
    let made = format!(
        "IF SCHEMA_ID({schema}) IS NULL EXEC({create}); IF OBJECT_ID({}, 'SO') IS NULL {}",
        literal(&name),
        sequence(options),
    );
    // The owner may do everything, and nobody can grant it anything.
    Ok(match user.eq_ignore_ascii_case("dbo") {
        true => made,
        false => format!("{made}; GRANT UPDATE ON OBJECT::{name} TO {}", quoted(user)),
    })
}

fn sequence(options: &Options) -> String {
    format!(
        "CREATE SEQUENCE {} AS bigint START WITH 1 INCREMENT BY 1",
        options.sequence()
    )
}

/// Makes the schema and its sequence unless they are there. Two nodes may do so at once: one of them
/// finds that it was there already.
pub(crate) async fn ensure(link: &mut Link, options: &Options) -> Result<()> {
    if !exists(link, options).await? {
        let schema = format!("CREATE SCHEMA {}", options.quoted_schema());
        for text in [schema, sequence(options)] {
            match link.run(&text).await {
                Ok(()) => {}
                Err(error) if is_there_already(&error) => {}
                Err(error) if is_lack_of_rights(&error) => {
                    return Err(missing(link, options).await?.because(error));
                }
                Err(error) => return Err(refused(error)),
            }
        }
    }
    check(link, options).await
}

async fn exists(link: &mut Link, options: &Options) -> Result<bool> {
    let row = link
        .row("SELECT OBJECT_ID(@P1, 'SO')", &[&options.sequence()])
        .await?;
    let id: Option<i32> = row.try_get(0).map_err(refused)?;
    Ok(id.is_some())
}

/// Whether it counts as tokens must: by ones, upwards, and never from the beginning again.
async fn check(link: &mut Link, options: &Options) -> Result<()> {
    let text = "SELECT CONVERT(bigint, increment), is_cycling, CONVERT(bigint, current_value) \
                FROM sys.sequences WHERE object_id = OBJECT_ID(@P1, 'SO')";
    let rows = link
        .rows(text, &[&options.sequence()])
        .await
        .map_err(refused)?;
    // A user who may take numbers from it need not be able to look at it.
    let Some(row) = rows.first() else {
        return Ok(());
    };
    let increment: i64 = row.try_get(0).map_err(refused)?.unwrap_or(1);
    let cycles: bool = row.try_get(1).map_err(refused)?.unwrap_or(false);
    let current: i64 = row.try_get(2).map_err(refused)?.unwrap_or(1);
    let message = if increment <= 0 || cycles {
        "the sequence of lockwork must count upwards and not begin anew: ALTER SEQUENCE … INCREMENT \
         BY 1 NO CYCLE"
    } else if current > LAST {
        "the sequence of lockwork has come to numbers that no token can be: drop it and create it \
         again, when no lock is held"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Denied, message).with("sequence", options.sequence()))
}

async fn missing(link: &mut Link, options: &Options) -> Result<Error> {
    let message = format!(
        "tokens need a sequence, which this user may not create or use: have an administrator run \
         `{}` in the database, or say tokens=false",
        script(link, options).await?,
    );
    Ok(Error::new(ErrorKind::Denied, message))
}
