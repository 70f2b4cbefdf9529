//! Transactions, and the locks they own.

use crate::guest::{Guest, server};

const GET: &str =
    "DECLARE @r int; EXEC @r = sp_getapplock 'a', 'Exclusive', @LockTimeout = 0; SELECT @r";
const MODE: &str = "SELECT APPLOCK_MODE('public', 'a', 'Transaction')";

#[tokio::test]
async fn a_transaction_keeps_a_lock_until_its_end() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    for end in ["COMMIT", "ROLLBACK", "COMMIT TRANSACTION", "ROLLBACK TRAN"] {
        one.run("BEGIN TRANSACTION").await;
        assert_eq!(one.int(GET).await, 0);
        assert_eq!(one.text(MODE).await, "Exclusive");
        assert_eq!(one.mode("a").await, "NoLock");
        assert_eq!(two.get("a", "Shared", 0).await, -1);
        one.run(end).await;
        assert_eq!(two.get("a", "Shared", 0).await, 0, "{end}");
        two.release("a").await;
    }
}

#[tokio::test]
async fn a_transaction_can_give_a_lock_back() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.run("BEGIN TRAN").await;
    guest.int(GET).await;
    let sql = "DECLARE @r int; EXEC @r = sp_releaseapplock 'a'; SELECT @r";
    assert_eq!(guest.int(sql).await, 0);
    assert_eq!(guest.text(MODE).await, "NoLock");
    guest.run("COMMIT").await;
}

#[tokio::test]
async fn the_client_can_ask_for_transactions_without_a_batch() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.client.begin_transaction().await.unwrap();
    assert_eq!(guest.int("SELECT @@TRANCOUNT").await, 1);
    assert_eq!(guest.int(GET).await, 0);
    guest.client.save_transaction("here").await.unwrap();
    guest.client.commit_transaction().await.unwrap();
    assert_eq!(guest.int("SELECT @@TRANCOUNT").await, 0);
    guest.client.begin_transaction().await.unwrap();
    guest.client.rollback_transaction().await.unwrap();
    assert_eq!(guest.int("SELECT @@TRANCOUNT").await, 0);
    assert!(guest.client.commit_transaction().await.is_err());
    assert_eq!(guest.int("SELECT 1").await, 1);
}

#[tokio::test]
async fn transactions_are_counted() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    assert_eq!(
        guest
            .int("BEGIN TRAN; BEGIN TRAN; SELECT @@TRANCOUNT")
            .await,
        2
    );
    assert_eq!(guest.int(GET).await, 0);
    assert_eq!(guest.int("COMMIT; SELECT @@TRANCOUNT").await, 1);
    assert_eq!(guest.text(MODE).await, "Exclusive");
    assert_eq!(guest.small("SELECT XACT_STATE()").await, 1);
    assert_eq!(guest.int("ROLLBACK; SELECT @@TRANCOUNT").await, 0);
    assert_eq!(guest.small("SELECT XACT_STATE()").await, 0);
    assert_eq!(guest.error("COMMIT").await.code(), 3902);
    assert_eq!(guest.error("ROLLBACK").await.code(), 3903);
}

#[tokio::test]
async fn an_error_under_xact_abort_ends_the_transaction() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let error = guest
        .error("SET XACT_ABORT ON; BEGIN TRAN; SELECT 1 / 0; SHUTDOWN")
        .await;
    assert_eq!(error.code(), 8134);
    assert_eq!(guest.int("SELECT @@TRANCOUNT").await, 0);
    let sql = "BEGIN TRAN; DECLARE @s int; BEGIN TRY SELECT 1 / 0 END TRY BEGIN CATCH \
               SET @s = XACT_STATE(); ROLLBACK END CATCH SELECT @s";
    assert_eq!(guest.int(sql).await, -1);
}

#[tokio::test]
async fn an_end_of_a_connection_ends_its_transaction() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    one.run("BEGIN TRAN").await;
    one.int(GET).await;
    drop(one);
    assert!(two.get("a", "Exclusive", 5000).await >= 0);
}
