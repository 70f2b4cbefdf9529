//! The second flavor, and how it differs.

use crate::guest::{Guest, SOON, asking, getting};
use lockwork_conformance::{
    sqlserver::{Flavor, Settings, StandIn},
    within,
};
use std::time::Duration;

fn server() -> StandIn {
    StandIn::start(Settings::new().flavor(Flavor::Babelfish))
}

#[tokio::test]
async fn codes_are_others() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    assert_eq!(one.get("a", "Exclusive", 0).await, 0);
    assert_eq!(two.get("a", "Exclusive", 0).await, -999);
    assert_eq!(two.get("a", "Exclusive", 50).await, -1);
    let waiting = asking(two, "a", "Exclusive", -1);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    one.release("a").await;
    let (code, mut two) = within(SOON, "the grant", waiting).await.unwrap();
    assert_eq!(code, 0);
    one.get("b", "Exclusive", 0).await;
    let first = asking(one, "a", "Exclusive", -1);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(two.get("b", "Exclusive", -1).await, -3);
    drop(two);
    assert_eq!(within(SOON, "the other", first).await.unwrap().0, 0);
}

#[tokio::test]
async fn attention_is_not_heard_before_a_wait_is_over() {
    let server = server();
    let (mut holder, mut waiter) = (Guest::of(&server).await, Guest::of(&server).await);
    holder.get("a", "Exclusive", 0).await;
    let sql = getting("a", "Exclusive", -1);
    let asking = waiter.client.simple_query(sql);
    assert!(
        tokio::time::timeout(Duration::from_millis(60), asking)
            .await
            .is_err()
    );
    let cancelling = tokio::spawn(async move {
        waiter.client.cancel_query().await.unwrap();
        waiter
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!cancelling.is_finished());
    holder.release("a").await;
    let mut waiter = within(SOON, "the end", cancelling).await.unwrap();
    assert_eq!(waiter.mode("a").await, "Exclusive");
}

#[tokio::test]
async fn databases_principals_and_owners_make_no_difference() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    one.run("CREATE DATABASE shop").await;
    two.run("USE shop").await;
    one.get("a", "Exclusive", 0).await;
    assert_eq!(two.get("a", "Exclusive", 0).await, -999);
    let sql =
        "DECLARE @r int; EXEC @r = sp_getapplock 'a', 'Shared', 'Session', 0, 'dbo'; SELECT @r";
    assert_eq!(two.int(sql).await, -999);
    let sql = "SELECT APPLOCK_MODE('nobody', 'a', 'Transaction')";
    assert_eq!(one.text(sql).await, "Exclusive");
}

#[tokio::test]
async fn a_long_name_is_cut_by_its_bytes() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    one.get(&"ü".repeat(127), "Exclusive", 0).await;
    assert_eq!(two.get(&"ü".repeat(128), "Exclusive", 0).await, -999);
    assert_eq!(two.get(&"ü".repeat(126), "Exclusive", 0).await, 0);
}

#[tokio::test]
async fn some_things_are_not_there() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    assert_eq!(
        guest.error("SELECT * FROM sys.dm_tran_locks").await.code(),
        208
    );
    assert_eq!(
        guest
            .error("EXEC dbo.sp_getapplock 'a', 'Shared', 'Session'")
            .await
            .code(),
        2812
    );
    guest
        .run("EXEC sys.sp_getapplock 'a', 'Shared', 'Session'")
        .await;
    assert!(guest.try_rows("WAITFOR DELAY '00:00:00.01'").await.is_err());
    assert!(guest.text("SELECT @@VERSION").await.contains("Babelfish"));
}
