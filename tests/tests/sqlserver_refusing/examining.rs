//! What `doctor` says.

use crate::{SOON, canary, connect, database, run, somebody, works};
use lockwork::{Finding, Locks, Severity};
use lockwork_conformance::within;

pub(crate) async fn findings(locks: &Locks) -> Vec<Finding> {
    let report = within(SOON, "a report", locks.doctor()).await.unwrap();
    canary::is_not_shown_by(&report);
    canary::is_not_in_the_log();
    println!("{report:?}");
    report.findings
}

fn severity(findings: &[Finding], words: &str) -> Option<Severity> {
    let found = findings.iter().find(|it| it.what.contains(words));
    found.map(|it| it.severity)
}

const EVERYBODY: &str = "everybody who is in the database";
const BLIND: &str = "may not see who holds";
const NO_TOKENS: &str = "grants have no tokens";

#[tokio::test]
async fn a_plain_server_is_safe_and_open_to_all_its_users() {
    let locks = connect(&database("healthy")).await;
    let report = locks.doctor().await.unwrap();
    assert!(report.is_safe());
    let findings = findings(&locks).await;
    assert_eq!(severity(&findings, EVERYBODY), Some(Severity::Note));
    assert_eq!(findings.len(), 1, "{findings:?}");
}

#[tokio::test]
async fn who_has_few_rights_and_no_tokens_is_told_what_is_missing() {
    let url = somebody("patient");
    let locks = connect(&format!("{url}&tokens=false")).await;
    let found = findings(&locks).await;
    assert_eq!(severity(&found, BLIND), Some(Severity::Note));
    assert_eq!(severity(&found, EVERYBODY), Some(Severity::Note));
    assert_eq!(severity(&found, NO_TOKENS), Some(Severity::Warning));
    // The remedy is one.
    let remedy = found.iter().find(|it| it.what.contains(NO_TOKENS));
    let remedy = remedy.unwrap().remedy.to_string();
    run("patient", [remedy.split('`').nth(1).expect("a script")]);
    assert!(works(&connect(&url).await).await.is_some());
}

#[tokio::test]
async fn a_role_of_its_own_and_the_right_to_see_leave_nothing_to_say() {
    let url = somebody("careful");
    run(
        "careful",
        [
            "CREATE ROLE few",
            "ALTER ROLE few ADD MEMBER careful",
            "CREATE SCHEMA lockwork",
            "CREATE SEQUENCE lockwork.token AS bigint START WITH 1 INCREMENT BY 1",
            "GRANT UPDATE ON OBJECT::lockwork.token TO few",
        ],
    );
    run("master", ["GRANT VIEW SERVER STATE TO careful"]);
    let locks = connect(&format!("{url}&principal=few")).await;
    assert_eq!(findings(&locks).await.len(), 0);
}
