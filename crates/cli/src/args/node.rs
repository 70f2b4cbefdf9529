//! What can be said about a node that is to run here.

use clap::{Args, Subcommand};
use lockwork::server::Scope;
use std::path::PathBuf;

/// Where a node is, if nothing is said.
pub(crate) const ADDRESS: &str = "127.0.0.1:8600";

#[derive(Debug, Args)]
pub(crate) struct Dev {
    /// Where to listen; port 0 for any that is free
    #[arg(long, value_name = "ADDR", default_value = ADDRESS)]
    pub(crate) listen: String,
    /// Where everything is kept
    #[arg(long, value_name = "DIR", default_value = "./.lockwork")]
    pub(crate) dir: PathBuf,
    /// Publish some workflows to try: greeting, order-approval, countdown
    #[arg(long)]
    pub(crate) samples: bool,
    /// Publish every *.json of this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) definitions: Option<PathBuf>,
}

// Each of these may also come from the environment or from a file.
#[derive(Debug, Default, Args)]
pub(crate) struct Serve {
    /// Where workflows are kept: postgres://USER@HOST/DATABASE or sqlite:./lockwork.db
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Where the locks are. Without, in the same database, or beside the file
    #[arg(long, value_name = "URL")]
    pub(crate) locks: Option<String>,
    /// Where to listen. Without, 127.0.0.1:8600
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// What this node is called among those that share its store. Without, drawn
    #[arg(long, value_name = "NAME")]
    pub(crate) node: Option<String>,
    /// The keys it knows, a line for each: `lockwork keys new` writes one
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<String>,
    /// What links are signed with: a file of 32 bytes or more, the same on each node
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<String>,
    /// Publish every *.json of this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) definitions: Option<String>,
    /// Where the routes are that workflows name. Without, /workflows
    #[arg(long, value_name = "PATH")]
    pub(crate) workflows_at: Option<String>,
    /// How long its work may take to come to the end of a step once it is told to end. Without, 30s
    #[arg(long, value_name = "TIME")]
    pub(crate) drain: Option<String>,
    /// Lines such as store = "postgres://db/app", for what is said nowhere else
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// All nodes on this store run on this machine: locks that reach no further will do
    #[arg(long)]
    pub(crate) allow_local_locks: bool,
    /// End at once when nobody has the other end of standard input any more
    #[arg(long, hide = true)]
    pub(crate) until_stdin_ends: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Draw a key: printed once, with the line for the file that --keys names
    New {
        /// Who will have it
        #[arg(value_parser = name)]
        name: String,
        /// What it is good for: some of read, run, call, define, admin
        #[arg(long, value_delimiter = ',', required = true, value_parser = scope)]
        scopes: Vec<Scope>,
    },
}

/// A name is one word of its line in the file.
fn name(text: &str) -> Result<String, String> {
    let is_word = !text.is_empty() && !text.contains(char::is_whitespace) && !text.starts_with('#');
    match is_word {
        true => Ok(text.to_owned()),
        false => Err("a name is one word".to_owned()),
    }
}

fn scope(text: &str) -> Result<Scope, String> {
    text.parse()
        .map_err(|error: lockwork::workflow::Error| error.to_string())
}
