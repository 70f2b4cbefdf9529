//! The line of those who wait.

use crate::guest::{Guest, SOON, asking, server};
use lockwork_conformance::within;

#[tokio::test]
async fn who_came_first_is_served_first() {
    let server = server();
    let (mut watcher, mut holder) = (Guest::of(&server).await, Guest::of(&server).await);
    holder.get("a", "Exclusive", 0).await;
    let mut line = Vec::new();
    for count in 1..=5 {
        line.push(asking(Guest::of(&server).await, "a", "Exclusive", -1));
        watcher.until_waiting(count).await;
    }
    for (place, waiting) in line.into_iter().enumerate() {
        holder.release("a").await;
        let (code, next) = within(SOON, "the next one", waiting).await.unwrap();
        assert_eq!(code, 1);
        holder = next;
        assert_eq!(watcher.waiters().await, 4 - i32::try_from(place).unwrap());
    }
}

#[tokio::test]
async fn nobody_passes_one_who_waits() {
    let server = server();
    let (mut watcher, mut holder) = (Guest::of(&server).await, Guest::of(&server).await);
    let mut late = Guest::of(&server).await;
    holder.get("a", "Shared", 0).await;
    let writer = asking(Guest::of(&server).await, "a", "Exclusive", -1);
    watcher.until_waiting(1).await;
    // It goes with what is held, and not with what is waited for.
    assert_eq!(late.get("a", "Shared", 0).await, -1);
    let test = "SELECT APPLOCK_TEST('public', 'a', 'Shared', 'Session')";
    assert_eq!(late.small(test).await, 0);
    holder.release("a").await;
    assert_eq!(within(SOON, "the writer", writer).await.unwrap().0, 1);
}

#[tokio::test]
async fn all_that_go_together_are_let_in_together() {
    let server = server();
    let (mut watcher, mut holder) = (Guest::of(&server).await, Guest::of(&server).await);
    holder.get("a", "Exclusive", 0).await;
    let mut readers = Vec::new();
    for count in 1..=3 {
        readers.push(asking(Guest::of(&server).await, "a", "Shared", -1));
        watcher.until_waiting(count).await;
    }
    let writer = asking(Guest::of(&server).await, "a", "Exclusive", -1);
    watcher.until_waiting(4).await;
    holder.release("a").await;
    let mut inside = Vec::new();
    for reader in readers {
        let (code, reader) = within(SOON, "a reader", reader).await.unwrap();
        assert_eq!(code, 1);
        inside.push(reader);
    }
    assert!(!writer.is_finished());
    drop(inside);
    assert_eq!(within(SOON, "the writer", writer).await.unwrap().0, 1);
}

#[tokio::test]
async fn a_timeout_makes_room_for_those_behind() {
    let server = server();
    let (mut watcher, mut holder) = (Guest::of(&server).await, Guest::of(&server).await);
    holder.get("a", "Shared", 0).await;
    let writer = asking(Guest::of(&server).await, "a", "Exclusive", 150);
    watcher.until_waiting(1).await;
    let reader = asking(Guest::of(&server).await, "a", "Shared", -1);
    assert_eq!(within(SOON, "the writer", writer).await.unwrap().0, -1);
    assert_eq!(within(SOON, "the reader", reader).await.unwrap().0, 1);
}
