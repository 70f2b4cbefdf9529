//! A node of a cluster taken for a server, and a server taken for a node.

use crate::{CANARY, asking, canary, refusal, shared};
use lockwork::ErrorKind::{Invalid, Unavailable};
use lockwork_servers::{Redis, RedisCluster};

/// One who may do everything on this node but ask what it is.
fn ignorant(node: &Redis) -> String {
    let password = format!(">{CANARY}");
    let rights = [
        "ACL", "SETUSER", "ignorant", "on", &password, "~*", "&*", "+@all", "-info",
    ];
    node.ask(&rights).unwrap();
    format!("redis://ignorant:{CANARY}@127.0.0.1:{}", node.port())
}

#[tokio::test]
async fn a_node_of_a_cluster_is_named_as_such() {
    let cluster = RedisCluster::start().unwrap();
    let [node, ..] = cluster.nodes() else {
        panic!("no node");
    };
    // Where nobody needs a password, any is right.
    let url = format!("redis://:{CANARY}@127.0.0.1:{}", node.port());
    refusal::expect(&url, Invalid, "write redis+cluster://").await;

    // Who may not ask what it is hears it from the locks that are elsewhere.
    let locks = lockwork::connect(&ignorant(node)).await.unwrap();
    let mut elsewhere = 0;
    for number in 0..12 {
        match locks.mutex(format!("{number}")).try_lock().await {
            Ok(guard) => drop(guard.unwrap()),
            Err(error) => {
                canary::is_not_in(&error);
                refusal::is(&error, Invalid, "write redis+cluster://");
                elsewhere += 1;
            }
        }
    }
    assert!(elsewhere > 0, "all slots are here");
    let all = locks.all(["a", "b", "c", "d"]);
    let error = asking::error_of(all.try_lock()).await;
    refusal::is(&error, Invalid, "write redis+cluster://");

    // Nobody has said that all is well where slots are nobody's.
    let cluster_url = cluster.url().replacen("://", &format!("://:{CANARY}@"), 1);
    let locks = lockwork::connect(&cluster_url).await.unwrap();
    let guard = locks.mutex("a").lock().await.unwrap();
    guard.release().await.unwrap();
    let slots = ["CLUSTER", "DELSLOTSRANGE", "0", "5460"];
    node.ask(&slots).unwrap();
    let mut down = 0;
    for number in 0..12 {
        let mutex = locks.mutex(format!("{number}"));
        if let Err(error) = mutex.try_lock_for(asking::WAIT).await {
            println!("{error}");
            canary::is_not_in(&error);
            assert_eq!(error.kind(), Unavailable, "{error:?}");
            down += 1;
            break;
        }
    }
    assert!(down > 0, "nothing is missing");
}

#[tokio::test]
async fn a_server_that_is_no_node_is_named_as_such() {
    let port = shared().port();
    let url = format!("redis+cluster://admin:{CANARY}@127.0.0.1:{port}");
    refusal::expect(&url, Invalid, "write redis://").await;
}
