//! Runs programs of the machine, for `Shell`, on nodes that allow it.

use super::JobCall;
use lockwork_core::workflow::{Failure, Value};
use lockwork_flow::Length;
use serde::Deserialize;
use serde_json::json;
use std::{process::Stdio, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{ChildStdin, Command},
};

/// The largest output, in bytes: it goes into a variable.
const MOST: u64 = 512 * 1024;

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
    let (stdin, stdout, stderr) = (
        program.stdin.take(),
        program.stdout.take(),
        program.stderr.take(),
    );
    // All at once: a program may write before it has read everything.
    let (_, output, errors, ended) = tokio::join!(
        write(stdin, request.input.as_deref()),
        read(stdout),
        read(stderr),
        program.wait(),
    );
    Ok(json!({
        "code": ended.map_err(failed)?.code(),
        "output": output?,
        "errors": errors?,
    }))
}

async fn write(stdin: Option<ChildStdin>, input: Option<&str>) {
    if let (Some(mut stdin), Some(input)) = (stdin, input) {
        // A program need not read what it is given.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
}

async fn read(from: Option<impl AsyncRead + Unpin>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        let failed = |error: std::io::Error| Failure::new("shell.failed", error.to_string());
        let mut limited = from.take(MOST + 1);
        limited.read_to_end(&mut bytes).await.map_err(failed)?;
    }
    match bytes.len() as u64 > MOST {
        false => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        true => {
            let message =
                format!("the program wrote more than {MOST} bytes: have it kept elsewhere");
            Err(Failure::new("shell.large", message))
        }
    }
}
