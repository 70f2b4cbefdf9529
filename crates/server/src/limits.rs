//! How much a node lets others ask of it.

use std::time::Duration;

/// How much a node lets others ask of it at a time. What is more is refused, or waits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The longest body, in bytes. Default: 1 MiB.
    pub body: usize,
    /// How long a request may take. What it has begun goes on. Default: 60 s.
    pub time: Duration,
    /// How many requests are done at once; more are told to come again. Default: 256.
    pub requests: usize,
    /// How many connections are open at once. If there are more, those that ask for nothing are closed, the oldest first.
    /// Default: 1024.
    pub connections: usize,
    /// How long a connection may take until it has asked for something; so long again for the body of that. Default: 10 s.
    pub headers: Duration,
    /// How long a connection may take nothing of what it is sent. Default: 30 s.
    pub reading: Duration,
    /// How many listen to what happens at once. Default: 64.
    pub listeners: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            time: Duration::from_secs(60),
            requests: 256,
            connections: 1024,
            headers: Duration::from_secs(10),
            reading: Duration::from_secs(30),
            listeners: 64,
        }
    }
}
