//! The words of the contract: names, tokens, options, deadlines, errors, and who goes with whom.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

mod common;

use common::{ms, mutex_id, poll_once, within};
use lockwork_core::lock::{
    Backend, Capability, Connecting, Deadline, Driver, Error, ErrorKind, Finding, Instant, LockId,
    LockOptions, Locks, Loss, Lost, MEMORY, Memory, Mode, Name, OwnerId, Query, Registry, Report,
    Request, Result, Scope, Severity, Space, Token, Wait, backend::Present,
};
use std::{error::Error as _, future::pending, num::NonZeroU32, pin::pin, time::Duration};
use url::Url;

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn permit(of: u32) -> Mode {
    Mode::Permit {
        of: NonZeroU32::new(of).unwrap(),
    }
}

// Names.

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

// Tokens.

#[test]
fn tokens_rise_with_the_servers_number_and_with_each_pass() {
    let number = |n| Token::from_server(n).unwrap();
    assert!(number(1) < number(2));
    let mut before = number(7);
    for _ in 0..100 {
        let passed = before.passed(1).unwrap();
        assert!(passed > before);
        before = passed;
    }
    assert_eq!(Some(before), number(7).passed(100));
    assert_eq!(number(7).passed(0), Some(number(7)));
    let last = number(7).passed(u16::MAX).unwrap();
    assert!(last < number(8), "however often it was passed on");
    assert_eq!(last.passed(1), None, "then the server is asked again");
    assert_eq!(number(7).passed(1).unwrap().passed(u16::MAX), None);
}

#[test]
fn a_server_number_is_positive_and_under_two_to_the_47() {
    assert_eq!(Token::from_server(0), None);
    assert_eq!(Token::from_server(1 << 47), None);
    assert_eq!(Token::from_server(u64::MAX), None);
    let highest = Token::from_server((1 << 47) - 1).unwrap();
    assert!(highest.passed(u16::MAX).unwrap().get() < 1 << 63);
    assert_eq!(Token::from_server(3).unwrap().get(), 3 << 16);
}

#[test]
fn a_token_is_read_back_as_it_was_written() {
    let token = Token::from_server(12_345).unwrap().passed(6).unwrap();
    assert_eq!(token.to_string(), token.get().to_string());
    assert_eq!(token.to_string().parse(), Ok(token));
    for text in ["", "0", "-1", "1.5", "x", "18446744073709551616"] {
        assert!(text.parse::<Token>().is_err(), "{text:?}");
    }
}

#[test]
fn a_token_that_was_read_is_under_two_to_the_63_like_any_other() {
    let highest = (1_u64 << 63) - 1;
    assert_eq!(highest.to_string().parse().map(Token::get), Ok(highest));
    for number in [1 << 63, u64::MAX] {
        assert!(number.to_string().parse::<Token>().is_err(), "{number}");
    }
}

// Owners.

#[test]
fn an_owner_is_random_and_prints_shortened() {
    assert_ne!(OwnerId::random(), OwnerId::random());
    let owner = OwnerId::from_bytes([0xab; 16]);
    assert_eq!(owner.as_bytes(), &[0xab; 16]);
    assert_eq!(owner.to_string(), "abababab…");
    assert_eq!(format!("{owner:?}"), "OwnerId(abababab…)");
    let request = Request::new(name("a"), Mode::Exclusive, Deadline::Now);
    assert_ne!(
        request.owner,
        Request::new(name("a"), Mode::Exclusive, Deadline::Now).owner
    );
    assert_eq!(request.clone().owner, request.owner, "kept through retries");
    assert_eq!((request.lease, request.renew), (None, true));
    assert_eq!(request.id(), mutex_id("a"));
}

// Waits and deadlines.

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

// Errors.

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

// Losses.

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

// Who goes with whom.

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
    use common::leases::{LeaseBackend, Leases};
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

// Reports.

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

// URLs.

fn query(url: &str) -> Result<Query> {
    Query::of(&url.parse().unwrap())
}

fn duration(text: &str) -> Result<Option<Duration>> {
    query(&format!("memory:?for={text}"))?.duration("for")
}

#[test]
fn a_length_of_time_is_a_number_and_a_unit() {
    for (text, expected) in [
        ("0", Duration::ZERO),
        ("0ms", Duration::ZERO),
        ("50us", Duration::from_micros(50)),
        ("250ms", ms(250)),
        ("30s", ms(30_000)),
        ("5m", ms(300_000)),
        ("2h", ms(7_200_000)),
        ("1d", ms(86_400_000)),
        ("18446744073709551615s", Duration::from_secs(u64::MAX)),
    ] {
        assert_eq!(duration(text).unwrap(), Some(expected), "{text}");
    }
    for text in [
        "",
        "5",
        "ms",
        "-1s",
        "1.5s",
        "1w",
        "5M",
        "5 s",
        " 5s",
        "1s1s",
        "18446744073709551616s",
        "18446744073709551615m",
        "18446744073709551615d",
        "٣s",
    ] {
        let error = duration(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text:?}");
        assert!(error.to_string().contains("option=for"), "{error}");
    }
    assert_eq!(query("memory:").unwrap().duration("for").unwrap(), None);
}

#[test]
fn an_option_is_parsed_or_refused_without_being_repeated() {
    let mut options = query("memory:?size=7&word=a%20b&secret=hunter2").unwrap();
    assert_eq!(options.option::<u32>("size").unwrap(), Some(7));
    assert_eq!(options.option("word").unwrap(), Some("a b".to_owned()));
    assert_eq!(options.option::<u32>("absent").unwrap(), None);
    let error = options.option::<u32>("secret").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("option=secret"));
    assert!(!format!("{error} {error:?}").contains("hunter2"));
    let error = duration("hunter2").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

#[test]
fn an_option_is_given_once() {
    let error = query("memory:?a=1&b=2&a=3").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("option=a"), "{error}");
}

#[test]
fn an_option_that_nobody_asked_for_is_an_error_that_names_the_others() {
    let mut options = query("memory:?known=1&other=hunter2").unwrap();
    options.option::<u32>("known").unwrap();
    options.duration("time").unwrap();
    let error = options.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let text = error.to_string();
    assert!(text.contains("option=other"), "{text}");
    assert!(text.contains("known=known, time"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    query("memory:").unwrap().finish().unwrap();
    query("memory:?").unwrap().finish().unwrap();
}

const ELSEWHERE: Driver = Driver {
    schemes: &["one", "two", "memory"],
    connect: elsewhere,
};

#[allow(clippy::needless_pass_by_value, reason = "a driver is given its URL")]
fn elsewhere(url: Url) -> Connecting {
    let error = Error::new(ErrorKind::Unavailable, "nobody is there").with("scheme", url.scheme());
    Box::pin(std::future::ready(Err(error)))
}

#[tokio::test]
async fn a_url_finds_the_driver_that_answers_to_its_scheme() {
    within(ms(5000), async {
        let registry = Registry::new().with(ELSEWHERE).with(MEMORY);
        for scheme in ["one", "two"] {
            let error = registry.connect(&format!("{scheme}://host")).await;
            let error = error.unwrap_err().to_string();
            assert_eq!(error, format!("nobody is there (scheme={scheme})"));
        }
        // Of two, the later counts.
        assert!(registry.connect("memory:").await.is_ok());
        let registry = Registry::new().with(MEMORY).with(ELSEWHERE);
        assert!(registry.connect("memory:").await.is_err());
        assert!(registry.connect("MEMORY:").await.is_err(), "in any case");
    })
    .await;
}

#[tokio::test]
async fn a_scheme_that_nobody_answers_to_is_an_error_that_names_the_others() {
    within(ms(5000), async {
        let registry = Registry::new()
            .with(MEMORY)
            .without("redis", "enable the feature redis");
        let error = registry.connect("nothing://host").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let text = error.to_string();
        assert!(
            text.contains("scheme=nothing") && text.contains("known=memory"),
            "{text}"
        );
        let error = registry.connect("redis://user:hunter2@host").await;
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let text = error.to_string();
        assert!(text.starts_with("enable the feature redis"), "{text}");
        assert!(!format!("{error:?}").contains("hunter2"));
        for text in ["", "memory", "//host", "no scheme:"] {
            let error = registry.connect(text).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{text:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn one_memory_url_is_one_place_for_as_long_as_anybody_uses_it() {
    within(ms(5000), async {
        let registry = Registry::new().with(MEMORY);
        let connect = |url| registry.connect(url);
        let one = connect("memory:words").await.unwrap();
        let same = connect("memory:words?tenure=0").await.unwrap();
        let other = connect("memory:others").await.unwrap();
        let nameless = connect("memory:").await.unwrap();
        let guard = one.mutex("a").lock().await.unwrap();
        assert!(same.mutex("a").try_lock().await.unwrap().is_none());
        assert!(other.mutex("a").try_lock().await.unwrap().is_some());
        assert!(nameless.mutex("a").try_lock().await.unwrap().is_some());
        drop((one, same, other));
        let again = connect("memory:words").await.unwrap();
        let held = again.mutex("a").try_lock().await.unwrap();
        assert!(held.is_none(), "a guard uses its place too");
        guard.release().await.unwrap();
        assert!(again.mutex("a").try_lock().await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn the_memory_url_has_one_option() {
    within(ms(5000), async {
        let registry = Registry::new().with(MEMORY);
        assert!(registry.connect("memory:?tenure=5ms").await.is_ok());
        for url in [
            "memory:?tenure=soon",
            "memory:?pace=5ms",
            "memory:?tenure=0&tenure=0",
        ] {
            let error = registry.connect(url).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{url}");
        }
        let error = registry.connect("memory:?pace=5ms").await.unwrap_err();
        assert!(error.to_string().contains("known=tenure"), "{error}");
    })
    .await;
}

// Options.

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
        assert!(asked_at.elapsed() < ms(100));
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
