//! Tokens and owners.

use crate::{common::mutex_id, name};
use lockwork_core::lock::{Deadline, Mode, OwnerId, Request, Token};

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
