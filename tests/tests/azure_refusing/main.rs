//! What goes wrong with a storage account is said: by an error whose kind a program can act on, in a
//! sentence that says what to do, in time, and without the key or the signature.
//!
//! `cargo test -p lockwork-conformance --test azure_refusing -- --nocapture` prints the answers.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used)]

#[path = "../postgres_refusing/canary.rs"]
mod canary;
mod keys;
mod options;
mod places;
#[path = "../postgres_refusing/refusal.rs"]
mod refusal;
mod signatures;

use lockwork::{Locks, azure::Options};
use lockwork_servers::Azurite;
use std::sync::OnceLock;
use url::Url;

const ACCOUNT: &str = "devstoreaccount1";

/// The key of Azurite's account, which everybody knows.
const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A server for all tests.
fn port() -> u16 {
    static SERVER: OnceLock<Azurite> = OnceLock::new();
    let server = SERVER.get_or_init(|| Azurite::start().unwrap());
    let url: Url = server.url().parse().unwrap();
    url.port().unwrap()
}

fn endpoint() -> String {
    format!("http://127.0.0.1:{}/{ACCOUNT}", port())
}

fn options(container: &str) -> Options {
    Options::at(&endpoint(), ACCOUNT, container).unwrap()
}

/// A container that is there.
async fn container() -> String {
    let name = format!("test-{:016x}", rand::random::<u64>());
    let options = options(&name).shared_key(KEY);
    options.client().unwrap().create(None).await.unwrap();
    name
}

/// Connects with these, and fails unless it is refused; the error was looked at for secrets.
async fn refused(options: Options) -> lockwork::Error {
    canary::listen();
    canary::is_not_shown_by(&options);
    let error = options.connect().await.map(Locks::new).unwrap_err();
    println!("{:?}: {error}", error.kind());
    canary::is_not_in(&error);
    error
}
