//! Calls without a text.

use crate::guest::{Guest, server};
use tiberius::Command;

#[tokio::test]
async fn a_procedure_can_be_called_by_its_name() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let mut command = Command::new("sp_getapplock");
    command.bind_param("@Resource", "a");
    command.bind_param("@LockMode", "Exclusive");
    command.bind_param("@LockOwner", "Session");
    command.bind_param("@LockTimeout", 0);
    let result = command.exec(&mut guest.client).await.unwrap();
    let result = result.into_command_result().await.unwrap();
    assert_eq!(result.return_code(), 0);
    assert_eq!(guest.mode("a").await, "Exclusive");
    let mut other = Guest::of(&server).await;
    let mut command = Command::new("sys.sp_getapplock");
    command.bind_param("@Resource", "a");
    command.bind_param("@LockMode", "Shared");
    command.bind_param("@LockOwner", "Session");
    command.bind_param("@LockTimeout", 0);
    let result = command.exec(&mut other.client).await.unwrap();
    let result = result.into_command_result().await.unwrap();
    assert_eq!(result.return_code().cast_signed(), -1);
}

#[tokio::test]
async fn a_value_comes_back() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let mut command = Command::new("sp_executesql");
    command.bind_param("@stmt", "SET @b = @a + 1; RETURN 4");
    command.bind_param("@params", "@a int, @b int OUTPUT");
    command.bind_param("@a", 41);
    command.bind_out_param("@b", 0);
    let result = command.exec(&mut guest.client).await.unwrap();
    let result = result.into_command_result().await.unwrap();
    assert_eq!(result.return_code(), 4);
    assert_eq!(result.return_values_len(), 1);
    assert_eq!(result.try_return_value::<i32>("@b").unwrap(), Some(42));
}

#[tokio::test]
async fn a_procedure_that_is_not_there_is_an_error() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    let command = Command::new("sp_nothing");
    let result = command.exec(&mut guest.client).await.unwrap();
    assert!(result.into_command_result().await.is_err());
    assert_eq!(guest.int("SELECT 1").await, 1);
}
