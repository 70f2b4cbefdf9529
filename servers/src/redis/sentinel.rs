//! A sentinel of a test's own: it watches a primary, and makes a replica the
//! primary when that is gone for a second.

use crate::problem::{Outcome, Problem};

use super::waiting::{field, until};
use super::{Redis, RedisSettings};

/// What a client asks a sentinel for.
const NAME: &str = "lockwork";

/// A running sentinel that decides alone.
#[derive(Debug)]
pub struct Sentinel {
    process: Redis,
}

impl Sentinel {
    /// Starts one, and waits until it knows the primary and its replicas.
    ///
    /// # Errors
    /// If Redis is not installed, or the sentinel does not find them.
    pub fn start(primary: &Redis) -> Outcome<Self> {
        let mut settings = RedisSettings::new()
            .sentinel()
            .set(
                "sentinel",
                &format!("monitor {NAME} 127.0.0.1 {} 1", primary.port()),
            )
            .set("sentinel", &format!("down-after-milliseconds {NAME} 1000"))
            .set("sentinel", &format!("failover-timeout {NAME} 10000"));
        if let Some((user, password)) = primary.caretaker() {
            settings = settings
                .set("sentinel", &format!("auth-user {NAME} {user}"))
                .set("sentinel", &format!("auth-pass {NAME} {password}"));
        }
        let process = Redis::start(settings)?;
        let sentinel = Self { process };
        let replicas = primary.ask(&["INFO", "replication"])?;
        let replicas = field(&replicas, "connected_slaves")
            .unwrap_or("0")
            .to_owned();
        sentinel.knows(&replicas)?;
        Ok(sentinel)
    }

    /// The name of the primary, by which clients ask for it.
    pub fn name(&self) -> &'static str {
        NAME
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.process.port()
    }

    /// The port of whom it holds to be the primary.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn primary(&self) -> Outcome<u16> {
        let words = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME];
        let address = self.process.ask(&words)?;
        let port = address.lines().nth(1).and_then(|port| port.parse().ok());
        port.ok_or_else(|| Problem::new("The sentinel knows no primary; see its log."))
    }

    /// Waits until it holds this one to be the primary, and that one agrees.
    ///
    /// # Errors
    /// If that takes longer than 30 s.
    pub fn has_promoted(&self, replica: &Redis) -> Outcome {
        until("A new primary", || {
            let role = replica.ask(&["ROLE"])?;
            Ok(self.primary()? == replica.port() && role.starts_with("master"))
        })
    }

    fn knows(&self, replicas: &str) -> Outcome {
        until("A sentinel that knows all replicas", || {
            let text = self.process.ask(&["INFO", "sentinel"])?;
            let line = field(&text, "master0").unwrap_or_default();
            let mut pairs = line.split(',');
            let told = format!("slaves={replicas}");
            Ok(line.contains("status=ok") && pairs.any(|pair| pair == told))
        })
    }
}
