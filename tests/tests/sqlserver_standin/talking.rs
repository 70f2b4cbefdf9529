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

#[tokio::test]
async fn every_type_goes_both_ways() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let long = "ü".repeat(5000);
    let sql =
        "SELECT @P1, @P2, @P3, @P4, @P5, @P6, CONVERT(varchar(20), @P7), CONVERT(bigint, NULL)";
    let (none, bytes): (Option<&str>, &[u8]) = (None, &[1, 2, 3]);
    let stream = guest
        .client
        .query(
            sql,
            &[&long.as_str(), &none, &1_u8, &2_i16, &bytes, &0.5_f64, &"é"],
        )
        .await;
    let row = stream.unwrap().into_row().await.unwrap().unwrap();
    assert_eq!(row.get(0), Some(long.as_str()));
    assert_eq!(row.get::<&str, _>(1), None);
    assert_eq!(row.get(2), Some(1_u8));
    assert_eq!(row.get(3), Some(2_i16));
    assert_eq!(row.get(4), Some(bytes));
    assert_eq!(row.get(5), Some(0.5_f64));
    assert_eq!(row.get(6), Some("é"));
    assert_eq!(row.get::<i64, _>(7), None);
}

#[tokio::test]
async fn a_time_goes_both_ways() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let sql = "SELECT CONVERT(datetime2, '2024-02-29 12:34:56.7654321'), \
               CONVERT(datetime, '1900-01-02 00:00:01')";
    let rows = guest.rows(sql).await;
    let cells: Vec<_> = rows[0].cells().map(|(_, data)| data.clone()).collect();
    let tiberius::ColumnData::DateTime2(Some(precise)) = &cells[0] else {
        panic!("{cells:?}");
    };
    assert_eq!(precise.date().days(), 738_944);
    assert_eq!(precise.time().increments(), 452_967_654_321);
    let tiberius::ColumnData::DateTime(Some(coarse)) = &cells[1] else {
        panic!("{cells:?}");
    };
    assert_eq!((coarse.days(), coarse.seconds_fragments()), (1, 300));
    let sql = "SELECT CONVERT(nvarchar(40), CONVERT(datetime2, '2024-02-29 12:34:56.7654321'))";
    assert_eq!(guest.text(sql).await, "2024-02-29 12:34:56.7654321");
    let sql = "DECLARE @a datetime2 = SYSUTCDATETIME(); WAITFOR DELAY '00:00:00.020'; \
               SELECT CASE WHEN DATEDIFF(MILLISECOND, @a, SYSUTCDATETIME()) BETWEEN 19 AND 9999 \
               THEN 1 ELSE 0 END";
    assert_eq!(guest.int(sql).await, 1);
}
