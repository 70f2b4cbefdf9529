//! The role that may take the locks.

use crate::{connect, refusal, run, somebody, works};
use lockwork::ErrorKind::Denied;

#[tokio::test]
async fn a_principal_that_is_not_there_or_not_ours_is_refused_until_it_is() {
    let url = format!("{}&tokens=false&principal=lockers", somebody("members"));
    let words = "the role that principal names";
    refusal::expect(&url, Denied, words).await;
    run("members", ["CREATE ROLE lockers"]);
    refusal::expect(&url, Denied, words).await;
    run("members", ["ALTER ROLE lockers ADD MEMBER members"]);
    works(&connect(&url).await).await;
}

#[tokio::test]
async fn a_principal_that_is_taken_away_later_is_missed_by_the_next_who_asks() {
    let url = format!("{}&tokens=false&principal=crew", somebody("crew_member"));
    run(
        "crew_member",
        ["CREATE ROLE crew", "ALTER ROLE crew ADD MEMBER crew_member"],
    );
    let locks = connect(&url).await;
    works(&locks).await;
    run("crew_member", ["ALTER ROLE crew DROP MEMBER crew_member"]);
    let error = crate::error_of(locks.mutex("a").try_lock()).await;
    refusal::is(&error, Denied, "the role that principal names");
    run("crew_member", ["ALTER ROLE crew ADD MEMBER crew_member"]);
    works(&locks).await;
}
