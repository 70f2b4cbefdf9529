//! File locks among real processes: killed, hindered, and with their files removed under them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, unreachable_pub)]

mod breaking;
mod contender;
mod directory;
mod excluding;
mod inheriting;
mod killing;
mod removing;
mod replacing;
mod stays;
mod strangers;
