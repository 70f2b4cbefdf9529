//! The programs that cargo makes of all tests, for those who run them themselves.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::outcome::{Failure, Outcome};
use crate::run;

/// Tests that cargo has made one program of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Its package and its target.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Where its package is, which is where cargo would run it.
    pub(crate) home: PathBuf,
}

/// Builds what `cargo` would test, and says what that is.
pub(crate) fn build(cargo: &mut Command) -> Outcome<Vec<Program>> {
    cargo.args(["--no-run", "--message-format=json-render-diagnostics"]);
    let printed = run::output(cargo.stderr(Stdio::inherit()))?;
    let lines = printed.split(|byte| *byte == b'\n');
    let messages = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let programs: Vec<_> = messages.filter_map(|message| program(&message)).collect();
    match programs.is_empty() {
        false => Ok(programs),
        true => Err(Failure::failed(
            "Cargo has told of no test; run `cargo test --no-run` by hand and look.",
        )),
    }
}

/// What cargo says of a test, if it is one that was built.
fn program(message: &Value) -> Option<Program> {
    let is_test = message["profile"]["test"].as_bool()?;
    let path = message["executable"].as_str().filter(|_| is_test)?;
    let home = Path::new(message["manifest_path"].as_str()?).parent()?;
    let package = home.file_name()?.to_string_lossy();
    let target = message["target"]["name"].as_str()?;
    Some(Program {
        name: format!("{package}/{target}"),
        path: path.into(),
        home: home.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(test: bool, executable: &str) -> Value {
        serde_json::json!({
            "reason": "compiler-artifact", "manifest_path": "/r/crates/file/Cargo.toml",
            "profile": { "test": test }, "executable": executable, "target": { "name": "waiting" },
        })
    }

    #[test]
    fn a_test_is_called_by_its_package_and_its_target() {
        let found = program(&told(true, "/r/target/waiting-1"));
        let expected = Program {
            name: "file/waiting".to_owned(),
            path: "/r/target/waiting-1".into(),
            home: "/r/crates/file".into(),
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn an_example_is_no_test() {
        assert_eq!(program(&told(false, "/r/target/hello")), None);
    }
}
