//! A sequence whose numbers would not rise, or that is gone.

use crate::{SOON, connect, database, error_of, refusal, run, works};
use lockwork::ErrorKind::Denied;
use lockwork_conformance::within;

const CREATE: &str = "CREATE SEQUENCE lockwork.token AS bigint START WITH 1 INCREMENT BY 1";
const DROP: &str = "DROP SEQUENCE lockwork.token";

#[tokio::test]
async fn a_sequence_that_does_not_count_upwards_is_refused_until_it_does() {
    let url = database("counting");
    run("counting", ["CREATE SCHEMA lockwork"]);
    for how in [
        "START WITH 1 INCREMENT BY 1 MINVALUE 1 MAXVALUE 1000 CYCLE",
        "START WITH 1000 INCREMENT BY -1",
    ] {
        let text = format!("CREATE SEQUENCE lockwork.token AS bigint {how}");
        run("counting", [&text]);
        let words = "must count upwards and not begin anew";
        refusal::expect(&url, Denied, words).await;
        let healed = "ALTER SEQUENCE lockwork.token INCREMENT BY 1 NO CYCLE";
        run("counting", [healed]);
        let locks = connect(&url).await;
        assert!(works(&locks).await < works(&locks).await);
        run("counting", [DROP]);
    }
}

#[tokio::test]
async fn a_sequence_whose_numbers_are_too_high_for_tokens_is_refused() {
    let url = database("high");
    let high = "CREATE SEQUENCE lockwork.token AS bigint START WITH 140737488355328";
    run("high", ["CREATE SCHEMA lockwork", high]);
    refusal::expect(&url, Denied, "drop it and create it again").await;
}

#[tokio::test]
async fn a_sequence_that_has_come_to_its_end_says_so_and_goes_on_later() {
    let url = database("ending");
    let short = "CREATE SEQUENCE lockwork.token AS bigint START WITH 1 MINVALUE 1 MAXVALUE 3";
    run("ending", ["CREATE SCHEMA lockwork", short]);
    let locks = connect(&url).await;
    while let Ok(guard) = locks.mutex("a").lock().await {
        guard.release().await.unwrap();
    }
    let error = error_of(locks.mutex("a").try_lock()).await;
    refusal::is(&error, Denied, "NO MAXVALUE");
    let healed = "ALTER SEQUENCE lockwork.token RESTART WITH 4 NO MAXVALUE";
    run("ending", [healed]);
    assert!(works(&locks).await.is_some());
}

#[tokio::test]
async fn what_is_held_stays_held_when_the_sequence_is_gone() {
    let url = database("dropping");
    // Without a tenure: a reader would else read along with the first, and ask nobody.
    let locks = connect(&format!("{url}&tenure=0")).await;
    let held = locks.mutex("held").lock().await.unwrap();
    let rw = locks.rw_lock("read");
    let reader = rw.read().await.unwrap();
    run("dropping", [DROP]);
    for _ in 0..3 {
        let error = error_of(locks.mutex("other").try_lock()).await;
        refusal::is(&error, Denied, "the sequence of lockwork is gone");
        let error = error_of(rw.try_read()).await;
        refusal::is(&error, Denied, "the sequence of lockwork is gone");
    }
    assert!(held.is_valid() && reader.is_valid());
    let other = format!("{url}&tokens=false");
    let other = connect(&other).await;
    assert!(other.mutex("held").try_lock().await.unwrap().is_none());
    // What failed left nothing.
    let free = other.mutex("other").try_lock().await.unwrap();
    free.expect("nobody has it").release().await.unwrap();
    assert!(other.rw_lock("read").try_write().await.unwrap().is_none());
    run("dropping", [CREATE]);
    assert!(works(&locks).await.is_some());
    assert!(held.is_valid() && reader.is_valid());
    within(SOON, "the end", held.release()).await.unwrap();
    within(SOON, "the end", reader.release()).await.unwrap();
    let writer = other.rw_lock("read").try_write().await.unwrap();
    writer.expect("nobody reads").release().await.unwrap();
}
