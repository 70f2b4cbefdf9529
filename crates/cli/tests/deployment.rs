//! The files for a deployment say what the command takes and what a node counts.
#![cfg(unix)]

mod common;

use common::node::{Node, bare};
use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
};

fn file(name: &str) -> String {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cluster");
    let place: PathBuf = place.join(name);
    std::fs::read_to_string(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()))
}

/// All words of a text that begin so.
fn words(text: &str, begin: &str) -> BTreeSet<String> {
    let letters = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    let words = text.split(letters).filter(|word| word.starts_with(begin));
    words.map(str::to_owned).collect()
}

#[test]
fn nodes_of_a_deployment_are_told_only_what_they_know() {
    let help = bare(&["serve", "--help"]).output().unwrap();
    let known = words(&String::from_utf8_lossy(&help.stdout), "LOCKWORK_");
    assert!(known.contains("LOCKWORK_STORE"), "{known:?}");
    for name in ["compose.yml", "kubernetes.yml"] {
        let mut told = words(&file(name), "LOCKWORK_");
        // For whoever asks.
        told.remove("LOCKWORK_KEY");
        assert!(
            told.is_subset(&known),
            "{name}: {told:?}, known are {known:?}"
        );
    }
}

#[test]
fn nodes_of_a_deployment_sign_links_alike() {
    let (compose, kubernetes) = (file("compose.yml"), file("kubernetes.yml"));
    for line in [
        "LOCKWORK_SECRET_FILE: /run/secrets/links",
        "secrets: [keys, links]",
        "file: ./links",
    ] {
        assert!(compose.contains(line), "{line}");
    }
    for line in [
        "{ name: LOCKWORK_SECRET_FILE, value: /run/lockwork/links }",
        "--from-file=links",
    ] {
        assert!(kubernetes.contains(line), "{line}");
    }
}

/// What a field of a file is, wherever it stands there.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("{name}: "))?;
    rest.split([',', ' ', '\n']).next()
}

#[test]
fn the_user_of_a_deployment_can_read_its_secrets() {
    let text = file("kubernetes.yml");
    let user = field(&text, "runAsUser").expect("a user");
    // Files of a secret are root's: only the group of the volume makes them somebody else's to read.
    assert_eq!(field(&text, "fsGroup"), Some(user));
    assert_eq!(field(&text, "defaultMode"), Some("0440"));
    assert!(file("Dockerfile").contains(&format!("--uid {user}")));
}

#[test]
fn a_deployment_waits_longer_than_a_node_drains() {
    let help = bare(&["serve", "--help"]).output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let drain = help.lines().find(|line| line.contains("Without, 30s"));
    assert!(drain.is_some(), "{help}");
    let (compose, kubernetes) = (file("compose.yml"), file("kubernetes.yml"));
    assert_eq!(field(&compose, "stop_grace_period"), Some("45s"));
    assert_eq!(
        field(&kubernetes, "terminationGracePeriodSeconds"),
        Some("45")
    );
}

#[test]
fn alerts_are_about_what_a_node_counts() {
    let directory = tempfile::tempdir().unwrap();
    let node = Node::dev(directory.path(), &[]);
    let address = node.url.strip_prefix("http://").unwrap();
    let counted = || {
        let mut stream = TcpStream::connect(address).unwrap();
        let request =
            format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        words(&text, "lockwork_")
    };
    let alerts = file("alerts.yml");
    let expressions = alerts
        .lines()
        .filter(|line| line.trim().starts_with("expr:"));
    let wanted: BTreeSet<_> = expressions
        .flat_map(|line| words(line, "lockwork_"))
        .collect();
    assert!(wanted.len() > 3, "{wanted:?}");
    let counted = counted();
    assert!(
        wanted.is_subset(&counted),
        "{wanted:?}, counted are {counted:?}"
    );
}
