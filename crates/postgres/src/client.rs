//! Who this process is, for operators who look at the server.

use std::sync::OnceLock;

/// As much as the server keeps of an application name (`NAMEDATALEN` - 1).
const LONGEST: usize = 63;

/// `lockwork/HOST/PID`: what `pg_stat_activity.application_name` shows.
pub(crate) fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let process = format!("/{}", std::process::id());
        let room = LONGEST - "lockwork/".len() - process.len();
        // The server puts a question mark for everything else.
        let host = host();
        let host = host.chars().filter(char::is_ascii_graphic).take(room);
        format!("lockwork/{}{process}", host.collect::<String>())
    })
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_name_says_which_process_and_is_not_cut_off() {
        let name = super::name();
        assert!(name.len() <= super::LONGEST, "{name}");
        assert!(name.ends_with(&format!("/{}", std::process::id())));
    }
}
