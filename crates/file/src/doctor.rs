//! Looking at the deployment.

use crate::{file_systems, place::Place};
use lockwork_core::lock::{Finding, Report, Result, Severity};

pub(crate) fn look(place: &Place) -> Result<Report> {
    let mut findings = vec![Finding::new(
        Severity::Note,
        "these locks exclude processes of this machine and nobody else",
        "use a server for several machines; containers need this directory mounted in each",
    )];
    if place.options.any_file_system {
        let kind = file_systems::called(&place.current().directory).unwrap_or("unknown");
        if file_systems::local(&place.current().directory, place.path()).is_err() {
            findings.push(Finding::new(
                Severity::Unsafe,
                format!("the file system is {kind}: locks there may exclude nobody"),
                "use a local directory, or a server for several machines",
            ));
        }
    }
    if place.options.shared {
        findings.push(Finding::new(
            Severity::Warning,
            "others may write to the directory: they can take locks away or keep them",
            "use a directory of this user's own, if all processes run as this user",
        ));
    }
    if !place.is_told() {
        findings.push(Finding::new(
            Severity::Warning,
            "waiters look every 50 ms, because nobody tells them",
            "raise fs.inotify.max_user_instances and max_user_watches, and leave poll=true out",
        ));
    }
    Ok(Report::new(findings))
}
