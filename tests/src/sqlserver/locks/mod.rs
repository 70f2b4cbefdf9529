//! Application locks: the table of who holds and who waits for what, as the pages of
//! `sp_getapplock` and of lock compatibility describe it.

mod deadlock;
mod entry;
mod mode;
mod table;

pub(crate) use mode::Mode;
pub(crate) use table::{Answer, Asked, LockRow, Locks, Ticket};

/// What is locked. Its name is compared as it is, unit by unit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) database: i32,
    pub(crate) principal: i32,
    pub(crate) resource: Vec<u16>,
}

/// Who holds or waits: a session for itself, or for its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) session: i16,
    /// Of the transaction, if it is one.
    pub(crate) transaction: Option<u64>,
}
