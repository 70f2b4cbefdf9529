//! Who this process is, for operators who look at the server.

use std::sync::OnceLock;

/// As much as PostgreSQL keeps of an application name (`NAMEDATALEN` - 1); others keep more.
const LONGEST: usize = 63;

/// `lockwork/HOST/PID`: what a server is to show its operators of us, in visible ASCII.
#[must_use]
pub fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let process = format!("/{}", std::process::id());
        let room = LONGEST - "lockwork/".len() - process.len();
        // Servers put a question mark for everything else, or refuse it.
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
