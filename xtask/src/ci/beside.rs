//! Stages that run beside the others, as a process of their own: whoever fetches programs waits for the network.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use lockwork_servers::run::kill_group;

use crate::outcome::{Failure, Outcome};
use crate::paint;
use crate::repo::Repo;

/// Stages under way.
pub(super) struct Beside {
    names: String,
    child: Child,
    log: PathBuf,
    begun: Instant,
}

impl Beside {
    /// Begins with the stages of these names. They build in a directory of their own, because cargo lets one at a time
    /// into each.
    pub(super) fn start(repo: &Repo, names: &[&'static str]) -> Outcome<Self> {
        let place = repo.root().join("target/beside");
        let log = place.join("log");
        let begin = || {
            fs::create_dir_all(&place)?;
            let file = File::create(&log)?;
            Command::new(std::env::current_exe()?)
                .arg("ci")
                .args(names)
                .env("CARGO_TARGET_DIR", &place)
                .current_dir(repo.root())
                .process_group(0)
                .stdin(Stdio::null())
                .stderr(file.try_clone()?)
                .stdout(file)
                .spawn()
        };
        let child = begin().map_err(|error: std::io::Error| {
            Failure::failed(format!("No stage can run beside the others ({error})."))
        })?;
        let names = names.join(", ");
        println!("   {names}: beside what follows");
        Ok(Self {
            names,
            child,
            log,
            begun: Instant::now(),
        })
    }

    /// Waits for the end, and shows what was printed.
    pub(super) fn join(mut self) -> Outcome {
        println!("{}", paint::stdout().bold(&format!("== {}", self.names)));
        let status = self.child.wait();
        print!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        println!(
            "   beside the others {:.1} s",
            self.begun.elapsed().as_secs_f64()
        );
        match status {
            Ok(status) if status.success() => Ok(()),
            _ => Err(Failure::AlreadySaid),
        }
    }
}

/// Whoever fails does not leave others at work.
impl Drop for Beside {
    fn drop(&mut self) {
        // It is over already, unless the main stages have failed; and then that is what is told.
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_group(&mut self.child);
        }
    }
}
