//! URLs.

use crate::common::{ms, within};
use lockwork_core::lock::{Connecting, Driver, Error, ErrorKind, MEMORY, Query, Registry, Result};
use std::time::Duration;
use url::Url;

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
