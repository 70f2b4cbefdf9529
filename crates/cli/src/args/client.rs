//! What can be asked of a node.

use clap::{Args, Subcommand};
use serde_json::{Map, Value};
use std::path::PathBuf;

// Which node.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct At {
    /// The node to ask. Without, LOCKWORK_NODE_URL, or else http://127.0.0.1:8600. A key goes into LOCKWORK_KEY
    #[arg(long, value_name = "URL")]
    pub(crate) node: Option<String>,
}

// Something that is shown.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) at: At,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Definitions {
    /// Show all workflows
    Ls(Show),
    /// Add a version of a workflow and publish it; the same as the last one is no new one
    Put {
        #[command(flatten)]
        show: Show,
        /// Do not publish it yet
        #[arg(long)]
        draft: bool,
        /// A definition as JSON
        file: PathBuf,
    },
    /// Make a version the one that counts
    Publish {
        #[command(flatten)]
        show: Show,
        /// Which one; without, the last
        #[arg(long, value_name = "N")]
        version: Option<u32>,
        /// The workflow
        id: String,
    },
    /// Print a definition
    Show {
        #[command(flatten)]
        show: Show,
        /// published, latest, draft or a number
        #[arg(long, value_name = "V")]
        version: Option<String>,
        /// The workflow
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Start {
    #[command(flatten)]
    pub(crate) show: Show,
    /// What it is given: a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = object)]
    pub(crate) input: Value,
    /// Of several with one key, one is created
    #[arg(long, value_name = "K")]
    pub(crate) key: Option<String>,
    /// By what signals can find it together with others: an order number, say
    #[arg(long, value_name = "C")]
    pub(crate) correlation: Option<String>,
    /// The workflow
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) at: At,
    /// What it is given: a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}", value_parser = object)]
    pub(crate) input: Value,
    /// By what signals can find it together with others
    #[arg(long, value_name = "C")]
    pub(crate) correlation: Option<String>,
    /// A file with a definition, which is published first, or the id of a workflow
    #[arg(value_name = "FILE|ID")]
    pub(crate) what: String,
}

#[derive(Debug, Args)]
pub(crate) struct Signal {
    #[command(flatten)]
    pub(crate) show: Show,
    /// What it brings, as JSON
    #[arg(long, value_name = "JSON", value_parser = value)]
    pub(crate) payload: Option<Value>,
    /// For this instance alone
    #[arg(long, value_name = "ID")]
    pub(crate) instance: Option<String>,
    /// For instances with this correlation alone
    #[arg(long, value_name = "C")]
    pub(crate) correlation: Option<String>,
    /// The event
    pub(crate) name: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Instances {
    /// List instances
    Ls(InstancesList),
    /// Show an instance: how far it is, what it waits for, what failed, what happened
    Show {
        #[command(flatten)]
        show: Show,
        /// The instance
        id: String,
    },
    /// End instances, at their next step if they run
    Cancel(Ids),
    /// Begin again what failed in instances
    Retry(Ids),
    /// Remove instances and all that belongs to them, running or not
    Rm(Ids),
}

#[derive(Debug, Args)]
pub(crate) struct Ids {
    #[command(flatten)]
    pub(crate) at: At,
    /// The instances
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InstancesList {
    #[command(flatten)]
    pub(crate) show: Show,
    /// Of this workflow
    #[arg(long, value_name = "ID")]
    pub(crate) definition: Option<String>,
    /// As far as this
    #[arg(long, value_name = "STATUS", value_parser = [
        "pending", "executing", "suspended", "interrupted", "finished", "cancelled", "faulted",
    ])]
    pub(crate) status: Option<String>,
    /// With this correlation
    #[arg(long, value_name = "C")]
    pub(crate) correlation: Option<String>,
    /// So many at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Queue {
    #[command(flatten)]
    pub(crate) show: Show,
    #[command(subcommand)]
    pub(crate) verb: Option<QueueVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QueueVerb {
    /// Show what was not done
    Dead(Show),
    /// Try once more what was not done
    Replay {
        #[command(flatten)]
        show: Show,
        /// As `queue dead` names it
        id: String,
    },
}

fn value(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))
}

fn object(text: &str) -> Result<Value, String> {
    let object: Result<Map<String, Value>, _> = serde_json::from_str(text);
    let how = "write a JSON object, such as '{\"who\":\"Ada\"}'";
    object
        .map(Value::Object)
        .map_err(|error| format!("{how}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_an_object() {
        assert!(object("{\"who\":\"Ada\"}").is_ok());
        for text in ["3", "[]", "who=Ada", ""] {
            assert!(object(text).unwrap_err().contains("JSON object"), "{text}");
        }
        assert!(value("3").is_ok());
    }
}
