//! What follows the options, in the help and on a page of the manual: examples, exit codes, and notes.

use std::fmt::Write;

/// What follows the options of a verb.
#[derive(Debug)]
pub(crate) struct After {
    pub(crate) examples: &'static str,
    pub(crate) codes: &'static [(&'static str, &'static str)],
    pub(crate) notes: &'static str,
}

/// Of the command as a whole, and the exit codes of each verb that has none of its own.
pub(crate) const LOCKWORK: After = After {
    examples: "\
lockwork exec --locks file:./locks nightly -- ./report.sh
lockwork exec --locks file:./locks --wait no nightly -- ./report.sh || echo \"not now: $?\"
lockwork exec --locks file:./locks --permits 3 builds -- make -j4
lockwork holders --locks file:./locks nightly
lockwork demo cluster                     # three nodes, one of which is killed
lockwork dev --samples                    # a node that runs workflows, in ./.lockwork
lockwork run greeting --input '{\"who\":\"Ada\"}'
lockwork instances ls --status faulted
",
    codes: &[
        ("0", "done"),
        (
            "1",
            "`doctor` found something; `run` ended faulted or cancelled; `demo` broke a promise",
        ),
        ("2", "wrong usage, or the node refuses what it was given"),
        ("66", "there is nothing of that name"),
        ("69", "the backend or the node cannot be reached, or refuses"),
        ("71", "the system got in the way"),
        ("75", "not now: try again later"),
        ("76", "the lock was lost"),
    ],
    notes: "\
`exec` has the command's own exit codes besides. What a shell completes is printed by `lockwork completions SHELL`,
pages of the manual by `lockwork man`.
",
};

/// Of `lockwork exec`.
pub(crate) const EXEC: After = After {
    examples: "\
lockwork exec --locks file:./locks nightly -- ./report.sh
lockwork exec --locks file:./locks --read  prices -- ./show.sh     # beside other readers
lockwork exec --locks file:./locks --write prices -- ./update.sh   # beside nobody
lockwork exec --locks file:./locks --permits 3 builds -- make -j4  # three at a time
LOCKWORK_URL=file:./locks lockwork exec --wait 30s nightly -- sh -c 'a | b'
",
    codes: &[
        ("CMD's", "the command ended by itself"),
        ("128+n", "signal n ended it"),
        ("126", "the command cannot be executed"),
        ("127", "there is no such command"),
        ("2", "wrong usage"),
        ("69", "the backend cannot be reached, or refuses"),
        ("71", "the guardian was killed, or could not be started"),
        ("75", "the lock was not free in time"),
        ("76", "the lock was lost while the command ran"),
    ],
    notes: "\
The command finds the lock's name in LOCKWORK_NAME and its fencing token in LOCKWORK_TOKEN.
",
};

/// Of `lockwork serve`.
pub(crate) const SERVE: After = After {
    examples: "",
    codes: &[],
    notes: "\
What is not said here is looked for in LOCKWORK_STORE, LOCKWORK_LOCKS (or LOCKWORK_URL), LOCKWORK_LISTEN,
LOCKWORK_NODE, LOCKWORK_KEYS, LOCKWORK_SECRET_FILE, LOCKWORK_DEFINITIONS, LOCKWORK_WORKFLOWS_AT and LOCKWORK_DRAIN, and
then in the file of --config.
A URL with a password belongs there: everybody can read the arguments of a process.
",
};

impl After {
    /// As the help has it.
    pub(crate) fn help(&self) -> String {
        let mut parts = Vec::new();
        if !self.examples.is_empty() {
            let lines = self.examples.lines().map(|line| format!("\n  {line}"));
            parts.push(format!("Examples:{}\n", lines.collect::<String>()));
        }
        if !self.codes.is_empty() {
            let mut part = "Exit codes:\n".to_owned();
            for (code, meaning) in self.codes {
                // Writing to a string does not fail.
                let _ = writeln!(part, "  {code:<5}  {meaning}");
            }
            parts.push(part);
        }
        if !self.notes.is_empty() {
            parts.push(self.notes.to_owned());
        }
        parts.join("\n")
    }
}
