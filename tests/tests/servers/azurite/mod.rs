//! An Azurite of one's own: what it survives, and what is left of it when nobody needs it any more.

use lockwork_servers::{Azurite, azurite::setup::ready};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

fn azurite() -> Azurite {
    Azurite::start().unwrap()
}

/// The status and the headers with which it answers one who has the key.
fn ask(server: &Azurite, words: &[&str]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/azurite/ask.js");
    let port = server.port().to_string();
    let mut node = Command::new("node");
    let output = node.arg(script).arg(port).args(words).output().unwrap();
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{failed}");
    String::from_utf8(output.stdout).unwrap()
}

fn with_container(server: &Azurite) {
    let answer = ask(server, &["PUT", "/kept?restype=container"]);
    assert!(answer.starts_with("201\n"), "{answer}");
}

fn has_container(server: &Azurite) -> bool {
    let answer = ask(server, &["GET", "/kept?restype=container"]);
    answer.starts_with("200\n")
}

/// Leases a new blob for so many seconds, or for good.
fn lease(server: &Azurite, blob: &str, duration: &str) {
    let blob = format!("/kept/{blob}");
    ask(server, &["PUT", &blob, "x-ms-blob-type:BlockBlob"]);
    let duration = format!("x-ms-lease-duration:{duration}");
    let (path, action) = (format!("{blob}?comp=lease"), "x-ms-lease-action:acquire");
    let answer = ask(server, &["PUT", &path, action, &duration]);
    assert!(answer.starts_with("201\n"), "{answer}");
}

#[test]
fn an_azurite_answers_and_knows_nothing_of_another_one() {
    let (one, two) = (azurite(), azurite());
    let url = format!("azblob+http://127.0.0.1:{}/devstoreaccount1", one.port());
    assert_eq!(one.url(), url);
    with_container(&one);
    assert!(has_container(&one));
    assert!(!has_container(&two));
    assert!(one.log().contains("successfully listens"));
}

#[test]
fn a_stopped_azurite_comes_back_on_its_port_with_its_containers() {
    let server = azurite();
    let (url, before) = (server.url(), server.pid().unwrap());
    with_container(&server);
    server.stop().unwrap();
    assert_eq!(server.pid(), None);
    assert!(server.log().contains("successfully closed"));
    server.restart().unwrap();
    assert_eq!(server.url(), url);
    assert_ne!(server.pid(), Some(before));
    assert!(has_container(&server));
}

#[test]
fn a_killed_azurite_is_gone_without_a_word_and_can_be_restarted() {
    let server = azurite();
    let pid = server.pid().unwrap();
    server.kill().unwrap();
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(!ready(server.port()));
    assert!(!server.log().contains("is closing"));
    server.restart().unwrap();
    assert!(ready(server.port()));
}

#[test]
fn a_restarted_azurite_knows_of_leases_only_those_without_an_end() {
    let server = azurite();
    with_container(&server);
    lease(&server, "minute", "60");
    lease(&server, "good", "-1");
    let begun = Instant::now();
    server.restart().unwrap();
    let minute = ask(&server, &["HEAD", "/kept/minute"]);
    let good = ask(&server, &["HEAD", "/kept/good"]);
    assert!(begun.elapsed() < Duration::from_secs(50), "too late");
    assert!(minute.contains("x-ms-lease-state: expired"), "{minute}");
    assert!(good.contains("x-ms-lease-state: leased"), "{good}");
}

#[test]
fn a_frozen_azurite_answers_again_once_thawed() {
    let server = azurite();
    server.freeze().unwrap();
    assert!(!ready(server.port()));
    server.thaw();
    super::eventually("an answer", || ready(server.port()));
}

#[test]
fn nothing_of_a_dropped_azurite_stays_even_frozen() {
    let server = azurite();
    let (pid, data) = (server.pid().unwrap(), server.data().to_owned());
    assert!(data.is_dir());
    server.freeze().unwrap();
    drop(server);
    assert!(!data.exists());
    assert!(!PathBuf::from(format!("/proc/{pid}")).exists());
}

#[test]
fn who_lacks_node_is_told_what_to_install() {
    let output = Command::new(env!("CARGO_BIN_EXE_server-keeper"))
        .arg("azurite")
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`node` is not installed"), "{said}");
    assert!(said.contains("package `nodejs`"), "{said}");
    assert!(said.contains("cargo xtask up"), "{said}");
}
