//! `api`: the description of the HTTP API is compared with a node. A program from elsewhere, schemathesis, asks whatever
//! the description allows and much that it does not, and looks at what comes back.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;

/// Another one may find something else: then that is a change of its own.
const VERSION: &str = "schemathesis==4.32.5";

/// What would end the node, stop it, or never end.
const NOT_ASKED: [&str; 3] = ["drainNode", "pauseNode", "listen"];

/// What makes sense cannot all be described: a workflow whose activities are unknown is refused although it has the form of
/// one.
const NOT_CHECKED: &str = "positive_data_acceptance";

/// How often each operation is asked, if nobody says how often.
const EXAMPLES: &str = "30";

/// Asks a node, and fails if it is not as it describes itself.
pub(crate) fn api(repo: &Repo, args: &[String]) -> Outcome {
    let examples = read(args)?;
    run::run(
        repo.cargo()
            .args(["build", "--profile", "ci", "--locked", "-p", "lockwork-cli"]),
    )?;
    let tool = install(&repo.target().join("tools/schemathesis"))?;
    let place = repo.target().join("tmp/api");
    // What an earlier run has left.
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).map_err(|error| unusable(&place, &error))?;
    let node = Node::start(repo, &place)?;
    let mut ask = Command::new(tool);
    ask.arg("run")
        .arg(format!("{}/openapi.json", node.url))
        .args(["-H", &format!("Authorization: Bearer {}", node.key)])
        .args(["--max-examples", examples, "--suppress-health-check", "all"])
        .args(["--continue-on-failure", "--request-timeout", "40"])
        .args(["--exclude-checks", NOT_CHECKED])
        .current_dir(&place);
    for operation in NOT_ASKED {
        ask.args(["--exclude-operation-id", operation]);
    }
    run::run(&mut ask)
}

fn read(args: &[String]) -> Outcome<&str> {
    match args {
        [] => Ok(EXAMPLES),
        [word, number] if word == "--examples" && number.parse::<u32>().is_ok() => Ok(number),
        _ => Err(Failure::usage(
            "Say how often each operation is asked: `cargo xtask api --examples 30`.",
        )),
    }
}

/// The program, in an environment of its own.
fn install(place: &Path) -> Outcome<PathBuf> {
    let program = place.join("bin/st");
    if !program.exists() {
        run::run(Command::new("python3").args(["-m", "venv"]).arg(place))?;
        let pip = place.join("bin/pip");
        run::run(Command::new(pip).args(["install", "--quiet", VERSION]))?;
    }
    Ok(program)
}

/// A node with a key that is good for everything. Ends when dropped.
struct Node {
    child: Child,
    url: String,
    key: String,
}

impl Node {
    fn start(repo: &Repo, place: &Path) -> Outcome<Self> {
        let program = repo.target().join("ci/lockwork");
        let drawn = run::output(repo.program(&program).args([
            "keys",
            "new",
            "all",
            "--scopes",
            "read,run,call,define,admin",
        ]))?;
        let drawn = String::from_utf8_lossy(&drawn).into_owned();
        let keys = place.join("keys");
        fs::write(&keys, word(&drawn, "line")?).map_err(|error| unusable(&keys, &error))?;
        let store = format!("sqlite:{}", place.join("lockwork.db").display());
        let mut child = repo
            .program(&program)
            .args(["serve", "--store", &store, "--listen", "127.0.0.1:0"])
            .arg("--keys")
            .arg(&keys)
            .arg("--definitions")
            .arg(repo.root().join("crates/cli/samples"))
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| unusable(&program, &error))?;
        let said = child.stdout.take().map(BufReader::new);
        let mut lines = said
            .into_iter()
            .flat_map(|said| said.lines().map_while(Result::ok));
        let url =
            lines.find_map(|line| Some(word(&line, "API").ok()?.split(' ').next()?.to_owned()));
        let key = word(&drawn, "key")?.to_owned();
        // From here on it ends with this.
        let mut node = Self {
            child,
            url: String::new(),
            key,
        };
        node.url = url.ok_or_else(|| Failure::failed("The node said nothing of its address."))?;
        Ok(node)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What follows a word at the beginning of a line.
fn word<'t>(text: &'t str, name: &str) -> Outcome<&'t str> {
    let found = text.lines().find_map(|line| line.strip_prefix(name));
    let found = found.map(str::trim);
    found.ok_or_else(|| Failure::failed(format!("`lockwork` said nothing of its {name}.")))
}

fn unusable(place: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("{} cannot be used ({error}).", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_word_is_found() {
        let said = "key   lw_1\nline  all read 00\nAPI        http://127.0.0.1:1   (keys)";
        assert_eq!(word(said, "key").unwrap(), "lw_1");
        assert_eq!(word(said, "line").unwrap(), "all read 00");
        assert!(word(said, "store").is_err());
    }

    #[test]
    fn how_often_is_a_number() {
        let words =
            |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
        assert_eq!(read(&words("--examples 7")).unwrap(), "7");
        assert!(read(&words("--examples many")).is_err());
    }
}
