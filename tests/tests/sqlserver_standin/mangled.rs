//! Messages that a client would not send, or does not know how to: changed on their way.

use crate::guest::{Guest, SOON, config, connect, server};
use lockwork_conformance::{sqlserver::StandIn, within};
use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// What is done to a packet: its header and its body.
type Change = fn(&mut Vec<u8>);

/// A way to the server on which packets of a kind are changed.
async fn changing(server: &StandIn, kind: u8, change: Change) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let (here, there) = (listener.local_addr().unwrap(), server.address());
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(there).await.unwrap();
            tokio::spawn(pump(client, server, kind, change));
        }
    });
    here
}

async fn pump(client: TcpStream, server: TcpStream, kind: u8, change: Change) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    tokio::spawn(async move {
        let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
    });
    let mut header = [0; 8];
    while from_client.read_exact(&mut header).await.is_ok() {
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let mut packet = header.to_vec();
        packet.resize(length, 0);
        if from_client.read_exact(&mut packet[8..]).await.is_err() {
            return;
        }
        if header[0] == kind {
            change(&mut packet);
        }
        if to_server.write_all(&packet).await.is_err() {
            return;
        }
    }
}

async fn guest(server: &StandIn, kind: u8, change: Change) -> Guest {
    let address = changing(server, kind, change).await;
    let client = connect(config(address, server.password())).await;
    Guest {
        client: client.unwrap(),
    }
}

#[tokio::test]
async fn a_request_can_reset_its_session_first() {
    let server = server();
    let mut plain = Guest::of(&server).await;
    plain.run("SET LOCK_TIMEOUT 5").await;
    assert_eq!(plain.int("SELECT @@LOCK_TIMEOUT").await, 5);
    let mut guest = guest(&server, 1, |packet| packet[1] |= 8).await;
    guest.run("SET LOCK_TIMEOUT 5; BEGIN TRAN").await;
    assert_eq!(guest.int("SELECT @@LOCK_TIMEOUT + @@TRANCOUNT").await, -1);
    assert_eq!(guest.get("a", "Exclusive", 0).await, 0);
    assert_eq!(guest.mode("a").await, "NoLock");
}

#[tokio::test]
async fn a_reset_can_keep_the_transaction() {
    let server = server();
    let mut guest = guest(&server, 1, |packet| packet[1] |= 16).await;
    guest.run("BEGIN TRAN").await;
    assert_eq!(guest.int("SELECT @@TRANCOUNT").await, 1);
}

#[tokio::test]
async fn a_request_that_makes_no_sense_ends_its_connection_and_frees_its_locks() {
    let server = server();
    let mut watcher = Guest::of(&server).await;
    let changes: [Change; 5] = [
        // Longer headers than the message, and none.
        |packet| packet[8..12].copy_from_slice(&0xffff_u32.to_le_bytes()),
        |packet| packet[8..12].copy_from_slice(&0_u32.to_le_bytes()),
        // A procedure with a name that does not end.
        |packet| packet[30..32].copy_from_slice(&0x7fff_u16.to_le_bytes()),
        // A type that there is not.
        |packet| {
            let end = packet.len();
            packet[38..end].fill(0x01);
        },
        // A kind of message that there is not.
        |packet| packet[0] = 9,
    ];
    for change in changes {
        let mut guest = guest(&server, 3, change).await;
        assert_eq!(guest.get("a", "Exclusive", 5000).await.max(0), 0);
        let asking = guest.client.query("SELECT @P1", &[&"a text"]);
        assert!(within(SOON, "an end", asking).await.is_err());
        assert!(watcher.get("a", "Exclusive", 5000).await >= 0);
        watcher.release("a").await;
    }
    assert_eq!(
        watcher
            .int("SELECT COUNT(*) FROM sys.dm_exec_sessions")
            .await,
        1
    );
}

#[tokio::test]
async fn a_message_that_its_client_takes_back_is_not_heard() {
    let server = server();
    let mut guest = guest(&server, 1, |packet| packet[1] |= 2).await;
    assert!(guest.rows("SHUTDOWN").await.is_empty());
    assert_eq!(Guest::of(&server).await.int("SELECT 1").await, 1);
}

#[tokio::test]
async fn a_request_waits_for_the_one_before_it() {
    let server = server();
    let mut watcher = Guest::of(&server).await;
    watcher.run("CREATE SEQUENCE s START WITH 1").await;
    let mut guest = guest(&server, 1, |packet| packet.extend(packet.clone())).await;
    let sql = "WAITFOR DELAY '00:00:00.050'; SELECT NEXT VALUE FOR s";
    assert_eq!(guest.big(sql).await, 1);
    within(SOON, "the second", async {
        while watcher.big("SELECT current_value FROM sys.sequences").await != 2 {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    })
    .await;
}
