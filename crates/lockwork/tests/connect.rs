//! Choosing a backend by URL: what works, and the sentences when it does not.

use lockwork::{ErrorKind, connect};

async fn refusal(url: &str) -> String {
    let error = connect(url)
        .await
        .expect_err("this URL cannot be connected to");
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    error.to_string()
}

#[tokio::test]
async fn everybody_who_connects_to_one_memory_url_shares_its_locks() {
    let (here, there) = (
        connect("memory:a").await.unwrap(),
        connect("memory:a").await.unwrap(),
    );
    let elsewhere = connect("memory:b").await.unwrap();
    let _guard = here.mutex("x").lock().await.unwrap();
    assert!(there.mutex("x").try_lock().await.unwrap().is_none());
    assert!(elsewhere.mutex("x").try_lock().await.unwrap().is_some());
}

#[tokio::test]
async fn an_unknown_scheme_is_refused_with_those_that_are_known() {
    let mut known = "memory, file".to_owned();
    if cfg!(feature = "postgres") {
        known += ", postgres, postgresql";
    }
    if cfg!(feature = "redis") {
        known += ", redis, rediss, redis+cluster, rediss+cluster, redis+quorum, rediss+quorum, \
                  redis+sentinel, rediss+sentinel";
    }
    if cfg!(feature = "sqlserver") {
        known += ", sqlserver, mssql";
    }
    if cfg!(feature = "azure") {
        known += ", azblob, azblob+http, azblob+https";
    }
    assert_eq!(
        refusal("zookeeper://localhost").await,
        format!("no backend answers to this URL scheme (scheme=zookeeper, known={known})")
    );
}

#[tokio::test]
async fn an_unknown_option_is_refused_with_those_that_are_known() {
    assert_eq!(
        refusal("memory:?tenor=5ms").await,
        "the URL has an unknown option (option=tenor, known=tenure)"
    );
    assert_eq!(
        refusal("memory:?tenure=5").await,
        "this option of the URL is a length of time: write 250ms, 30s or 5m (option=tenure)"
    );
    assert_eq!(
        refusal("memory:?tenure=1s&tenure=2s").await,
        "an option of a URL can be given once (option=tenure)"
    );
    assert!(connect("memory:?tenure=0").await.is_ok());
}

#[tokio::test]
async fn what_is_not_a_url_is_refused_with_an_example() {
    assert_eq!(
        refusal("localhost").await,
        "this is not a URL: write something like file:./locks or redis://localhost"
    );
}

#[tokio::test]
async fn a_file_url_may_be_relative_to_the_current_directory() {
    let directory = tempfile::tempdir().unwrap();
    std::env::set_current_dir(&directory).unwrap();
    let here = connect("file:./locks").await.unwrap();
    let path = directory.path().canonicalize().unwrap().join("locks");
    let absolute = format!("file://{}?tenure=0", path.display());
    let there = connect(&absolute).await.unwrap();
    let _guard = here.mutex("x").lock().await.unwrap();
    assert!(there.mutex("x").try_lock().await.unwrap().is_none());
}

#[tokio::test]
async fn a_file_url_with_a_host_is_refused_with_an_example() {
    assert_eq!(
        refusal("file://locks").await,
        "a file URL names a directory and no host: write file:./locks, or \
         file:///var/lib/app/locks with three slashes (host=locks)"
    );
}
