//! What `sp_getapplock` and `sp_releaseapplock` return, and what they raise.

use crate::guest::{Guest, SOON, asking, server};
use lockwork_conformance::within;

#[tokio::test]
async fn a_grant_at_once_is_0_and_a_late_one_is_1() {
    let server = server();
    let mut watcher = Guest::of(&server).await;
    let (mut one, two) = (Guest::of(&server).await, Guest::of(&server).await);
    assert_eq!(one.get("a", "Exclusive", -1).await, 0);
    let waiting = asking(two, "a", "Exclusive", -1);
    watcher.until_waiting(1).await;
    one.release("a").await;
    assert_eq!(within(SOON, "the grant", waiting).await.unwrap().0, 1);
}

#[tokio::test]
async fn no_grant_in_time_is_minus_1_and_no_error() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    one.get("a", "Exclusive", 0).await;
    assert_eq!(two.get("a", "Shared", 0).await, -1);
    let before = std::time::Instant::now();
    assert_eq!(two.get("a", "Shared", 120).await, -1);
    assert!(before.elapsed().as_millis() >= 120);
    assert_eq!(one.waiters().await, 0);
}

#[tokio::test]
async fn a_wait_is_as_long_as_the_session_says_if_the_call_does_not() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    one.get("a", "Exclusive", 0).await;
    let sql = "SET LOCK_TIMEOUT 60; DECLARE @r int; \
               EXEC @r = sp_getapplock 'a', 'Shared', 'Session'; SELECT @r";
    assert_eq!(two.int(sql).await, -1);
    assert_eq!(two.int("SELECT @@LOCK_TIMEOUT").await, 60);
}

#[tokio::test]
async fn one_of_two_that_wait_for_each_other_gets_minus_3() {
    let server = server();
    let mut watcher = Guest::of(&server).await;
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    one.get("a", "Exclusive", 0).await;
    two.get("b", "Exclusive", 0).await;
    let first = asking(one, "b", "Exclusive", -1);
    watcher.until_waiting(1).await;
    assert_eq!(two.get("a", "Exclusive", -1).await, -3);
    // It is no error, and takes nothing away.
    assert_eq!(two.mode("b").await, "Exclusive");
    two.release("b").await;
    assert_eq!(within(SOON, "the other", first).await.unwrap().0, 1);
}

#[tokio::test]
async fn the_lower_priority_gives_up() {
    let server = server();
    let mut watcher = Guest::of(&server).await;
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    one.run("SET DEADLOCK_PRIORITY LOW").await;
    one.get("a", "Exclusive", 0).await;
    two.get("b", "Exclusive", 0).await;
    let first = asking(one, "b", "Exclusive", -1);
    watcher.until_waiting(1).await;
    let second = asking(two, "a", "Exclusive", -1);
    let (code, mut one) = within(SOON, "the victim", first).await.unwrap();
    assert_eq!(code, -3);
    one.release("a").await;
    assert_eq!(within(SOON, "the other", second).await.unwrap().0, 1);
}

#[tokio::test]
async fn a_circle_of_three_is_one_too() {
    let server = server();
    let mut watcher = Guest::of(&server).await;
    let mut guests = Vec::new();
    for name in ["a", "b", "c"] {
        let mut guest = Guest::of(&server).await;
        guest.get(name, "Exclusive", 0).await;
        guests.push(guest);
    }
    let mut three = guests.pop().unwrap();
    let two = asking(guests.pop().unwrap(), "c", "Shared", -1);
    let one = asking(guests.pop().unwrap(), "b", "Shared", -1);
    watcher.until_waiting(2).await;
    assert_eq!(three.get("a", "Shared", -1).await, -3);
    three.release("c").await;
    let (code, mut two) = within(SOON, "the second", two).await.unwrap();
    assert_eq!(code, 1);
    two.release("b").await;
    assert_eq!(within(SOON, "the first", one).await.unwrap().0, 1);
}

#[tokio::test]
async fn what_is_not_sound_is_minus_999() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    assert_eq!(guest.get("a", "Bogus", 0).await, -999);
    for call in [
        "sp_getapplock 'a', 'Shared', 'Nobody'",
        // The default owner is the transaction, which there is not.
        "sp_getapplock 'a', 'Shared'",
        "sp_getapplock @LockMode = 'Shared', @LockOwner = 'Session'",
        "sp_releaseapplock 'a'",
        "sp_releaseapplock 'a', 'Nobody'",
    ] {
        let sql = format!("DECLARE @r int; EXEC @r = {call}; SELECT @r");
        assert_eq!(guest.int(&sql).await, -999, "{call}");
    }
}

#[tokio::test]
async fn some_of_it_is_an_error_besides() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let cases = [
        (1224, "sp_getapplock NULL, 'Shared', 'Session'"),
        (1227, "sp_getapplock 'a', 'Shared', 'Session', -2"),
        (1202, "sp_getapplock 'a', 'Shared', 'Session', 0, 'nobody'"),
        (1223, "sp_releaseapplock 'a', 'Session'"),
        (201, "sp_getapplock 'a'"),
        (
            8144,
            "sp_getapplock 'a', 'Shared', 'Session', 0, 'public', 1",
        ),
        (8145, "sp_getapplock @Resource = 'a', @Mode = 'Shared'"),
        (2812, "sp_getapplocks 'a', 'Shared'"),
        (2812, "lockwork.sp_getapplock 'a', 'Shared'"),
    ];
    for (number, call) in cases {
        assert_eq!(
            guest.error(&format!("EXEC {call}")).await.code(),
            number,
            "{call}"
        );
    }
    // The batch goes on, with the code.
    let sql = "DECLARE @r int = 5; EXEC @r = sp_releaseapplock 'a', 'Session'; PRINT @r; \
               IF @r <> -999 SHUTDOWN";
    assert_eq!(guest.error(sql).await.code(), 1223);
    let sql = "DECLARE @e int; BEGIN TRY EXEC sp_releaseapplock 'a', 'Session' END TRY \
               BEGIN CATCH SET @e = ERROR_NUMBER() END CATCH SELECT @e";
    assert_eq!(guest.int(sql).await, 1223);
}

#[tokio::test]
async fn functions_raise_where_procedures_only_return() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let cases = [
        (8116, "APPLOCK_MODE(NULL, 'a', 'Session')"),
        (8116, "APPLOCK_MODE('public', NULL, 'Session')"),
        (1226, "APPLOCK_MODE('public', 'a', 'Nobody')"),
        (3918, "APPLOCK_MODE('public', 'a', 'Transaction')"),
        (1202, "APPLOCK_MODE('nobody', 'a', 'Session')"),
        (1225, "APPLOCK_TEST('public', 'a', 'Bogus', 'Session')"),
        (3918, "APPLOCK_TEST('public', 'a', 'Shared', 'Transaction')"),
    ];
    for (number, call) in cases {
        assert_eq!(
            guest.error(&format!("SELECT {call}")).await.code(),
            number,
            "{call}"
        );
    }
}

#[tokio::test]
async fn a_procedure_has_several_names() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    for name in [
        "sp_getapplock",
        "sys.sp_getapplock",
        "dbo.sp_getapplock",
        "master..sp_getapplock",
        "[master].[sys].[SP_GETAPPLOCK]",
    ] {
        let sql = format!("DECLARE @r int; EXEC @r = {name} 'a', 'Shared', 'Session'; SELECT @r");
        assert_eq!(guest.int(&sql).await, 0, "{name}");
    }
}

#[tokio::test]
async fn a_database_and_a_principal_are_parts_of_a_name() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    one.run("CREATE DATABASE shop").await;
    one.get("a", "Exclusive", 0).await;
    assert_eq!(two.get("a", "Exclusive", 0).await, -1);
    let sql =
        "DECLARE @r int; EXEC @r = sp_getapplock 'a', 'Exclusive', 'Session', 0, 'dbo'; SELECT @r";
    assert_eq!(two.int(sql).await, 0);
    two.run("USE shop").await;
    assert_eq!(two.get("a", "Exclusive", 0).await, 0);
    assert_eq!(two.mode("a").await, "Exclusive");
}
