//! A server that wants to be left alone is.

use crate::{Place, lock, weather::Fault};
use lockwork::ErrorKind;
use std::time::{Duration, Instant};

#[tokio::test]
async fn nothing_is_asked_again_before_the_server_wants_it() {
    for header in [("retry-after", "1"), ("x-ms-retry-after-ms", "1000")] {
        let place = Place::new().await;
        let locks = place.client().await;
        place.weather.asked();
        let headers: &[_] = Box::leak(Box::new([header]));
        place
            .weather
            .next("look", Fault::Answer(503, "ServerBusy", headers));
        let guard = lock(&locks).await;
        let times = place.weather.times("look");
        let pause = times[1] - times[0];
        println!("{header:?}: asked again after {pause:?}");
        assert!(pause >= Duration::from_secs(1));
        guard.release().await.unwrap();
    }
}

#[tokio::test]
async fn nobody_waits_for_a_server_that_wants_minutes_and_nobody_asks_it() {
    let place = Place::new().await;
    let locks = place.client().await;
    place
        .weather
        .next("look", Fault::Answer(429, "", &[("retry-after", "120")]));
    for _ in 0..3 {
        let began = Instant::now();
        let error = locks.mutex("x").lock().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(
            error.is_transient() && error.to_string().contains("left alone"),
            "{error}"
        );
        assert!(began.elapsed() < Duration::from_secs(1), "too late");
    }
    // One when connecting, and one that was refused.
    assert_eq!(place.weather.asked(), ["look", "look"]);
}

#[tokio::test]
async fn what_is_held_is_renewed_and_given_back_even_so() {
    let place = Place::new().await;
    let locks = place.client().await;
    let guard = lock(&locks).await;
    place
        .weather
        .next("look", Fault::Answer(429, "", &[("retry-after", "120")]));
    assert!(locks.mutex("y").try_lock().await.is_err());
    tokio::time::sleep(crate::LEASE / 3 + Duration::from_secs(1)).await;
    assert!(!place.weather.times("renew").is_empty());
    guard.release().await.unwrap();
    place.nothing_left(Duration::from_secs(1)).await;
}
