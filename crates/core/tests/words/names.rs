//! Names.

use crate::{
    common::{ms, mutex_id, within},
    name, permit,
};
use lockwork_core::lock::{ErrorKind, LockId, Locks, Memory, Mode, Name, Space};

#[test]
fn a_name_is_one_to_1024_bytes_long() {
    assert!(Name::new("a").is_ok());
    assert!(Name::new(&"a".repeat(Name::MAX_BYTES)).is_ok());
    assert!(Name::new(&"ä".repeat(512)).is_ok());
    for text in [String::new(), "a".repeat(1025), "ä".repeat(513)] {
        let error = Name::new(&text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    let error = Name::new(&"a".repeat(1025)).unwrap_err();
    assert!(error.to_string().contains("bytes=1025"), "{error}");
}

#[test]
fn a_name_has_no_control_characters() {
    for text in ["\0", "a\nb", "a\tb", "a\u{7f}", "\u{85}", "\u{1b}[31m"] {
        let error = Name::new(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text:?}");
        assert!(!error.to_string().contains(char::is_control), "{text:?}");
    }
    for text in [" ", "a b", "Ä/ö:ü", "🔒", "'; drop table", "a%b*c?", "."] {
        assert_eq!(Name::new(text).unwrap().as_str(), text);
    }
    let error = Name::new("ab\nc").unwrap_err().to_string();
    assert!(error.contains("at=2") && error.contains("u{a}"), "{error}");
}

#[test]
fn names_are_compared_byte_by_byte() {
    assert_ne!(name("a"), name("A"));
    assert_ne!(name("\u{c4}"), name("A\u{308}"));
    assert_ne!(name("a"), name("a "));
    assert!(name("B") < name("a"));
    assert_eq!(name("a"), name("a"));
}

#[test]
fn a_name_can_be_made_of_any_text() {
    let expected = name("a");
    assert_eq!(Name::try_from("a").unwrap(), expected);
    assert_eq!(Name::try_from(String::from("a")).unwrap(), expected);
    assert_eq!(Name::try_from(&String::from("a")).unwrap(), expected);
    assert_eq!(Name::from(&expected), expected);
    assert_eq!(expected.to_string(), "a");
    assert!(Name::try_from(String::new()).is_err());
}

#[tokio::test]
async fn a_name_that_cannot_be_one_is_told_when_its_lock_is_asked_for() {
    within(ms(5000), async {
        let locks = Locks::new(Memory::new());
        let kinds = [
            locks.mutex("").lock().await.unwrap_err().kind(),
            locks.rw_lock("a\n").read().await.unwrap_err().kind(),
            locks.semaphore("", 1).acquire().await.unwrap_err().kind(),
            locks.all(["a", ""]).lock().await.unwrap_err().kind(),
            locks.mutex("").holders().await.unwrap_err().kind(),
        ];
        assert_eq!(kinds, [ErrorKind::Invalid; 5]);
        let none: [&str; 0] = [];
        let error = locks.all(none).lock().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let error = locks.semaphore("a", 0).acquire().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    })
    .await;
}

#[test]
fn a_lock_is_a_name_in_the_space_of_its_primitive() {
    let spaces = [Space::Mutex, Space::RwLock, Space::Semaphore];
    let ids = spaces.map(|space| LockId::new(space, name("a/b")));
    assert_eq!(
        ids.each_ref().map(ToString::to_string),
        ["mutex:a/b", "rwlock:a/b", "semaphore:a/b"]
    );
    assert_ne!(ids[0], ids[1]);
    assert!(mutex_id("a") < mutex_id("b"));
    let modes = [Mode::Exclusive, Mode::Write, permit(2)];
    assert_eq!(modes.map(Mode::space), spaces);
    for mode in [Mode::Read, Mode::Upgradeable] {
        assert_eq!(mode.space(), Space::RwLock);
    }
}
