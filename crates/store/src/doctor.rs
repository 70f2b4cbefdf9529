//! Looking at a deployment: what would break a promise of a store, and what to do about it.

use lockwork_core::{
    lock::{Finding, Report, Severity},
    workflow::{Error, ErrorKind, Result},
};

/// Looks at the store that `url` names, and changes nothing there: tables that are missing are not made.
///
/// # Errors
/// [`ErrorKind::Invalid`] if the URL is wrong, [`ErrorKind::Unavailable`] if the store cannot be reached,
/// [`ErrorKind::Denied`] if a server does not let us in. Everything else is in the report.
pub async fn doctor(url: &str) -> Result<Report> {
    let scheme = url.split(':').next().unwrap_or_default();
    match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => crate::sqlite::doctor::look(&crate::sqlite::Options::from_url(url)?).await,
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => crate::postgres::doctor::look(url).await,
        _ => Err(Error::new(ErrorKind::Invalid, "no store has this scheme").with("scheme", scheme)),
    }
}

/// What a store refuses to work with, as something found. An error says before the colon what it is, and then what to do.
pub(crate) fn refused(error: &Error) -> Finding {
    let text = error.to_string();
    let (what, remedy) = text
        .split_once(": ")
        .unwrap_or((&text, "nodes refuse this store"));
    Finding::new(Severity::Unsafe, what.to_owned(), remedy.to_owned())
}

/// Whether this program and the tables fit. Nothing was `found` where there are none.
pub(crate) fn form(found: Option<u64>, known: u64) -> Option<Finding> {
    match found {
        None => Some(Finding::new(
            Severity::Note,
            "there are no tables of a store here yet",
            "the first node that starts makes them",
        )),
        Some(found) if found < known => Some(Finding::new(
            Severity::Warning,
            format!(
                "an older version of lockwork made these tables: form {found}, and this program has {known}"
            ),
            "the first node of this version changes them, and older ones refuse the store from then on: end those first",
        )),
        Some(found) if found > known => Some(Finding::new(
            Severity::Unsafe,
            format!(
                "a newer version of lockwork has changed these tables: form {found}, and this program knows {known}"
            ),
            "update this program",
        )),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_what_was_found_and_what_to_do() {
        let error = Error::new(ErrorKind::Denied, "it is so: do that").with("a", "b: c");
        let finding = refused(&error);
        assert_eq!(finding.what, "it is so");
        assert!(finding.remedy.starts_with("do that"), "{finding}");
        assert_eq!(finding.severity, Severity::Unsafe);
    }

    #[test]
    fn tables_of_another_version_are_told_from_ours() {
        let severity = |found| form(found, 2).map(|finding| finding.severity);
        assert_eq!(severity(None), Some(Severity::Note));
        assert_eq!(severity(Some(1)), Some(Severity::Warning));
        assert_eq!(severity(Some(2)), None);
        assert_eq!(severity(Some(3)), Some(Severity::Unsafe));
    }
}
