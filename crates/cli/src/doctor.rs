//! `lockwork doctor`: what would break a promise here, and what to do about it.

use crate::{args::Doctor, connect::connect, exit, show};
use lockwork::{Finding, Registry, Report, Result, Severity};

pub(crate) async fn run(registry: &Registry, args: Doctor) -> Result<u8> {
    let locks = connect(registry, &args.place).await?;
    let report = locks.doctor().await?;
    if args.json {
        show::print(json(&report));
    } else {
        print(&report);
    }
    Ok(if report.is_safe() { 0 } else { exit::FOUND })
}

fn print(report: &Report) {
    for finding in &report.findings {
        show::print(finding);
    }
    if report.is_safe() {
        show::print("nothing here breaks a promise");
    }
}

fn json(report: &Report) -> serde_json::Value {
    let finding = |finding: &Finding| {
        serde_json::json!({
            "severity": severity(finding.severity),
            "what": finding.what,
            "remedy": finding.remedy,
        })
    };
    let findings: Vec<_> = report.findings.iter().map(finding).collect();
    serde_json::json!({ "safe": report.is_safe(), "findings": findings })
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        // Whatever else there may be one day: better looked at than not.
        _ => "unsafe",
    }
}
