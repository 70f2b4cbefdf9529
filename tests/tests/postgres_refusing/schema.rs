//! Schemas with names that PostgreSQL allows, and hardly anybody uses.

use crate::{canary, database};

#[tokio::test]
async fn an_unusual_schema_works() {
    let url = database("schemas");
    for schema in [
        "Weird%20Name",
        "%E9%94%81-%F0%9F%94%92",
        "with%22double%22quotes",
        "%24%24%3B--",
        "select",
        &"y".repeat(63),
    ] {
        let url = format!("{url}?schema={schema}");
        // The first time it is made, the second time it is there.
        let mut last = 0;
        for _ in 0..2 {
            let locks = lockwork::connect(&url).await.unwrap();
            let guard = locks.mutex("a").lock().await.unwrap();
            let token = guard.token().unwrap().get();
            assert!(token > last, "{schema}: {token} after {last}");
            last = token;
            guard.release().await.unwrap();
        }
    }
    canary::is_not_in_the_log();
}
