//! Names of every kind.

use crate::place::Place;

fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "a",
        "A",
        "ä",
        "a ",
        " a",
        "🔒",
        "🔒🔒",
        "it's",
        "it''s",
        "\"quoted\"",
        "[brackets]",
        "[brackets]]",
        "%_[^a]",
        "@P1",
        "a#0",
        "'; DROP SEQUENCE lockwork.token; --",
    ]
    .map(str::to_owned)
    .into();
    for length in [225, 226, 255, 256, 1023, 1024] {
        names.push("x".repeat(length));
    }
    // They differ where the server would not look.
    names.push("x".repeat(1023) + "y");
    names.push("🔒".repeat(256));
    names
}

async fn each_excludes_itself_and_nothing_else(place: &Place) {
    let (here, there) = (place.client().await, place.client().await);
    let names = names();
    let mut held = Vec::new();
    for name in &names {
        let free = here.mutex(name).try_lock().await.unwrap();
        held.push(free.unwrap_or_else(|| panic!("{name} is another's")));
    }
    for name in &names {
        let taken = there.mutex(name).try_lock().await.unwrap();
        assert!(taken.is_none(), "{name}");
    }
    for (at, guard) in held.into_iter().enumerate() {
        guard.release().await.unwrap();
        let free = there.mutex(&names[at]).try_lock().await.unwrap();
        free.unwrap().release().await.unwrap();
        if let Some(next) = names.get(at + 1) {
            assert!(
                there.mutex(next).try_lock().await.unwrap().is_none(),
                "{next}"
            );
        }
    }
}

#[tokio::test]
async fn a_name_excludes_itself_and_nothing_else_on_sql_server() {
    let place = Place::sql_server();
    each_excludes_itself_and_nothing_else(&place).await;
    place.guest().await.until_nothing_is_left().await;
}

#[tokio::test]
async fn a_name_excludes_itself_and_nothing_else_on_babelfish() {
    each_excludes_itself_and_nothing_else(&Place::babelfish()).await;
}

/// A mutex, a read/write lock and a semaphore of one name are three things.
#[tokio::test]
async fn primitives_of_one_name_do_not_exclude_each_other() {
    let place = Place::sql_server();
    let (here, there) = (place.client().await, place.client().await);
    for name in names() {
        let _mutex = here.mutex(&name).lock().await.unwrap();
        let _writer = there.rw_lock(&name).try_write().await.unwrap().unwrap();
        let semaphore = here.semaphore(&name, 1);
        let _permit = semaphore.try_acquire().await.unwrap().unwrap();
        let semaphore = there.semaphore(&name, 1);
        assert!(semaphore.try_acquire().await.unwrap().is_none());
    }
}
