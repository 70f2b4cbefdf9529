//! The conformance suite on every backend there is: `cargo test --test conformance -- memory::`.

use lockwork_conformance::{
    Site,
    backends::{file, memory, standin},
    trials, wakeup_delay,
};

fn main() -> std::process::ExitCode {
    let sites = [
        Site::new("memory", memory::start),
        Site::new("file", file::told),
        Site::new("file-poll", file::polling),
        Site::new("lease", standin::lease),
        Site::new("session", standin::session),
    ];
    let args = libtest_mimic::Arguments::from_args();
    if !args.list {
        println!(
            "limits allow for ten times the wake-up delay of {:?}",
            wakeup_delay()
        );
    }
    let taker = env!("CARGO_BIN_EXE_taker").into();
    libtest_mimic::run(&args, trials(&sites, taker)).exit_code()
}
