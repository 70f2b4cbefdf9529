//! The views of the system.

use crate::guest::{Guest, asking, server};

#[tokio::test]
async fn a_lock_is_seen() {
    let server = server();
    let (mut sa, mut holder) = (Guest::of(&server).await, Guest::of(&server).await);
    let session = holder.session().await;
    let name = format!("{}/the rest", "n".repeat(30));
    holder.get(&name, "Update", 0).await;
    holder.get(&name, "Update", 0).await;
    let rows = sa
        .rows(
            "SELECT resource_description, request_mode, request_status, request_session_id, \
             request_owner_type, resource_database_id, request_reference_count \
             FROM sys.dm_tran_locks WHERE resource_type = N'APPLICATION'",
        )
        .await;
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    let description: &str = row.get(0).unwrap();
    let expected = format!("0:[{}]:(", &name[..32]);
    assert!(description.starts_with(&expected), "{description}");
    let hash = description[expected.len()..].strip_suffix(')').unwrap();
    assert_eq!(hash.len(), 8);
    assert_eq!(row.get(1), Some("U"));
    assert_eq!(row.get(2), Some("GRANT"));
    assert_eq!(row.get(3), Some(i32::from(session)));
    assert_eq!(row.get(4), Some("SESSION"));
    assert_eq!(row.get(5), Some(1));
    assert_eq!(row.get(6), Some(2_i16));
}

#[tokio::test]
async fn who_waits_and_for_whom_is_seen() {
    let server = server();
    let (mut sa, mut holder) = (Guest::of(&server).await, Guest::of(&server).await);
    let session = holder.session().await;
    holder.get("a", "Exclusive", 0).await;
    let waiting = asking(Guest::of(&server).await, "a", "Shared", -1);
    sa.until_waiting(1).await;
    let rows = sa
        .rows(
            "SELECT l.request_mode, s.program_name, r.blocking_session_id, r.status \
             FROM sys.dm_tran_locks AS l \
             INNER JOIN sys.dm_exec_sessions s ON s.session_id = l.request_session_id \
             LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id \
             WHERE l.resource_type = 'APPLICATION' AND l.request_status = 'WAIT'",
        )
        .await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].get(0), Some("S"));
    assert_eq!(rows[0].get(1), Some("a test"));
    assert_eq!(rows[0].get(2), Some(session));
    assert_eq!(rows[0].get(3), Some("suspended"));
    let rows = sa
        .rows(
            "SELECT l.request_mode, r.session_id FROM sys.dm_tran_locks l \
             LEFT OUTER JOIN sys.dm_exec_requests r ON r.session_id = l.request_session_id \
             WHERE l.resource_type = 'APPLICATION' ORDER BY l.request_status",
        )
        .await;
    assert_eq!(rows[0].get(0), Some("X"));
    assert_eq!(rows[0].get::<i16, _>(1), None);
    holder.release("a").await;
    waiting.await.unwrap();
}

#[tokio::test]
async fn what_there_is_is_seen() {
    let server = server();
    let mut sa = Guest::of(&server).await;
    sa.run("CREATE DATABASE shop").await;
    let databases = sa
        .rows("SELECT name FROM sys.databases WHERE database_id > 4 ORDER BY name")
        .await;
    assert_eq!(databases[0].get(0), Some("shop"));
    sa.run("USE shop; CREATE ROLE r").await;
    sa.run("CREATE SCHEMA a").await;
    sa.run("CREATE SEQUENCE a.s START WITH 3").await;
    sa.run("SELECT NEXT VALUE FOR a.s; SELECT NEXT VALUE FOR a.s")
        .await;
    let sql = "SELECT CONVERT(bigint, q.current_value) FROM sys.sequences q \
               JOIN sys.schemas c ON c.schema_id = q.schema_id WHERE c.name = 'a' AND q.name = 's'";
    assert_eq!(sa.big(sql).await, 4);
    assert_eq!(
        sa.int("SELECT COUNT(*) FROM sys.database_principals WHERE name = 'R'")
            .await,
        1
    );
    let sql = "IF EXISTS (SELECT 1 FROM sys.schemas WHERE name = N'a') SELECT 1 ELSE SELECT 0";
    assert_eq!(sa.int(sql).await, 1);
    let sql = "SELECT CASE WHEN OBJECT_ID(N'a.s', N'SO') IS NULL THEN 0 ELSE 1 END";
    assert_eq!(sa.int(sql).await, 1);
    assert_eq!(
        sa.int("SELECT ISNULL(OBJECT_ID('[a].[s]', 'U'), -1)").await,
        -1
    );
    sa.run("SELECT sqlserver_start_time FROM sys.dm_os_sys_info")
        .await;
}

#[tokio::test]
async fn rows_are_sorted_cut_and_counted() {
    let server = server();
    let mut sa = Guest::of(&server).await;
    let sql = "SELECT TOP (2) name AS n FROM sys.databases ORDER BY n DESC";
    let rows = sa.rows(sql).await;
    let names: Vec<&str> = rows.iter().map(|it| it.get("n").unwrap()).collect();
    assert_eq!(names, ["tempdb", "msdb"]);
    assert_eq!(
        sa.int("SELECT MAX(database_id) FROM sys.databases").await,
        4
    );
    assert!(
        sa.rows("SELECT name, database_id FROM sys.databases WHERE 1 = 0")
            .await
            .is_empty()
    );
    assert_eq!(
        sa.error("SELECT nothing FROM sys.databases").await.code(),
        207
    );
    assert_eq!(
        sa.error("SELECT d.name FROM sys.databases").await.code(),
        4104
    );
    assert_eq!(sa.error("SELECT * FROM sys.nothing").await.code(), 208);
    assert_eq!(
        sa.error("SELECT name FROM sys.databases a, sys.schemas b")
            .await
            .code(),
        209
    );
}
