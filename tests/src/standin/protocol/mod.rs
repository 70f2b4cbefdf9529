//! What goes over the socket: lines of words, of which none holds a space or a line's end.
//!
//! A request begins with a number, its reply with the same one. Many may be under way at once and
//! are answered in order. A line that begins with `freed` is a hint, for those who
//! [subscribed](Request::Subscribe).
//!
//! ```text
//! 1 try mutex:6e616d65 00112233445566778899aabbccddeeff exclusive 1000 wait
//! 1 granted 7
//! 2 release mutex:6e616d65 00112233445566778899aabbccddeeff 1000
//! 2 ok
//! freed mutex:6e616d65
//! ```

mod reply;
mod request;
mod words;

pub use reply::{FromServer, Reply};
pub use request::{Request, Step, Verb};
