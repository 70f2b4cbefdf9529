//! The command shows no password.

use crate::{CANARY, database, shared, url};
use std::{
    process::{Output, Stdio},
    time::Duration,
};
use tokio::process::Command;

/// What nothing here takes longer than, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(20);

async fn lockwork(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockwork-standin"));
    let command = command.args(words).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LIMIT, command.output()).await;
    let output = output.expect("it did not end within 20 s");
    let output = output.expect("it starts");
    for said in [&output.stdout, &output.stderr] {
        let said = String::from_utf8_lossy(said);
        assert!(!said.contains(CANARY), "the password is in: {said}");
    }
    output
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test]
async fn who_is_not_let_in_is_told_why_and_the_password_is_not_shown() {
    let url = url(shared(), "stranger", "master");
    for words in [
        &["doctor", "-vvv", "--locks", &url][..],
        &["doctor", "--json", "--locks", &url],
        &["holders", "-vvv", "--locks", &url, "a"],
        &["exec", "-vvv", "--locks", &url, "a", "--", "true"],
    ] {
        let output = lockwork(words).await;
        assert_eq!(output.status.code(), Some(69), "{}", said(&output));
        let said = said(&output);
        assert!(said.contains("refused the user or the password"), "{said}");
    }
}

#[tokio::test]
async fn a_url_that_is_wrong_is_not_repeated() {
    let torn = format!("sqlserver://sa:12/{CANARY}@localhost/master");
    let secret = format!("{}&password={CANARY}", url(shared(), "sa", "master"));
    for url in [&torn, &secret] {
        let output = lockwork(&["doctor", "-vvv", "--locks", url]).await;
        assert!(!output.status.success(), "{}", said(&output));
    }
}

#[tokio::test]
async fn what_works_shows_no_password_either() {
    let url = database("commanded");
    for words in [
        &["doctor", "-vvv", "--locks", &url][..],
        &["holders", "-vvv", "--locks", &url, "a"],
        &["exec", "-vvv", "--locks", &url, "a", "--", "true"],
    ] {
        let output = lockwork(words).await;
        assert!(output.status.success(), "{}", said(&output));
    }
}
