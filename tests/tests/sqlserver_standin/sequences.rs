//! Sequences.

use crate::guest::{Guest, server};

#[tokio::test]
async fn a_sequence_counts_as_it_was_told() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest
        .run("CREATE SEQUENCE s AS int START WITH 5 INCREMENT BY -2 MINVALUE 1 MAXVALUE 9 CYCLE CACHE 20")
        .await;
    let mut drawn = Vec::new();
    for _ in 0..5 {
        drawn.push(guest.int("SELECT NEXT VALUE FOR dbo.s").await);
    }
    assert_eq!(drawn, [5, 3, 1, 9, 7]);
}

#[tokio::test]
async fn a_sequence_can_come_to_its_end() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest
        .run("CREATE SEQUENCE s AS tinyint START WITH 254 NO CYCLE NO CACHE")
        .await;
    guest.run("SELECT NEXT VALUE FOR s").await;
    guest.run("SELECT NEXT VALUE FOR s").await;
    assert_eq!(guest.error("SELECT NEXT VALUE FOR s").await.code(), 11728);
    guest.run("ALTER SEQUENCE s RESTART WITH 7").await;
    assert_eq!(
        guest
            .int("DECLARE @n int = NEXT VALUE FOR s; SELECT @n")
            .await,
        7
    );
}

#[tokio::test]
async fn a_rollback_takes_no_number_back() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.run("CREATE SEQUENCE s START WITH 1").await;
    let sql = "BEGIN TRAN; DECLARE @n bigint = NEXT VALUE FOR s; ROLLBACK; SELECT NEXT VALUE FOR s";
    assert_eq!(guest.big(sql).await, 2);
}

#[tokio::test]
async fn a_sequence_without_a_beginning_begins_at_the_least() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.run("CREATE SEQUENCE s AS bigint").await;
    assert_eq!(guest.big("SELECT NEXT VALUE FOR s").await, i64::MIN);
    guest
        .run("CREATE SEQUENCE t MINVALUE -9223372036854775808")
        .await;
    assert_eq!(guest.big("SELECT NEXT VALUE FOR t").await, i64::MIN);
}

#[tokio::test]
async fn a_condition_draws_no_number() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.run("CREATE SEQUENCE s START WITH 1").await;
    for sql in [
        "IF NEXT VALUE FOR s = 1 SELECT 1",
        "SELECT CASE WHEN 1 = 1 THEN NEXT VALUE FOR s END",
        "SELECT 1 WHERE NEXT VALUE FOR s = 1",
    ] {
        assert_eq!(guest.error(sql).await.code(), 11720, "{sql}");
    }
    assert_eq!(guest.big("SELECT NEXT VALUE FOR s").await, 1);
}

#[tokio::test]
async fn what_is_there_is_not_made_again() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.run("CREATE SCHEMA a").await;
    assert_eq!(guest.error("CREATE SCHEMA a").await.code(), 2714);
    let sql =
        "BEGIN TRY EXEC('CREATE SCHEMA a') END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH";
    assert_eq!(guest.int(sql).await, 2759);
    guest.run("CREATE SEQUENCE a.s").await;
    assert_eq!(guest.error("CREATE SEQUENCE A.S").await.code(), 2714);
    assert_eq!(guest.error("DROP SCHEMA a").await.code(), 3729);
    guest.run("DROP SEQUENCE a.s; DROP SCHEMA a; DROP SEQUENCE IF EXISTS a.s; DROP SCHEMA IF EXISTS a").await;
    assert_eq!(guest.error("DROP SEQUENCE a.s").await.code(), 3701);
    assert_eq!(guest.error("DROP SCHEMA a").await.code(), 15151);
    assert_eq!(guest.error("CREATE SEQUENCE a.s").await.code(), 2760);
    assert_eq!(guest.error("SELECT NEXT VALUE FOR a.s").await.code(), 208);
}

#[tokio::test]
async fn a_read_only_database_makes_nothing() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.run("CREATE DATABASE shop").await;
    guest.run("USE shop; CREATE SEQUENCE s START WITH 1").await;
    guest
        .run("ALTER DATABASE shop SET READ_ONLY WITH NO_WAIT")
        .await;
    assert_eq!(guest.error("SELECT NEXT VALUE FOR s").await.code(), 3906);
    assert_eq!(guest.error("CREATE SCHEMA a").await.code(), 3906);
    assert_eq!(
        guest
            .text("SELECT CONVERT(nvarchar(60), DATABASEPROPERTYEX('shop', 'Updateability'))")
            .await,
        "READ_ONLY"
    );
    // A lock is no change of a database.
    assert_eq!(guest.get("a", "Exclusive", 0).await, 0);
    guest.run("ALTER DATABASE shop SET READ_WRITE").await;
    assert_eq!(guest.big("SELECT NEXT VALUE FOR s").await, 1);
}
