//! A Redis Cluster of a test's own, and how nodes become one, for `cargo xtask
//! up` as well.

use crate::problem::{Outcome, Problem};

use super::client::ask;
use super::waiting::{field, until};
use super::{Redis, RedisSettings};

/// Enough to outvote one that is gone.
const NODES: usize = 3;

/// The slots that the names of keys fall into: Redis Cluster specification.
const SLOTS: usize = 16384;

/// Three primaries that share the slots.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<Redis>,
}

impl RedisCluster {
    /// Starts three nodes, joins them, and waits until each says that all is
    /// well.
    ///
    /// # Errors
    /// If Redis is not installed, or the nodes do not find together.
    pub fn start() -> Outcome<Self> {
        Self::start_with(RedisSettings::new())
    }

    /// The same with other settings for all nodes, without an ACL or TLS.
    ///
    /// # Errors
    /// As for [`RedisCluster::start`].
    pub fn start_with(settings: RedisSettings) -> Outcome<Self> {
        let node = |_| Redis::start(settings.clone().cluster());
        let nodes = (0..NODES).map(node).collect::<Outcome<Vec<_>>>()?;
        let cluster = Self { nodes };
        join(&cluster.ports())?;
        Ok(cluster)
    }

    /// The nodes, each with a third of the slots, in their order.
    pub fn nodes(&self) -> &[Redis] {
        &self.nodes
    }

    /// Where the nodes listen.
    pub fn ports(&self) -> Vec<u16> {
        self.nodes.iter().map(Redis::port).collect()
    }

    /// The addresses of all nodes, with `,` between them, after a scheme.
    pub fn url(&self) -> String {
        super::setup::cluster_url(&self.ports())
    }

    /// Waits until each node says that all is well, as after a restart of one.
    ///
    /// # Errors
    /// If that takes longer than 30 s.
    pub fn is_whole(&self) -> Outcome {
        wait_until_whole(&self.ports())
    }
}

/// Makes one cluster of the nodes on these ports of 127.0.0.1, unless they are
/// one already, and waits until each says that all is well.
///
/// # Errors
/// If they do not find together.
pub fn join(ports: &[u16]) -> Outcome {
    for port in ports {
        announce(*port)?;
    }
    for (number, port) in ports.iter().enumerate() {
        share(number, ports.len(), *port)?;
    }
    let (first, others) = ports
        .split_first()
        .ok_or_else(|| Problem::new("A cluster needs nodes; name their ports."))?;
    for port in others {
        let (inside, bus) = (config(*port, "port")?, config(*port, "cluster-port")?);
        let bus = match bus.as_str() {
            // What Redis does when it is told nothing.
            "0" => inside.parse().map(|port: u16| (port + 10_000).to_string()),
            _ => Ok(bus),
        };
        let bus = bus.map_err(|_| Problem::new(format!("`{inside}` is no port of a Redis.")))?;
        ask(*first, &["CLUSTER", "MEET", "127.0.0.1", &inside, &bus])?;
    }
    wait_until_whole(ports)
}

/// Tells a node in a container by which port it is reached from outside, for
/// it sends clients from node to node.
fn announce(port: u16) -> Outcome {
    let outside = port.to_string();
    if config(port, "port")? == outside {
        return Ok(());
    }
    let words = ["CONFIG", "SET", "cluster-announce-port", &outside];
    ask(port, &words).map(drop)
}

/// Gives a node its part of the slots, if it knows of none yet. The epochs of
/// nodes that begin differ, or they would have to quarrel about that first.
fn share(number: usize, of: usize, port: u16) -> Outcome {
    let state = ask(port, &["CLUSTER", "INFO"])?;
    if field(&state, "cluster_slots_assigned") != Some("0") {
        return Ok(());
    }
    let first = (number * SLOTS / of).to_string();
    let last = ((number + 1) * SLOTS / of - 1).to_string();
    ask(port, &["CLUSTER", "ADDSLOTSRANGE", &first, &last])?;
    let epoch = (number + 1).to_string();
    ask(port, &["CLUSTER", "SET-CONFIG-EPOCH", &epoch]).map(drop)
}

fn wait_until_whole(ports: &[u16]) -> Outcome {
    until("A whole cluster", || {
        for port in ports {
            let state = ask(*port, &["CLUSTER", "INFO"])?;
            let nodes = ask(*port, &["CLUSTER", "NODES"])?;
            if field(&state, "cluster_state") != Some("ok") || !knows(&nodes, ports) {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// Whether a node is connected to these and no others, and sends clients to
/// the ports by which we reach them.
fn knows(nodes: &str, ports: &[u16]) -> bool {
    let connected = nodes.lines().filter(|line| line.contains(" connected"));
    let lines: Vec<&str> = connected.collect();
    let has = |port: &u16| {
        let address = format!(":{port}@");
        lines.iter().any(|line| line.contains(&address))
    };
    lines.len() == nodes.lines().count() && lines.len() == ports.len() && ports.iter().all(has)
}

/// The value of a setting, which comes after its name.
fn config(port: u16, name: &str) -> Outcome<String> {
    let pair = ask(port, &["CONFIG", "GET", name])?;
    Ok(pair.lines().nth(1).unwrap_or("0").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_is_not_connected_or_announced_is_not_known() {
        let nodes = "a 127.0.0.1:20001@20004 myself,master - 0 0 1 connected 0-8191\n\
                     b 127.0.0.1:20002@20005 master - 0 9 2 connected 8192-16383\n";
        assert!(knows(nodes, &[20001, 20002]));
        assert!(!knows(nodes, &[20001, 20003]));
        assert!(!knows(nodes, &[20001]));
        assert!(!knows(
            &nodes.replace("2 connected", "2 disconnected"),
            &[20001, 20002]
        ));
    }
}
