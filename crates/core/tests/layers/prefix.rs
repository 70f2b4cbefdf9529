//! Names of one's own.

use crate::common::{beside, ms};
use lockwork_core::lock::{ErrorKind, Locks, Memory, Name, layers::Prefix};

fn under(locks: &Locks, prefix: &str) -> Locks {
    locks.layer(Prefix::new(prefix).unwrap())
}

#[tokio::test]
async fn one_name_under_two_prefixes_is_two_locks() {
    beside(ms(5000), async {
        let all = Locks::new(Memory::new());
        let (billing, shipping) = (under(&all, "billing/"), under(&all, "shipping/"));
        let _billing = billing.mutex("a").lock().await.unwrap();
        let _shipping = shipping.mutex("a").try_lock().await.unwrap().unwrap();
        assert!(all.mutex("billing/a").try_lock().await.unwrap().is_none());
        assert!(all.mutex("a").try_lock().await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn a_guard_has_the_name_that_was_asked_for() {
    beside(ms(5000), async {
        let billing = under(&Locks::new(Memory::new()), "billing/");
        let guard = billing.mutex("a").lock().await.unwrap();
        assert_eq!(guard.name().as_str(), "a");
        let guards = billing.all(["c", "b"]).lock().await.unwrap();
        let names: Vec<_> = guards.iter().map(|guard| guard.name().as_str()).collect();
        assert_eq!(names, ["b", "c"]);
    })
    .await;
}

#[tokio::test]
async fn who_holds_what_is_asked_and_broken_under_the_prefix() {
    beside(ms(5000), async {
        let all = Locks::new(Memory::new());
        let billing = under(&all, "billing/");
        let guard = all.mutex("billing/a").lock().await.unwrap();
        let seen = billing.mutex("a").holders().await.unwrap();
        assert_eq!(seen.holders.len(), 1);
        assert_eq!(billing.mutex("a").break_lock("to see").await.unwrap(), 1);
        assert!(!guard.is_valid());
    })
    .await;
}

#[tokio::test]
async fn a_name_too_long_with_its_prefix_is_refused_with_a_sentence() {
    beside(ms(5000), async {
        let billing = under(&Locks::new(Memory::new()), "billing/");
        let room = Name::MAX_BYTES - "billing/".len();
        let longest = billing.mutex("x".repeat(room));
        assert!(longest.try_lock().await.unwrap().is_some());
        let too_long = "x".repeat(room + 1);
        let mutex = billing.mutex(&too_long);
        let errors = [
            mutex.try_lock().await.unwrap_err(),
            mutex.holders().await.unwrap_err(),
            mutex.break_lock("to see").await.unwrap_err(),
            billing.all([&too_long]).try_lock().await.unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains("with its prefix"), "{error}");
        }
    })
    .await;
}

#[test]
fn a_prefix_that_cannot_be_in_a_name_is_refused() {
    for text in ["", "two\nlines", &"x".repeat(1025)] {
        assert_eq!(Prefix::new(text).unwrap_err().kind(), ErrorKind::Invalid);
    }
}
