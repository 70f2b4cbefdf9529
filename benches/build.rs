//! Tells the program what it was built with, for the line above its table.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_else(|error| format!("unknown rustc ({error})"));
    let profile = std::env::var("PROFILE").unwrap_or_else(|_| "unknown".to_owned());
    println!("cargo::rustc-env=BENCH_RUSTC={version}");
    println!("cargo::rustc-env=BENCH_PROFILE={profile}");
    println!("cargo::rerun-if-changed=build.rs");
}
