#![doc = include_str!("../README.md")]
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | putting a runtime on a network | [`Serve`], [`Server`] |
//! | who may ask what | [`Keys`], [`Scope`] |
//! | how much may be asked | [`Limits`] |
//! | links for people without keys | [`Secret`] |

mod admit;
mod api;
mod bodies;
mod counts;
mod endpoints;
mod keys;
mod limits;
mod links;
mod openapi;
mod patience;
mod problem;
mod recent;
mod routes;
mod seats;
mod serve;
mod server;
mod state;
mod take;
mod trace;

pub use keys::{Keys, Scope};
pub use limits::Limits;
pub use links::Secret;
pub use server::{Listening, Serve, Server};
