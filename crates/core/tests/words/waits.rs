//! Waits, deadlines, and options that say so.

use crate::common::{ms, poll_once, within};
use lockwork_core::lock::{Deadline, Instant, LockOptions, Locks, Memory, Wait};
use std::{future::pending, pin::pin, time::Duration};

#[test]
fn a_wait_of_zero_is_no_wait_and_never_forever() {
    assert_eq!(Wait::No.deadline(), Deadline::Now);
    assert_eq!(Wait::For(Duration::ZERO).deadline(), Deadline::Now);
    assert_eq!(Wait::Forever.deadline(), Deadline::Never);
    assert_eq!(Wait::default(), Wait::Forever);
    let before = Instant::now();
    let Deadline::At(when) = Wait::For(ms(100)).deadline() else {
        panic!("a length of time ends at a point in time");
    };
    assert!(when >= before + ms(100) && when <= Instant::now() + ms(100));
    let Deadline::At(when) = Wait::For(Duration::MAX).deadline() else {
        panic!("however long it is");
    };
    assert!(!when.has_passed());
}

#[test]
fn a_deadline_knows_what_is_left_of_it() {
    assert!(Deadline::Now.has_passed());
    assert!(!Deadline::Never.has_passed());
    assert_eq!(Deadline::Now.remaining(), Some(Duration::ZERO));
    assert_eq!(Deadline::Never.remaining(), None);
    let past = Deadline::At(Instant::now() - ms(1));
    assert!(past.has_passed());
    assert_eq!(past.remaining(), Some(Duration::ZERO));
    let ahead = Deadline::At(Instant::now() + ms(60_000));
    assert!(!ahead.has_passed());
    let left = ahead.remaining().unwrap();
    assert!(left <= ms(60_000) && left > ms(30_000));
}

#[test]
fn what_is_left_of_a_deadline_is_a_wait() {
    assert_eq!(Wait::from(Deadline::Never), Wait::Forever);
    assert_eq!(Wait::from(Deadline::Now).deadline(), Deadline::Now);
    let past = Deadline::At(Instant::now() - ms(1));
    assert_eq!(Wait::from(past).deadline(), Deadline::Now);
    let Wait::For(left) = Wait::from(Deadline::At(Instant::now() + ms(60_000))) else {
        panic!("something is left");
    };
    assert!(left <= ms(60_000) && left > ms(30_000));
}

#[tokio::test]
async fn an_event_is_waited_for_until_the_deadline() {
    within(ms(5000), async {
        let ready = || std::future::ready(1);
        let past = Deadline::At(Instant::now() - ms(1));
        for deadline in [Deadline::Now, past, Deadline::Never] {
            assert_eq!(deadline.wait_for(ready()).await, Some(1), "{deadline:?}");
        }
        assert_eq!(Deadline::Now.wait_for(pending::<()>()).await, None);
        assert_eq!(past.wait_for(pending::<()>()).await, None);
        let soon = Instant::now() + ms(50);
        assert_eq!(Deadline::At(soon).wait_for(pending::<()>()).await, None);
        assert!(soon.has_passed());
        let mut never = pin!(Deadline::Never.wait_for(pending::<()>()));
        assert!(poll_once(&mut never).is_pending());
    })
    .await;
}

#[test]
fn an_instant_too_far_away_is_as_far_as_can_be_counted() {
    let now = Instant::now();
    let far = now + Duration::MAX;
    assert!(far > now && !far.has_passed());
    assert_eq!(far + ms(1), far);
    assert_eq!((now - Duration::MAX).remaining(), Duration::ZERO);
    assert_eq!(far.elapsed(), Duration::ZERO);
    assert!((now - ms(5)).elapsed() >= ms(5));
}

#[tokio::test]
async fn an_acquisition_waits_as_its_options_say() {
    within(ms(5000), async {
        let mutex = Locks::new(Memory::new()).mutex("a");
        let guard = mutex.lock_with(LockOptions::default()).await.unwrap();
        assert!(guard.is_some());
        let asked_at = Instant::now();
        let no = LockOptions::new().wait(Wait::No);
        assert!(mutex.lock_with(no).await.unwrap().is_none());
        assert!(mutex.try_lock_for(Duration::ZERO).await.unwrap().is_none());
        assert!(asked_at.elapsed() < ms(100), "too late");
        let a_while = LockOptions::new().wait(Wait::For(ms(100)));
        assert!(mutex.lock_with(a_while).await.unwrap().is_none());
        assert!(asked_at.elapsed() >= ms(100));
        let forever = LockOptions::new();
        let mut waiting = Box::pin(mutex.lock_with(forever));
        assert!(poll_once(&mut waiting).is_pending());
        drop(guard);
        assert!(waiting.await.unwrap().is_some());
    })
    .await;
}
