//! The sessions of a server, as others see them.

use std::sync::Arc;
use tokio::sync::Notify;

#[derive(Debug)]
pub(crate) struct SessionInfo {
    pub(crate) login: String,
    pub(crate) host: String,
    pub(crate) program: String,
    pub(crate) library: String,
    pub(crate) client_pid: u32,
    pub(crate) database: i32,
    pub(crate) connected: i64,
    pub(crate) request_start: i64,
    pub(crate) request_end: Option<i64>,
    pub(crate) running: bool,
    /// What it waits for, in the words of `sys.dm_exec_requests`.
    pub(crate) wait: Option<&'static str>,
    pub(crate) transactions: i32,
    pub(crate) encrypted: bool,
    pub(crate) packet_size: usize,
    pub(crate) address: String,
    pub(crate) port: u16,
    pub(crate) kill: Arc<Notify>,
}
