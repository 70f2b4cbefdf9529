//! What can be said about a demo.

use clap::{Args, Subcommand, value_parser};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Demo {
    /// Three nodes share thirty orders, one node is killed, and each order is still done once
    Cluster(DemoCluster),
}

#[derive(Debug, Args)]
pub(crate) struct DemoCluster {
    /// How many orders
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u32).range(1..=200))]
    pub(crate) orders: u32,
    /// On how many nodes
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(2..=9))]
    pub(crate) nodes: u32,
    /// Keep everything there, to look at later: `lockwork dev --dir DIR`. Without, it is gone at the end
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    pub(crate) dir: Option<PathBuf>,
    /// On this store, which should be nobody else's: the nodes do whatever is due in it. Without, a SQLite file
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// With these locks. Without, in the same database, or beside the file
    #[arg(long, value_name = "URL", requires = "store")]
    pub(crate) locks: Option<String>,
    /// Print nothing but what came of it, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
