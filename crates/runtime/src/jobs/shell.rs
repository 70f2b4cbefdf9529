//! Runs programs of the machine, for `Shell`, on nodes that allow it.

use super::JobCall;
use lockwork_core::workflow::{Failure, Value};
use lockwork_flow::Length;
use serde::Deserialize;
use serde_json::json;
use std::{process::Stdio, time::Duration};
use tokio::{io::AsyncWriteExt, process::Command};

/// How long a program may run, if nothing is said.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Request {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    input: Option<String>,
    #[serde(default)]
    timeout: Option<Length>,
}

/// Runs it, and gives its code and what it wrote. A program that fails has a code; it is no failure of the activity.
pub(super) async fn run(call: JobCall) -> Result<Value, Failure> {
    let request: Request = serde_json::from_value(call.with)
        .map_err(|error| Failure::new("shell.request", error.to_string()))?;
    let timeout = request.timeout.map_or(PATIENCE, Length::as_duration);
    let ran = tokio::time::timeout(timeout, output(request)).await;
    ran.map_err(|_| Failure::new("shell.timeout", "the program did not end in time").may_pass())?
}

async fn output(request: Request) -> Result<Value, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(
            "shell.failed",
            format!("`{}` cannot be run: {error}", request.command),
        )
    };
    let mut program = Command::new(&request.command)
        .args(&request.args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Whoever is not waited for any more is ended.
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    if let (Some(mut stdin), Some(input)) = (program.stdin.take(), &request.input) {
        // A program need not read what it is given.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    let ended = program.wait_with_output().await.map_err(failed)?;
    Ok(json!({
        "code": ended.status.code(),
        "output": String::from_utf8_lossy(&ended.stdout),
        "errors": String::from_utf8_lossy(&ended.stderr),
    }))
}
