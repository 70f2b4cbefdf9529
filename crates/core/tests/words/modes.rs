//! Who goes with whom.

use crate::{
    common::{ms, within},
    permit,
};
use lockwork_core::lock::{Backend, Capability, ErrorKind, Locks, Mode, Scope, backend::Present};

#[test]
fn modes_go_together_as_the_table_says() {
    use Mode::{Exclusive, Read, Upgradeable, Write};
    let together = |inside: &[Mode], next: Mode| {
        let mut present = Present::default();
        for mode in inside {
            present.add(*mode);
        }
        present.admits(next)
    };
    for (inside, next, yes) in [
        (&[][..], Exclusive, true),
        (&[Exclusive], Exclusive, false),
        (&[], Read, true),
        (&[Read], Read, true),
        (&[Read, Read], Read, true),
        (&[Upgradeable], Read, true),
        (&[Write], Read, false),
        (&[], Upgradeable, true),
        (&[Read], Upgradeable, true),
        (&[Upgradeable], Upgradeable, false),
        (&[Write], Upgradeable, false),
        (&[], Write, true),
        (&[Read], Write, false),
        (&[Upgradeable], Write, false),
        (&[Write], Write, false),
    ] {
        assert_eq!(together(inside, next), yes, "{next:?} beside {inside:?}");
    }
}

#[test]
fn a_permit_is_admitted_while_fewer_than_its_size_are_out() {
    let mut present = Present::default();
    assert!(present.admits(permit(1)));
    present.add(permit(2));
    assert!(!present.admits(permit(1)), "each size is kept by who asks");
    assert!(present.admits(permit(2)));
    present.add(permit(2));
    assert!(!present.admits(permit(2)));
    assert!(present.admits(permit(3)));
    present.remove(permit(3));
    assert!(present.admits(permit(2)), "a permit out is a permit out");
}

#[test]
fn whoever_leaves_makes_room() {
    for mode in [
        Mode::Exclusive,
        Mode::Read,
        Mode::Upgradeable,
        Mode::Write,
        permit(1),
    ] {
        let mut present = Present::default();
        assert!(present.is_empty());
        present.add(mode);
        assert!(!present.is_empty(), "{mode:?}");
        assert_eq!(present.readers(), u32::from(mode == Mode::Read));
        present.remove(mode);
        assert!(present.is_empty(), "{mode:?}");
    }
}

#[test]
fn two_parties_together_are_the_sum_of_both() {
    let of = |modes: &[Mode]| {
        let mut present = Present::default();
        modes.iter().for_each(|mode| present.add(*mode));
        present
    };
    let readers = of(&[Mode::Read]).and(of(&[Mode::Read, Mode::Upgradeable]));
    assert_eq!(readers, of(&[Mode::Read, Mode::Read, Mode::Upgradeable]));
    assert_eq!(readers.readers(), 2);
    assert!(of(&[]).and(of(&[])).is_empty());
    assert!(!of(&[Mode::Write]).and(of(&[])).admits(Mode::Read));
    assert!(!of(&[]).and(of(&[Mode::Exclusive])).admits(Mode::Exclusive));
    assert!(!of(&[permit(2)]).and(of(&[permit(2)])).admits(permit(2)));
}

#[test]
fn a_mode_has_a_word_and_perhaps_a_token() {
    let modes = [
        (Mode::Exclusive, "exclusive", true),
        (Mode::Read, "read", false),
        (Mode::Write, "write", true),
        (Mode::Upgradeable, "upgradeable", false),
        (permit(3), "permit", false),
    ];
    for (mode, word, token) in modes {
        assert_eq!((mode.as_str(), mode.has_token()), (word, token));
    }
}

#[test]
fn a_backend_has_the_modes_it_says() {
    let modes = [
        Mode::Exclusive,
        Mode::Read,
        Mode::Write,
        Mode::Upgradeable,
        permit(1),
    ];
    assert!(modes.iter().all(|mode| Capability::all().has(*mode)));
    let mutexes = modes.map(|mode| Capability::mutex_only().has(mode));
    assert_eq!(mutexes, [true, false, false, false, false]);
    let mut some = Capability::mutex_only();
    some.rw_lock = true;
    assert_eq!(
        modes.map(|mode| some.has(mode)),
        [true, true, true, false, false]
    );
    some.upgradeable = true;
    some.semaphore = true;
    assert!(modes.iter().all(|mode| some.has(*mode)));
    assert!(Scope::Process < Scope::Host && Scope::Host < Scope::Cluster);
}

#[tokio::test]
async fn a_mode_that_the_backend_has_not_is_unsupported_at_once() {
    use crate::common::leases::{LeaseBackend, Leases};
    within(ms(5000), async {
        let backend = LeaseBackend::new(Leases::answering([]), ms(1000));
        let info = backend.info();
        let locks = Locks::new(backend);
        assert_eq!(locks.info(), info, "no layer hides what it is");
        let errors = [
            locks.rw_lock("a").read().await.unwrap_err(),
            locks.rw_lock("a").write().await.unwrap_err(),
            locks.rw_lock("a").upgradeable_read().await.unwrap_err(),
            locks.semaphore("a", 2).acquire().await.unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains("backend=fake-lease"), "{error}");
        }
        assert!(locks.mutex("a").try_lock().await.unwrap().is_some());
    })
    .await;
}
