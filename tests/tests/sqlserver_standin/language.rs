//! The language.

use crate::guest::{Guest, server};

#[tokio::test]
async fn what_is_no_statement_is_a_syntax_error() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let cases = [
        (102, "SELEC 1 +"),
        (102, "SELECT 1 +"),
        (156, "SELECT FROM"),
        (102, "SET 5"),
        (137, "SELECT @x"),
        (137, "EXEC @r = sp_getapplock 'a', 'Shared'"),
        (137, "SET @x = 1"),
        (134, "DECLARE @x int; DECLARE @X int"),
        (105, "SELECT 'open"),
        (113, "SELECT 1 /* open"),
        (102, "SELECT 1 ) "),
        (156, "BEGIN SELECT 1 END END"),
        (4145, "IF 1 SELECT 1"),
        (195, "SET WHATEVER ON"),
        (195, "SELECT WHATEVER(1)"),
        (156, "CREATE SEQUENCE s FROM 1"),
        (111, "SELECT 1; CREATE SCHEMA a"),
        (156, "IF 1 = 1 CREATE SCHEMA a"),
        (102, "DECLARE @s int = 51; KILL @s"),
        (102, "MERGED INTO t"),
        (102, "GRANT FLY TO public"),
        (135, "BREAK"),
        (10704, "THROW"),
        (179, "EXEC sp_executesql N'SELECT 1' OUTPUT"),
        (2715, "DECLARE @x geometry"),
    ];
    for (number, sql) in cases {
        let error = guest.error(sql).await;
        assert_eq!(error.code(), number, "{sql}: {}", error.message());
    }
    assert_eq!(guest.error("SELECT 1\nSELECT 2\nSELECT ,").await.line(), 3);
}

#[tokio::test]
async fn a_batch_with_a_syntax_error_does_nothing() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    assert_eq!(guest.error("CREATE SCHEMA a; SELECT )").await.code(), 102);
    assert_eq!(
        guest
            .int("SELECT COUNT(*) FROM sys.schemas WHERE name = 'a'")
            .await,
        0
    );
}

#[tokio::test]
async fn a_statement_that_fails_does_not_end_its_batch() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    assert_eq!(
        guest.error("SELECT 1 / 0; CREATE ROLE a").await.code(),
        8134
    );
    assert_eq!(
        guest
            .int("SELECT COUNT(*) FROM sys.database_principals WHERE name = 'a'")
            .await,
        1
    );
    assert_eq!(
        guest
            .error("THROW 50001, 'enough', 1; CREATE ROLE b")
            .await
            .code(),
        50001
    );
    assert_eq!(
        guest
            .error("SELECT CAST('x' AS int); CREATE ROLE b")
            .await
            .code(),
        245
    );
    assert_eq!(
        guest
            .error("RAISERROR('%s is %d', 16, 1, 'a', 5); CREATE ROLE c")
            .await
            .message(),
        "a is 5"
    );
    let sql = "SELECT COUNT(*) FROM sys.database_principals WHERE name IN ('b', 'c')";
    assert_eq!(guest.int(sql).await, 1);
}

#[tokio::test]
async fn errors_can_be_caught() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let sql = "DECLARE @t nvarchar(200);
        BEGIN TRY
            SELECT 1 / 0;
            SET @t = 'not here';
        END TRY
        BEGIN CATCH
            SET @t = CONCAT(ERROR_NUMBER(), '/', ERROR_SEVERITY(), '/', ERROR_LINE(), '/', ERROR_MESSAGE());
        END CATCH;
        SELECT @t";
    let expected = "8134/16/3/Divide by zero error encountered.";
    assert_eq!(guest.text(sql).await, expected);
    let sql = "BEGIN TRY EXEC('SELECT * FROM nowhere') END TRY BEGIN CATCH THROW; END CATCH";
    assert_eq!(guest.error(sql).await.code(), 208);
}

#[tokio::test]
async fn expressions_have_their_values() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let cases = [
        ("7 / 2 * 3 % 5 - -1", "5"),
        ("CASE WHEN NULL = NULL THEN 'yes' ELSE 'no' END", "no"),
        ("CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END", "b"),
        (
            "CASE WHEN 'ABC' = 'abc  ' AND N'a' <> N'b' THEN 1 ELSE 0 END",
            "1",
        ),
        (
            "CASE WHEN 3 BETWEEN 1 AND 3 AND 4 NOT IN (1, 2) THEN 1 END",
            "1",
        ),
        (
            "CASE WHEN 'a_b' LIKE 'a!_b' ESCAPE '!' AND 'axb' NOT LIKE 'a!_b' ESCAPE '!' THEN 1 END",
            "1",
        ),
        ("CASE WHEN 'card' LIKE '[a-d]%[^x]' THEN 1 END", "1"),
        (
            "CASE WHEN (1 = 1 OR 1 / 1 = 2) AND NOT (1 + 1) * 2 = 5 THEN 1 END",
            "1",
        ),
        ("ISNULL(NULLIF('a', 'A'), 'null')", "n"),
        ("COALESCE(NULL, NULL, 'c')", "c"),
        ("LEN('ab  ')", "2"),
        ("DATALENGTH(N'ab')", "4"),
        ("DATALENGTH('ab')", "2"),
        (
            "LEFT('abcd', 2) + RIGHT('abcd', 1) + SUBSTRING('abcd', 2, 2)",
            "abdbc",
        ),
        ("CHARINDEX('C', 'abc')", "3"),
        ("REPLACE(UPPER('abc'), 'B', LOWER('X'))", "AxC"),
        ("LTRIM(RTRIM('  a '))", "a"),
        ("QUOTENAME('a]b')", "[a]]b]"),
        ("CONVERT(nvarchar(3), 12345)", "123"),
        ("ISNULL(TRY_CONVERT(int, 'x'), -1)", "-1"),
        ("IIF(1 > 2, 'a', 'b')", "b"),
        ("IIF('a' COLLATE Latin1_General_BIN2 = 'A', 1, 0)", "0"),
        (
            "IIF('ab' COLLATE Latin1_General_CS_AS LIKE 'A%', 1, 0)",
            "0",
        ),
        ("ABS(-5)", "5"),
        ("'it''s' + N' ü'", "it's ü"),
        ("'日'", "?"),
        ("CONVERT(int, 0x10)", "16"),
        (
            "DATEDIFF(MILLISECOND, '2024-01-01 00:00:00', '2024-01-01 00:00:01.5')",
            "1500",
        ),
        ("DB_NAME(DB_ID())", "master"),
        ("SCHEMA_NAME(SCHEMA_ID('dbo'))", "dbo"),
        ("SUSER_SNAME() + ORIGINAL_LOGIN() + USER_NAME()", "sasadbo"),
        ("IS_SRVROLEMEMBER('sysadmin')", "1"),
        (
            "CONVERT(nvarchar(20), SERVERPROPERTY('EngineEdition'))",
            "3",
        ),
        ("(SELECT MAX(database_id) FROM sys.databases)", "4"),
        ("2147483647 + 1 - 1", ""),
    ];
    for (expression, expected) in cases {
        let sql = format!("SELECT CONVERT(nvarchar(200), {expression})");
        match expected {
            "" => assert_eq!(guest.error(&sql).await.code(), 8115, "{expression}"),
            _ => assert_eq!(guest.text(&sql).await, expected, "{expression}"),
        }
    }
    let version = guest.text("SELECT @@VERSION").await;
    assert!(
        version.starts_with("Microsoft SQL Server 2022"),
        "{version}"
    );
}

#[tokio::test]
async fn a_batch_can_branch_repeat_and_stop() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let sql = "DECLARE @i int = 0, @sum int = 0;
        WHILE @i < 100 BEGIN
            SET @i += 1;
            IF @i % 2 = 0 CONTINUE;
            IF @i > 10 BREAK
            ELSE SET @sum = @sum + @i
        END
        SELECT @sum; -- 1 + 3 + 5 + 7 + 9
        RETURN
        SELECT 0";
    assert_eq!(guest.int(sql).await, 25);
    assert_eq!(guest.int("SELECT 1 SELECT 2 SELECT @@ROWCOUNT").await, 1);
    assert_eq!(
        guest
            .int("DECLARE @a int, @b int; SELECT @a = 1, @b = 2; SELECT @a + @b")
            .await,
        3
    );
    assert_eq!(
        guest.int("SELECT TOP 1 /* a /* nested */ note */ 5").await,
        5
    );
}

#[tokio::test]
async fn text_can_be_run() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let sql = "DECLARE @n int = 3, @out int;
        EXEC sp_executesql N'SET @b = @a * 2', N'@a int, @b int OUTPUT', @a = @n, @b = @out OUTPUT;
        SELECT @out";
    assert_eq!(guest.int(sql).await, 6);
    assert_eq!(guest.int("EXEC('SELECT 7')").await, 7);
    assert_eq!(guest.error("EXEC('SELECT @n')").await.code(), 137);
    assert_eq!(
        guest
            .error("EXEC sp_executesql N'SELECT @a', N'@a int'")
            .await
            .code(),
        8178
    );
}

#[tokio::test]
async fn a_count_of_rows_is_sent_unless_it_is_not_wanted() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.run("CREATE TABLE t (a int)").await;
    let sql = "INSERT INTO t VALUES (1), (2)";
    assert_eq!(guest.client.execute(sql, &[]).await.unwrap().total(), 2);
    let sql = "SET NOCOUNT ON; INSERT INTO t VALUES (1), (2)";
    assert_eq!(guest.client.execute(sql, &[]).await.unwrap().total(), 0);
}

#[tokio::test]
async fn what_is_too_deep_is_an_error() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let (open, close) = ("(".repeat(50), ")".repeat(50));
    assert_eq!(guest.int(&format!("SELECT {open}1{close}")).await, 1);
    assert_eq!(
        guest.int(&format!("IF {open}1{close} = 1 SELECT 2")).await,
        2
    );
    assert_eq!(
        guest.int(&format!("SELECT 0{}", " + 1".repeat(900))).await,
        900
    );
    let deep = [
        format!("SELECT {}1{}", "(".repeat(9999), ")".repeat(9999)),
        format!("SELECT {}1", "- ".repeat(9999)),
        format!("IF {}1 = 1 SELECT 1", "NOT ".repeat(9999)),
        format!("IF {}1 = 1{} SELECT 1", "(".repeat(9999), ")".repeat(9999)),
        format!("{}SELECT 1{}", "BEGIN ".repeat(9999), " END".repeat(9999)),
        format!("{}SELECT 1", "IF 1 = 1 ".repeat(9999)),
        format!("SELECT 0{}", " + 1".repeat(9999)),
        format!("IF 1 = 1{} SELECT 1", " AND 1 = 1".repeat(9999)),
        format!("SELECT {}1{}", "ABS(".repeat(9999), ")".repeat(9999)),
    ];
    for sql in deep {
        assert_eq!(guest.error(&sql).await.code(), 191, "{}", &sql[..30]);
    }
    let recursive =
        "DECLARE @s nvarchar(max) = N'EXEC sp_executesql @s, N''@s nvarchar(max)'', @s';
        EXEC sp_executesql @s, N'@s nvarchar(max)', @s";
    assert_eq!(guest.error(recursive).await.code(), 217);
}
