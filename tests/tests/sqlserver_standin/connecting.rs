//! Who comes in, and who does not.

use crate::guest::{Guest, SOON, config, connect, server};
use lockwork_conformance::within;
use tiberius::error::Error;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

fn code<T>(result: tiberius::Result<T>) -> (u32, u8, u8) {
    match result {
        Err(Error::Server(error)) => (error.code(), error.state(), error.class()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("let in"),
    }
}

#[tokio::test]
async fn a_wrong_password_is_refused() {
    let server = server();
    let refused = Guest::try_named(&server, "sa", "wrong", "").await;
    assert_eq!(code(refused), (18456, 1, 14));
    let refused = Guest::try_named(&server, "nobody", "wrong", "").await;
    assert_eq!(code(refused), (18456, 1, 14));
}

#[tokio::test]
async fn a_database_that_is_not_there_is_refused() {
    let server = server();
    let refused = Guest::try_named(&server, "sa", server.password(), "nowhere").await;
    assert_eq!(code(refused).0, 4060);
}

#[tokio::test]
async fn a_database_is_only_for_its_users() {
    let server = server();
    let mut sa = Guest::of(&server).await;
    sa.run("CREATE DATABASE shop; CREATE LOGIN ann WITH PASSWORD = N'ann''s'")
        .await;
    assert_eq!(
        code(Guest::try_named(&server, "ann", "ann's", "shop").await).0,
        4060
    );
    sa.run("USE shop; CREATE USER ann FOR LOGIN ann").await;
    let mut ann = Guest::named(&server, "ann", "ann's", "shop").await;
    assert_eq!(
        ann.text("SELECT DB_NAME() + '/' + USER_NAME()").await,
        "shop/ann"
    );
    sa.run("ALTER LOGIN ann DISABLE").await;
    assert_eq!(
        code(Guest::try_named(&server, "ann", "ann's", "shop").await).0,
        18470
    );
    sa.run("ALTER LOGIN ann ENABLE; ALTER LOGIN ann WITH PASSWORD = 'new'")
        .await;
    assert_eq!(
        code(Guest::try_named(&server, "ann", "ann's", "shop").await).0,
        18456
    );
    Guest::named(&server, "ann", "new", "shop").await;
}

#[tokio::test]
async fn a_client_is_who_it_says_it_is() {
    let server = server();
    let mut config = config(server.address(), server.password());
    config.application_name("the program");
    config.client_name("the host");
    config.packet_size(512);
    let client = connect(config).await.unwrap();
    let mut guest = Guest { client };
    assert_eq!(
        guest.text("SELECT APP_NAME() + ', ' + HOST_NAME()").await,
        "the program, the host"
    );
    let sql = "SELECT net_packet_size FROM sys.dm_exec_connections WHERE session_id = @@SPID";
    assert_eq!(guest.int(sql).await, 512);
    // More than one packet each way.
    let long = "x".repeat(3000);
    assert_eq!(guest.text(&format!("SELECT N'{long}'")).await, long);
}

#[tokio::test]
async fn the_url_has_all_of_it() {
    let server = server();
    let address = server.address();
    let expected = format!("sqlserver://sa:Str0ng%20%26%20p%40ss%2Fword@{address}/master");
    assert_eq!(server.url(), expected);
}

#[tokio::test]
async fn whoever_speaks_something_else_is_cut_off() {
    let server = server();
    let noise: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[18, 1, 0, 9, 0, 0, 0, 0, 0xff],
        &[18, 1, 0, 3, 0, 0, 0, 0],
        &[18, 1, 0, 14, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff],
        &[16, 1, 0, 8, 0, 0, 0, 0],
    ];
    for bytes in noise {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = within(SOON, "an end", stream.read_to_end(&mut rest)).await;
    }
    assert_eq!(Guest::of(&server).await.int("SELECT 1").await, 1);
}

#[tokio::test]
async fn a_message_that_makes_no_sense_ends_its_connection() {
    let server = server();
    // A login in the clear, then calls and batches that break off in the middle.
    let prelogin: &[u8] = &[18, 1, 0, 15, 0, 0, 0, 0, 1, 0, 6, 0, 1, 0xff, 2];
    for body in [
        &[22_u8, 0, 0, 0, 1][..],
        &[4, 0, 0, 0, 0x41],
        &[0, 0, 0, 0],
        &[],
    ] {
        for kind in [1_u8, 3, 14, 16] {
            let mut stream = TcpStream::connect(server.address()).await.unwrap();
            stream.write_all(prelogin).await.unwrap();
            let length = (body.len() + 8) as u16;
            let mut packet = vec![kind, 1];
            packet.extend(length.to_be_bytes());
            packet.extend([0; 4]);
            packet.extend(body);
            stream.write_all(&packet).await.unwrap();
            let mut rest = Vec::new();
            let _ = within(SOON, "an end", stream.read_to_end(&mut rest)).await;
        }
    }
    assert_eq!(Guest::of(&server).await.int("SELECT 1").await, 1);
}
