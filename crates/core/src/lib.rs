//! The part of lockwork that every other crate stands on.
//!
//! Most programs depend on the `lockwork` facade instead, which re-exports all of this and adds
//! `connect(url)`. Depend on this crate directly to write a backend of your own: start at
//! [`lock::backend`].
//!
//! | module | for |
//! |---|---|
//! | [`lock`] | taking locks, and writing backends that grant them (feature `lock`, on by default) |
//! | [`workflow`] | the words of workflows: requests, answers, stimuli, bookmarks (feature `workflow`) |

#[cfg(any(feature = "lock", feature = "workflow"))]
mod fault;
#[cfg(feature = "lock")]
pub mod lock;
#[cfg(feature = "workflow")]
pub mod workflow;
