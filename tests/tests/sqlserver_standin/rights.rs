//! Who may do what.

use crate::guest::{Guest, server};
use lockwork_conformance::sqlserver::StandIn;

/// A database `shop` with the user `ann`, and both of them.
async fn shop(server: &StandIn) -> (Guest, Guest) {
    let mut sa = Guest::of(server).await;
    sa.run("CREATE LOGIN ann WITH PASSWORD = 'ann', CHECK_POLICY = OFF; CREATE DATABASE shop")
        .await;
    sa.run("USE shop; CREATE USER ann").await;
    sa.run("CREATE SCHEMA lockwork").await;
    sa.run("CREATE SEQUENCE lockwork.token START WITH 1").await;
    let ann = Guest::named(server, "ann", "ann", "shop").await;
    (sa, ann)
}

#[tokio::test]
async fn everybody_may_lock() {
    let server = server();
    let (_sa, mut ann) = shop(&server).await;
    assert_eq!(ann.get("a", "Exclusive", 0).await, 0);
    assert_eq!(ann.release("a").await, 0);
}

#[tokio::test]
async fn a_right_to_lock_can_be_denied() {
    let server = server();
    let (mut sa, mut ann) = shop(&server).await;
    let deny = "DENY EXECUTE ON sys.sp_getapplock TO ann";
    assert_eq!(sa.error(deny).await.code(), 4629);
    sa.run("USE master; CREATE USER ann").await;
    sa.run(deny).await;
    let error = ann
        .error("EXEC sp_getapplock 'a', 'Shared', 'Session'")
        .await;
    assert_eq!(error.code(), 229);
    sa.run("REVOKE EXECUTE ON sys.sp_getapplock FROM ann").await;
    assert_eq!(ann.get("a", "Shared", 0).await, 0);
    sa.run("DENY EXECUTE ON sp_getapplock TO public").await;
    assert_eq!(
        ann.error("EXEC sp_getapplock 'a', 'Shared', 'Session'")
            .await
            .code(),
        229
    );
}

#[tokio::test]
async fn a_role_locks_for_its_members() {
    let server = server();
    let (mut sa, mut ann) = shop(&server).await;
    sa.run("CREATE ROLE lockers").await;
    let sql =
        "DECLARE @r int; EXEC @r = sp_getapplock 'a', 'Shared', 'Session', 0, 'lockers'; SELECT @r";
    let error = ann.error(sql).await;
    assert_eq!(error.code(), 1202);
    assert_eq!(
        error.message(),
        "The database principal 'lockers' does not exist, or user is not a member."
    );
    assert_eq!(ann.int("SELECT IS_MEMBER('lockers')").await, 0);
    sa.run("ALTER ROLE lockers ADD MEMBER ann").await;
    assert_eq!(ann.int(sql).await, 0);
    assert_eq!(ann.int("SELECT IS_ROLEMEMBER('lockers')").await, 1);
    let mode = "SELECT APPLOCK_MODE('lockers', 'a', 'Session')";
    assert_eq!(ann.text(mode).await, "Shared");
    assert_eq!(ann.mode("a").await, "NoLock");
    sa.run("ALTER ROLE lockers DROP MEMBER ann; DROP ROLE lockers")
        .await;
}

#[tokio::test]
async fn a_number_is_for_who_may_draw_it() {
    let server = server();
    let (mut sa, mut ann) = shop(&server).await;
    let draw = "SELECT NEXT VALUE FOR lockwork.token";
    let error = ann.error(draw).await;
    assert_eq!(error.code(), 229);
    assert_eq!(
        error.message(),
        "The UPDATE permission was denied on the object 'token', database 'shop', schema 'lockwork'."
    );
    let has = "SELECT HAS_PERMS_BY_NAME('lockwork.token', 'OBJECT', 'UPDATE')";
    let seen = "SELECT CASE WHEN OBJECT_ID('lockwork.token', 'SO') IS NULL THEN 0 ELSE 1 END + \
                (SELECT COUNT(*) FROM sys.sequences)";
    assert_eq!(ann.int(seen).await, 0);
    assert_eq!(ann.int(has).await, 0);
    sa.run("GRANT UPDATE ON OBJECT::lockwork.token TO ann")
        .await;
    assert_eq!(ann.int(has).await, 1);
    assert_eq!(ann.int(seen).await, 2);
    assert_eq!(ann.big(draw).await, 1);
    sa.run("REVOKE UPDATE ON lockwork.token FROM ann; GRANT UPDATE ON SCHEMA::lockwork TO ann")
        .await;
    assert_eq!(ann.big(draw).await, 2);
    sa.run("DENY UPDATE ON OBJECT::lockwork.token TO ann").await;
    assert_eq!(ann.error(draw).await.code(), 229);
}

#[tokio::test]
async fn what_is_made_is_made_by_who_may() {
    let server = server();
    let (mut sa, mut ann) = shop(&server).await;
    assert_eq!(ann.error("CREATE SCHEMA mine").await.code(), 262);
    assert_eq!(
        ann.error("CREATE SEQUENCE lockwork.other").await.code(),
        2760
    );
    assert_eq!(ann.error("CREATE DATABASE other").await.code(), 262);
    assert_eq!(ann.error("CREATE ROLE other").await.code(), 15247);
    assert_eq!(
        ann.error("CREATE LOGIN bob WITH PASSWORD = 'b'")
            .await
            .code(),
        15247
    );
    sa.run("GRANT CREATE SCHEMA, CREATE SEQUENCE TO ann; GRANT ALTER ON SCHEMA::lockwork TO ann")
        .await;
    ann.run("CREATE SCHEMA mine").await;
    ann.run("CREATE SEQUENCE lockwork.other").await;
    sa.run("CREATE USER bob WITHOUT LOGIN; ALTER ROLE db_owner ADD MEMBER ann")
        .await;
    ann.run("CREATE ROLE other; GRANT CONTROL ON SCHEMA::mine TO bob; DROP ROLE other")
        .await;
}

#[tokio::test]
async fn what_others_do_is_for_who_may_see_it() {
    let server = server();
    let (mut sa, mut ann) = shop(&server).await;
    let error = ann.error("SELECT * FROM sys.dm_tran_locks").await;
    assert_eq!(error.code(), 300);
    assert!(
        error
            .message()
            .contains("permission was denied on object 'server', database 'master'.")
    );
    assert_eq!(
        ann.int("SELECT COUNT(*) FROM sys.dm_exec_sessions").await,
        1
    );
    let has = "SELECT HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')";
    assert_eq!(ann.int(has).await, 0);
    assert_eq!(
        sa.error("GRANT VIEW SERVER STATE TO ann").await.code(),
        4621
    );
    sa.run("USE master; GRANT VIEW SERVER STATE TO ann").await;
    assert_eq!(ann.int(has).await, 1);
    assert_eq!(
        ann.int("SELECT COUNT(*) FROM sys.dm_exec_sessions").await,
        2
    );
    ann.run("SELECT * FROM sys.dm_tran_locks").await;
    sa.run("REVOKE VIEW SERVER STATE FROM ann; GRANT VIEW SERVER PERFORMANCE STATE TO ann")
        .await;
    ann.run("SELECT * FROM sys.dm_tran_locks").await;
}

#[tokio::test]
async fn somebody_can_act_as_another() {
    let server = server();
    let (mut sa, _ann) = shop(&server).await;
    let sql = "EXECUTE AS USER = 'ann'; SELECT USER_NAME()";
    assert_eq!(sa.text(sql).await, "ann");
    assert_eq!(
        sa.error("SELECT NEXT VALUE FOR lockwork.token")
            .await
            .code(),
        229
    );
    assert_eq!(sa.text("REVERT; SELECT USER_NAME()").await, "dbo");
    assert_eq!(sa.error("EXECUTE AS USER = 'nobody'").await.code(), 15517);
}
