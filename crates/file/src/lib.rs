#![doc = include_str!("../README.md")]

mod attempt;
mod backend;
mod breaking;
mod collect;
mod counter;
mod disk;
mod doctor;
mod driver;
mod errors;
mod file_systems;
mod floor;
mod hold;
mod holders;
mod holds;
mod kernel;
mod locked;
mod machine;
mod names;
mod options;
mod place;
mod record;
mod stamp;
mod sys;
mod watch;

pub use backend::{Files, INFO};
pub use driver::DRIVER;
pub use hold::FileHold;
pub use options::Options;
