//! What can be said about the pages of the manual.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write a page for each verb into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}
