//! What can be said about a measurement.

use super::Place;
use clap::Args;

/// Longer says nothing new, and a server has other things to do.
const LONGEST: u64 = 60;

const MOST: u32 = 1000;

#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) place: Place,
    /// For how many seconds each of the three is measured
    #[arg(long, value_name = "N", default_value = "3", value_parser = seconds)]
    pub(crate) seconds: u64,
    /// How many tasks take locks at once, each one of its own
    #[arg(long, value_name = "N", default_value = "16", value_parser = tasks)]
    pub(crate) tasks: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn seconds(text: &str) -> Result<u64, String> {
    let number = text.strip_suffix('s').unwrap_or(text).parse().ok();
    let number = number.filter(|number| (1..=LONGEST).contains(number));
    number.ok_or_else(|| format!("write a number of seconds from 1 to {LONGEST}"))
}

fn tasks(text: &str) -> Result<u32, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| format!("write how many, from 1 to {MOST}"))
}
