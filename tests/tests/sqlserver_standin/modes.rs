//! Which modes go together.

use crate::guest::{Guest, server};

const MODES: [&str; 5] = [
    "IntentShared",
    "Shared",
    "Update",
    "IntentExclusive",
    "Exclusive",
];

/// The table of Microsoft's page on lock compatibility: for each mode, which others.
const TOGETHER: [[bool; 5]; 5] = [
    [true, true, true, true, false],
    [true, true, true, false, false],
    [true, true, false, false, false],
    [true, false, false, true, false],
    [false, false, false, false, false],
];

#[tokio::test]
async fn each_pair_of_modes_goes_together_or_does_not() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    for (held, row) in MODES.iter().zip(TOGETHER) {
        for (asked, together) in MODES.iter().zip(row) {
            assert_eq!(one.get("a", held, 0).await, 0);
            let test = format!("SELECT APPLOCK_TEST('public', N'a', '{asked}', 'Session')");
            assert_eq!(
                two.small(&test).await,
                i16::from(together),
                "{held} and {asked}"
            );
            let code = two.get("a", asked, 0).await;
            assert_eq!(code, if together { 0 } else { -1 }, "{held} and {asked}");
            assert_eq!(one.mode("a").await, *held);
            one.release("a").await;
            if together {
                two.release("a").await;
            }
        }
    }
}

#[tokio::test]
async fn a_mode_may_be_written_in_any_case() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    assert_eq!(guest.get("a", "eXCLUSIVE", 0).await, 0);
    assert_eq!(guest.mode("a").await, "Exclusive");
}

#[tokio::test]
async fn names_are_compared_unit_by_unit() {
    let server = server();
    let mut guest = Guest::of(&server).await;
    guest.get("Name", "Exclusive", 0).await;
    for other in ["name", "Name ", " Name", "Näme", ""] {
        assert_eq!(guest.mode(other).await, "NoLock", "{other:?}");
    }
    assert_eq!(guest.get("", "Shared", 0).await, 0);
    assert_eq!(guest.mode("").await, "Shared");
}

#[tokio::test]
async fn a_long_name_is_cut() {
    let server = server();
    let (mut one, mut two) = (Guest::of(&server).await, Guest::of(&server).await);
    let whole = "x".repeat(255);
    assert_eq!(one.get(&format!("{whole}y"), "Exclusive", 0).await, 0);
    assert_eq!(two.get(&whole, "Exclusive", 0).await, -1);
    assert_eq!(two.get(&whole[1..], "Exclusive", 0).await, 0);
    // In units of UTF-16, of which this has two each.
    let faces = "😀".repeat(128);
    assert_eq!(one.get(&faces, "Exclusive", 0).await, 0);
    assert_eq!(two.get(&"😀".repeat(200), "Exclusive", 0).await, -1);
    assert_eq!(two.get(&"😀".repeat(127), "Exclusive", 0).await, 0);
}
