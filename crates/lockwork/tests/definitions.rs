//! Whether the definition of the example in Rust is the one in JSON.
//!
//! This writes the JSON anew:
//!
//! ```sh
//! LOCKWORK_RENEW=1 cargo test -p lockwork --features runtime --test definitions
//! ```

#![cfg(feature = "runtime")]

#[path = "../examples/definitions/mod.rs"]
mod definitions;

use std::{env, fs};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/examples/definitions/order_approval.json"
);

#[test]
fn the_order_approval_in_rust_is_byte_for_byte_the_one_in_json() {
    let written = definitions::order_approval().expect("it can be built");
    let written = written.to_json() + "\n";
    if env::var_os("LOCKWORK_RENEW").is_some() {
        fs::write(FILE, written).expect(FILE);
        return;
    }
    assert_eq!(
        fs::read_to_string(FILE).expect(FILE),
        written,
        "write it anew: LOCKWORK_RENEW=1 cargo test -p lockwork --features runtime --test definitions"
    );
}
