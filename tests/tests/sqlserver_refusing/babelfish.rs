//! Babelfish has no list of its locks.

use crate::{connect, error_of, examining, guarded, refusal, url, works};
use lockwork::{ErrorKind::Unsupported, Severity};
use lockwork_conformance::sqlserver::{Flavor, Settings};

#[tokio::test]
async fn babelfish_cannot_tell_who_holds_a_lock_and_that_is_said() {
    let server = guarded(Settings::new().flavor(Flavor::Babelfish));
    let locks = connect(&url(&server, "sa", "master")).await;
    let mutex = locks.mutex("a");
    let words = "keeps no list of its locks";
    refusal::is(&error_of(mutex.holders()).await, Unsupported, words);
    let error = error_of(mutex.break_lock("a test")).await;
    refusal::is(&error, Unsupported, words);
    assert!(works(&locks).await.is_some());
    let findings = examining::findings(&locks).await;
    let note = |what: &str| {
        let found = findings.iter().find(|it| it.what.contains(what));
        found.map(|it| it.severity)
    };
    assert_eq!(note("this is Babelfish"), Some(Severity::Note));
}
