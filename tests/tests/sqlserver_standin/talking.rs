//! What is said and answered, whatever it is about.

use crate::guest::{Guest, server};

#[tokio::test]
async fn a_batch_has_its_results() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    assert_eq!(guest.int("SELECT 1 + 1").await, 2);
    assert_eq!(
        guest.text("SELECT N'one' + N' and ' + 'two' AS both").await,
        "one and two"
    );
}

#[tokio::test]
async fn a_lock_is_taken_and_given_back() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    assert_eq!(one.get("a", "Exclusive", 0).await, 0);
    assert_eq!(two.get("a", "Exclusive", 0).await, -1);
    assert_eq!(one.mode("a").await, "Exclusive");
    assert_eq!(one.release("a").await, 0);
    assert_eq!(two.get("a", "Exclusive", 0).await, 0);
}

#[tokio::test]
async fn a_parameter_comes_as_it_was_sent() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let stream = guest
        .client
        .query("SELECT @P1, @P2, @P3", &[&"ü 😀", &7_i64, &Some(true)]);
    let row = stream.await.unwrap().into_row().await.unwrap().unwrap();
    assert_eq!(row.get(0), Some("ü 😀"));
    assert_eq!(row.get(1), Some(7_i64));
    assert_eq!(row.get(2), Some(true));
}

#[tokio::test]
async fn numbers_of_a_sequence_rise() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.run("CREATE SCHEMA lockwork").await;
    guest
        .run("CREATE SEQUENCE lockwork.token AS bigint START WITH 1 INCREMENT BY 1")
        .await;
    for expected in 1..4 {
        assert_eq!(
            guest.big("SELECT NEXT VALUE FOR lockwork.token").await,
            expected
        );
    }
    let drawn = "DECLARE @t bigint; SET @t = NEXT VALUE FOR lockwork.token; SELECT @t";
    assert_eq!(guest.big(drawn).await, 4);
}
