//! The program that counts allocations, which a cell asks. That it is tested has cargo build it,
//! and the program whose roles the cells start, before any test runs.

use std::process::Command;

#[test]
fn it_counts_allocations_and_bytes() {
    let counted = Command::new(env!("CARGO_BIN_EXE_lockwork-bench-allocations"))
        .arg("20")
        .output()
        .unwrap();
    let counted = String::from_utf8(counted.stdout).unwrap();
    let numbers: Vec<u64> = counted
        .split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect();
    assert_eq!(numbers.len(), 2, "{counted}");
}
