//! URLs that say something wrong.

use crate::{CANARY, connect, database, error_of, refusal, run, shared, url, works};
use lockwork::ErrorKind::Invalid;

const ESCAPE: &str = "%40 for an @, %2F for a /, %3F for a ? and %23 for a #";

/// A URL that is right but for this.
fn with(query: &str) -> String {
    format!("{}&{query}", url(shared(), "sa", "master"))
}

#[tokio::test]
async fn an_unknown_option_is_refused_and_the_known_ones_are_named() {
    let known = [
        "tenure",
        "lease",
        "capacity",
        "schema",
        "principal",
        "tokens",
        "compat",
        "encrypt",
        "sslrootcert",
        "sslname",
        "sslcert",
        "sslkey",
        "trust",
    ];
    for unknown in ["leese=3s", "host=elsewhere", "Lease=3s"] {
        let error = refusal::of(&with(unknown)).await;
        for known in known {
            refusal::is(&error, Invalid, known);
        }
    }
    // Its value may be a secret.
    let secret = with(&format!("password={CANARY}"));
    refusal::expect(&secret, Invalid, "option=password").await;
}

#[tokio::test]
async fn a_wrong_value_is_refused_and_right_ones_are_named() {
    let long = format!("principal={}", "x".repeat(129));
    let longer = format!("schema={}", "x".repeat(129));
    for (query, advice) in [
        ("lease=soon", "write 250ms, 30s or 5m"),
        ("lease=0", "at least 1 s"),
        ("lease=999ms", "at least 1 s"),
        ("lease=31s", "at most 30 s"),
        ("tenure=-1s", "write 250ms, 30s or 5m"),
        ("capacity=0", "one at least"),
        ("capacity=many", "a number"),
        ("tokens=maybe", "`true` or `false`"),
        ("compat=x", "`none` or `medallion`"),
        ("encrypt=x", "`strict`, `true`, `login` or `none`"),
        ("encrypt=", "`strict`, `true`, `login` or `none`"),
        ("principal=", "1 to 128 characters"),
        (&long, "1 to 128 characters"),
        ("schema=", "1 to 128 characters"),
        ("schema=a%00b", "1 to 128 characters"),
        (&longer, "1 to 128 characters"),
    ] {
        refusal::expect(&with(query), Invalid, advice).await;
    }
    let trust = with("").replace("trust=any", "trust=x");
    refusal::expect(&trust, Invalid, "trust is `any`").await;
}

#[tokio::test]
async fn an_option_can_be_given_once() {
    refusal::expect(&with("lease=3s&lease=4s"), Invalid, "option=lease").await;
}

#[tokio::test]
async fn a_schema_may_be_called_anything() {
    let url = database("schemas");
    for (schema, written) in [
        ("a%5Bb%5Dc", "[a[b]]c]"),
        ("it's%20%22ours%22", "[it's \"ours\"]"),
        (
            "x%3B%20DROP%20SCHEMA%20dbo%3B%20--",
            "[x; DROP SCHEMA dbo; --]",
        ),
        ("%C3%A4%C3%B6", "[\u{e4}\u{f6}]"),
    ] {
        let locks = connect(&format!("{url}&schema={schema}")).await;
        assert!(works(&locks).await.is_some());
        run("schemas", [&format!("DROP SEQUENCE {written}.token")]);
    }
}

#[tokio::test]
async fn a_user_and_a_password_are_needed() {
    let port = shared().address().port();
    for login in ["", CANARY, &format!(":{CANARY}"), "sa:"] {
        let at = if login.is_empty() { "" } else { "@" };
        let url = format!("sqlserver://{login}{at}127.0.0.1:{port}/master");
        let error = error_of(lockwork::connect(&url)).await;
        refusal::is(&error, Invalid, "without a name and a password");
    }
}

#[tokio::test]
async fn one_host_is_needed_and_one_database_at_most() {
    for place in [
        "",
        "/master",
        "a:1,b:2/master",
        "a,b",
        "a/b/c",
        "a//b",
        "a/b/",
    ] {
        let url = format!("sqlserver://sa:{CANARY}@{place}");
        let error = error_of(lockwork::connect(&url)).await;
        assert_eq!(error.kind(), Invalid, "{place}: {error}");
        let text = error.to_string();
        assert!(
            text.contains("@host") || text.contains("@localhost"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_password_that_was_not_escaped_is_not_shown() {
    for password in [
        format!("12?{CANARY}"),
        format!("12#{CANARY}"),
        format!("12/{CANARY}"),
        format!("{CANARY}?"),
        format!("{CANARY}/"),
        format!("{CANARY}#"),
        format!("{CANARY}/@"),
        // What looks like an option is none.
        format!("12?{CANARY}&{CANARY}&"),
        format!("12?{CANARY}=1&a"),
        format!("{CANARY}%ff"),
        format!("{CANARY}%f"),
    ] {
        for host in ["localhost", "[::1]:2"] {
            let url = format!("sqlserver://sa:{password}@{host}/master");
            refusal::expect(&url, Invalid, ESCAPE).await;
        }
    }
}

#[tokio::test]
async fn a_password_with_signs_in_it_works_as_it_is_or_escaped() {
    database("signs");
    let secret = format!("{CANARY}@/?#,:%[];");
    run(
        "master",
        [&format!("CREATE LOGIN signs WITH PASSWORD = '{secret}'")],
    );
    run("signs", ["CREATE USER signs FOR LOGIN signs"]);
    let port = shared().address().port();
    for escaped in ["%40%2F%3F%23%2C%3A%25%5B%5D%3B", "@%2F%3F%23,:%25[];"] {
        let url = format!(
            "sqlserver://signs:{CANARY}{escaped}@127.0.0.1:{port}/signs?trust=any&tokens=false"
        );
        works(&connect(&url).await).await;
    }
}
