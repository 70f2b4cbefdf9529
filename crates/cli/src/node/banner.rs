//! What a node says when it is ready: where it is, what it stands on, and what to try.

use crate::{args::ADDRESS, show};
use std::net::SocketAddr;

/// As many workflows as fit into a line.
const SHOWN: usize = 6;

/// As much of a node's name as tells it from others.
const NAME: usize = 20;

/// So many interrupted instances are counted. Whoever has more wants to know that, and not to wait for the number.
pub(crate) const COUNTED: usize = 100;

/// Everything it says.
pub(crate) struct Banner {
    pub(crate) interrupted: usize,
    pub(crate) node: String,
    pub(crate) address: SocketAddr,
    pub(crate) has_keys: bool,
    pub(crate) store: (String, &'static str),
    pub(crate) locks: (String, &'static str),
    pub(crate) workflows: Vec<String>,
}

impl Banner {
    pub(crate) fn print(&self) {
        for line in self.lines() {
            show::print(line);
        }
    }

    fn lines(&self) -> Vec<String> {
        let api = format!("http://{}", self.address);
        let who = match (self.has_keys, self.address.ip().is_loopback()) {
            (false, _) => "this machine only: no keys",
            (true, true) => "this machine only, with a key",
            (true, false) => "whoever has a key",
        };
        let width = [&api, &self.store.0, &self.locks.0].map(|text| text.chars().count());
        let width = width.into_iter().max().unwrap_or_default();
        let about = |title: &str, text: &str, note: &str| {
            let note = show::dim(&format!("({note})"));
            line(title, &format!("{text:width$}   {note}"))
        };
        let mut lines = self.resumed();
        lines.push(format!(
            "{}  node {}",
            show::bold(concat!("lockwork ", env!("CARGO_PKG_VERSION"))),
            short(&self.node)
        ));
        lines.push(about("API", &api, who));
        lines.push(about("Store", &self.store.0, self.store.1));
        lines.push(about("Locks", &self.locks.0, self.locks.1));
        lines.push(line("Workflows", &self.workflows()));
        lines.push(line("Try", &self.trial(&api)));
        lines
    }

    fn resumed(&self) -> Vec<String> {
        match self.interrupted {
            0 => Vec::new(),
            1 => vec!["resumed 1 interrupted instance".to_owned()],
            many if many > COUNTED => {
                vec![format!("resumed more than {COUNTED} interrupted instances")]
            }
            many => vec![format!("resumed {many} interrupted instances")],
        }
    }

    fn workflows(&self) -> String {
        let shown: Vec<_> = self.workflows.iter().take(SHOWN).cloned().collect();
        match self.workflows.len() {
            0 => "none yet".to_owned(),
            many if many > SHOWN => format!("{} and {} more", shown.join(", "), many - SHOWN),
            _ => shown.join(", "),
        }
    }

    /// Something that works when it is copied.
    fn trial(&self, api: &str) -> String {
        let at = match self.address.to_string() == ADDRESS {
            true => String::new(),
            false => format!(" --node {api}"),
        };
        let is_there = |id: &str| self.workflows.iter().any(|one| one == id);
        match self.workflows.first() {
            _ if is_there("greeting") => {
                format!("lockwork run{at} greeting --input '{{\"who\":\"Ada\"}}'")
            }
            Some(first) => format!("lockwork run{at} {first}"),
            None => format!("lockwork run{at} FILE.json"),
        }
    }
}

fn line(title: &str, text: &str) -> String {
    let padded = format!("{title:9}");
    format!("{}  {text}", show::bold(&padded))
}

/// A name that was drawn is longer than anybody reads.
fn short(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn banner() -> Banner {
        Banner {
            interrupted: 0,
            node: format!("node-{}", "7f3a".repeat(8)),
            address: ([127, 0, 0, 1], 8600).into(),
            has_keys: false,
            store: (".lockwork/lockwork.db".into(), "SQLite"),
            locks: (".lockwork/locks".into(), "this machine"),
            workflows: vec!["greeting".into(), "other".into()],
        }
    }

    #[test]
    fn a_node_says_what_there_is_in_at_most_eight_lines() {
        let mut banner = banner();
        banner.interrupted = 2;
        let lines = banner.lines();
        assert!(lines.len() <= 8, "{lines:#?}");
        assert_eq!(lines[0], "resumed 2 interrupted instances");
        assert_eq!(lines[1], "lockwork 0.1.0  node node-7f3a7f3a7f3a7f3…");
        assert_eq!(
            lines[2],
            "API        http://127.0.0.1:8600   (this machine only: no keys)"
        );
        assert_eq!(lines[3], "Store      .lockwork/lockwork.db   (SQLite)");
        assert_eq!(lines[5], "Workflows  greeting, other");
        assert_eq!(
            lines[6],
            "Try        lockwork run greeting --input '{\"who\":\"Ada\"}'"
        );
    }

    #[test]
    fn one_instance_is_one() {
        let mut banner = banner();
        banner.interrupted = 1;
        assert_eq!(banner.lines()[0], "resumed 1 interrupted instance");
    }

    #[test]
    fn of_very_many_instances_it_is_told_that_there_are_more() {
        let mut banner = banner();
        banner.interrupted = COUNTED + 1;
        let told = "resumed more than 100 interrupted instances";
        assert_eq!(banner.lines()[0], told);
    }

    #[test]
    fn what_to_try_names_the_node_if_it_is_elsewhere() {
        let mut banner = banner();
        banner.address = ([127, 0, 0, 1], 9).into();
        banner.workflows = vec![];
        let tried = banner.lines().pop().unwrap_or_default();
        assert!(tried.ends_with("lockwork run --node http://127.0.0.1:9 FILE.json"));
    }

    #[test]
    fn of_many_workflows_some_are_named() {
        let mut banner = banner();
        banner.workflows = (0..9).map(|number| format!("w{number}")).collect();
        let lines = banner.lines();
        assert!(lines[4].ends_with("w4, w5 and 3 more"), "{}", lines[4]);
    }
}
