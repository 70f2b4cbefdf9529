//! What goes over the socket: packets, the messages made of them, and what is in each message, as
//! MS-TDS describes it.

pub(crate) mod column;
mod cursor;
pub(crate) mod login;
pub(crate) mod packet;
pub(crate) mod prelogin;
pub(crate) mod request;
pub(crate) mod tokens;
mod typed;

pub(crate) use cursor::{Cursor, Malformed};
