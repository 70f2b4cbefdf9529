//! Finding a process again that an earlier command started. A number alone
//! will not do: the system gives it to another process sooner or later, and
//! after a restart at once.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A process, told from all others that had or will have its number.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Which run of the system, and which moment of it.
    pub birth: String,
}

impl Process {
    /// The process that has this number now.
    pub fn with(pid: u32) -> Option<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let birth = format!("{} {}", boot.trim(), start_time(&stat)?);
        Some(Self { pid, birth })
    }

    /// Whether it is still the same.
    pub fn lives(&self) -> bool {
        Self::with(self.pid).as_ref() == Some(self)
    }

    /// The processes of one program that work in a directory or below it. The
    /// program is asked for too, for a shell may be standing there.
    pub fn all_in(directory: &Path, program: &str) -> Vec<Self> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let here = |pid: &u32| works_in(*pid, directory, program).unwrap_or(false);
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(here)
            .filter_map(Self::with)
            .collect()
    }

    /// Sends a signal. One that comes too late is no failure.
    pub fn signal(&self, signal: Signal) {
        let number = i32::try_from(self.pid).ok();
        if let Some(pid) = number.and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Whether it was stopped and not told to go on.
    pub fn is_stopped(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid));
        let state = stat.unwrap_or_default();
        matches!(state.rsplit_once(") "), Some((_, rest)) if rest.starts_with(['T', 't']))
    }

    /// Waits for its end; false when it outlived the limit.
    pub fn gone_within(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while self.lives() {
            if Instant::now() >= deadline {
                return false;
            }
            sleep(Duration::from_millis(10));
        }
        true
    }
}

fn works_in(pid: u32, directory: &Path, program: &str) -> std::io::Result<bool> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm"))?;
    let place = fs::read_link(format!("/proc/{pid}/cwd"))?;
    Ok(name.trim() == program && place.starts_with(directory))
}

/// The 22nd field of proc_pid_stat(5), counted from behind the name, which may
/// hold blanks and brackets. None for a process that ended and was not asked
/// for its status yet.
fn start_time(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    match fields.next()? {
        "Z" | "X" => None,
        _ => fields.nth(18)?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const STAT: &str = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 9 9";

    #[test]
    fn the_start_time_is_found_behind_an_odd_name() {
        assert_eq!(start_time(STAT), Some(12345));
    }

    #[test]
    fn a_zombie_does_not_live() {
        assert_eq!(start_time(&STAT.replace(" S ", " Z ")), None);
    }

    #[test]
    fn a_number_given_to_another_process_is_not_the_same_process() {
        let this = Process::with(std::process::id()).unwrap();
        assert!(this.lives());
        let birth = "another time".to_owned();
        assert!(!Process { birth, ..this }.lives());
    }

    #[test]
    fn only_processes_of_the_program_are_found_in_a_directory() {
        let mut child = Command::new("sleep")
            .arg("30")
            .current_dir("/")
            .spawn()
            .unwrap();
        let found = |program| {
            let all = Process::all_in(Path::new("/"), program);
            all.iter().any(|process| process.pid == child.id())
        };
        // The name is the shell's until the program has replaced it.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !found("sleep") && Instant::now() < deadline {
            sleep(Duration::from_millis(5));
        }
        assert!(found("sleep"), "not within 10 s");
        assert!(!found("postgres"));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
