//! Errors, losses and reports.

use crate::common::{ms, poll_once, within};
use lockwork_core::lock::{Error, ErrorKind, Finding, Loss, Lost, Report, Severity};
use std::error::Error as _;

#[test]
fn an_error_is_a_sentence_with_details() {
    let plain = Error::new(ErrorKind::Denied, "no entry");
    assert_eq!(plain.to_string(), "no entry");
    let detailed = plain.clone().with("lock", "a").with("code", 42);
    assert_eq!(detailed.to_string(), "no entry (lock=a, code=42)");
    assert_eq!(detailed.kind(), ErrorKind::Denied);
    assert!(plain.source().is_none());
}

#[test]
fn an_error_tells_its_cause_apart() {
    let cause = Error::new(ErrorKind::Unexpected, "the deep cause");
    let error = Error::new(ErrorKind::Unavailable, "on top").because(cause);
    assert_eq!(error.to_string(), "on top");
    assert_eq!(error.source().unwrap().to_string(), "the deep cause");
    let copied = error.clone();
    assert_eq!(copied.source().unwrap().to_string(), "the deep cause");
    assert!(format!("{error:?}").contains("the deep cause"));
    let text = Error::new(ErrorKind::Unavailable, "on top").because("in words");
    assert_eq!(text.source().unwrap().to_string(), "in words");
}

#[test]
fn only_what_is_unavailable_is_transient_unless_said_otherwise() {
    for kind in [
        ErrorKind::Lost,
        ErrorKind::Deadlock,
        ErrorKind::Unsupported,
        ErrorKind::Invalid,
        ErrorKind::Denied,
        ErrorKind::Closed,
        ErrorKind::Unexpected,
    ] {
        assert!(!Error::new(kind, "x").is_transient(), "{kind:?}");
        assert!(Error::new(kind, "x").transient(true).is_transient());
    }
    let away = Error::new(ErrorKind::Unavailable, "x");
    assert!(away.is_transient());
    assert!(!away.transient(false).is_transient());
}

#[test]
fn a_loss_is_an_error_that_says_why() {
    let all = [
        Loss::Expired,
        Loss::Taken,
        Loss::Disconnected,
        Loss::HeldTooLong,
    ];
    for loss in all {
        let error = Error::from(loss);
        assert_eq!(error.kind(), ErrorKind::Lost);
        assert!(!error.is_transient());
        assert_eq!(loss.to_string(), loss.as_str());
        assert_eq!(error.to_string(), format!("the lock was lost (why={loss})"));
    }
}

#[tokio::test]
async fn the_first_loss_is_the_one_that_counts() {
    within(ms(5000), async {
        let (signal, lost) = Lost::signal();
        assert_eq!(lost.get(), None);
        let other = lost.clone();
        signal.lose(Loss::Taken);
        signal.clone().lose(Loss::Expired);
        assert_eq!(lost.get(), Some(Loss::Taken));
        assert_eq!(lost.await, Loss::Taken);
        assert_eq!(other.await, Loss::Taken, "every clone hears of it");
    })
    .await;
}

#[tokio::test]
async fn any_of_several_is_lost_when_one_is() {
    within(ms(5000), async {
        let ((first, one), (second, two)) = (Lost::signal(), Lost::signal());
        let any = Lost::any([Lost::never(), one, two]);
        assert_eq!(any.get(), None);
        let mut waiting = any.clone().into_future();
        assert!(poll_once(&mut waiting).is_pending());
        second.lose(Loss::Disconnected);
        assert_eq!(waiting.await, Loss::Disconnected);
        assert_eq!(any.get(), Some(Loss::Disconnected));
        drop(first);
        assert!(poll_once(&mut Lost::never().into_future()).is_pending());
        assert!(poll_once(&mut Lost::any([]).into_future()).is_pending());
    })
    .await;
}

#[test]
fn a_report_is_safe_unless_a_finding_breaks_a_promise() {
    let finding = |severity| Finding::new(severity, "it is so", "do this");
    assert!(Report::default().is_safe());
    let mild = vec![finding(Severity::Note), finding(Severity::Warning)];
    assert!(Report::new(mild.clone()).is_safe());
    let bad = [mild, vec![finding(Severity::Unsafe)]].concat();
    assert!(!Report::new(bad).is_safe());
    let printed = finding(Severity::Warning).to_string();
    assert_eq!(printed, "warning: it is so; do this");
}
