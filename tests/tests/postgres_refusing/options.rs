//! URLs that say something wrong.

use crate::{CANARY, refusal, shared, url};
use lockwork::ErrorKind::Invalid;

/// A URL that is right but for what comes after its question mark.
fn with(query: &str) -> String {
    format!("{}?{query}", url(shared().port(), "admin", "postgres"))
}

#[tokio::test]
async fn an_unknown_option_is_refused_and_the_known_ones_are_named() {
    let known = [
        "sslmode",
        "sslrootcert",
        "sslcert",
        "sslkey",
        "tenure",
        "lease",
        "quota",
        "capacity",
        "schema",
        "tokens",
        "compat",
    ];
    for unknown in ["leese=3s", "host=elsewhere", "Lease=3s"] {
        let error = refusal::of(&with(unknown)).await;
        for known in known {
            refusal::is(&error, Invalid, known);
        }
    }
    // Its value may be a secret.
    refusal::expect(
        &with(&format!("password={CANARY}")),
        Invalid,
        "option=password",
    )
    .await;
}

#[tokio::test]
async fn a_wrong_value_is_refused_and_right_ones_are_named() {
    for (query, advice) in [
        ("lease=soon", "write 250ms, 30s or 5m"),
        ("lease=30d", "at most 24 days"),
        ("tenure=-1s", "write 250ms, 30s or 5m"),
        ("quota=many", "a number"),
        ("quota=0", "one at least"),
        ("capacity=0", "one at least"),
        ("capacity=1e3", "a number"),
        ("tokens=yes", "`true` or `false`"),
        ("compat=java", "`none` or `medallion`"),
        ("sslmode=on", "verify-full, verify-ca, require"),
        ("sslrootcert=/nowhere", "option=sslrootcert"),
        ("sslcert=/nowhere", "option=sslcert"),
        ("sslkey=/nowhere", "option=sslkey"),
        ("schema=", "1 to 63 bytes"),
    ] {
        refusal::expect(&with(query), Invalid, advice).await;
    }
}

#[tokio::test]
async fn an_option_can_be_given_once() {
    refusal::expect(&with("lease=3s&lease=4s"), Invalid, "option=lease").await;
}

#[tokio::test]
async fn a_schema_cannot_have_what_would_end_a_literal() {
    for schema in ["it's", "back%5Cslash", "zero%00", &"x".repeat(64)] {
        let url = with(&format!("schema={schema}"));
        refusal::expect(&url, Invalid, "no quote, backslash or zero byte").await;
    }
}

#[tokio::test]
async fn a_password_that_was_not_escaped_is_not_shown() {
    for url in [
        format!("postgres://admin:12?{CANARY}@localhost/postgres"),
        format!("postgres://admin:12#{CANARY}@localhost/postgres"),
        format!("postgres://admin:12/{CANARY}@localhost/postgres"),
    ] {
        refusal::expect(&url, Invalid, "%40 for an @").await;
    }
    let url = format!("postgres://admin:{CANARY}?@localhost/postgres");
    refusal::expect(&url, Invalid, "this is not a URL").await;
    let url = format!("postgres://admin:{CANARY}%ff@localhost/postgres");
    refusal::expect(&url, Invalid, "%40 for an @").await;
}
