//! Small tables.

use crate::guest::{Guest, server};

#[tokio::test]
async fn rows_are_kept_changed_and_removed() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.run("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, name nvarchar(10) NULL, n bigint DEFAULT 7)").await;
    guest.run("INSERT INTO t (id, name) VALUES (1, 'one'), (2, 'two'); INSERT t SELECT 3, N'three', 9").await;
    assert_eq!(
        guest.error("INSERT INTO t (id) VALUES (1)").await.code(),
        2627
    );
    assert_eq!(
        guest
            .error("INSERT INTO t (name) VALUES ('x')")
            .await
            .code(),
        515
    );
    guest
        .run("UPDATE t SET n = n + 1 WHERE id < 3; DELETE FROM t WHERE name = 'TWO'")
        .await;
    let rows = guest.rows("SELECT id, name, n FROM t ORDER BY id").await;
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (rows[0].get(0), rows[0].get(1), rows[0].get(2)),
        (Some(1), Some("one"), Some(8_i64))
    );
    guest.run("DROP TABLE t").await;
    assert_eq!(guest.error("SELECT * FROM t").await.code(), 208);
}
