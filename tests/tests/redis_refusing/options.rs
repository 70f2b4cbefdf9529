//! URLs that say something wrong.

use crate::{CANARY, refusal, shared, url};
use lockwork::ErrorKind::Invalid;

const ESCAPE: &str = "%40 for an @, %2F for a /, %3F for a ? and %23 for a #";

/// A URL that is right but for what comes after its question mark.
fn with(query: &str) -> String {
    format!("{}?{query}", url(shared().port(), "admin"))
}

#[tokio::test]
async fn an_unknown_option_is_refused_and_the_known_ones_are_named() {
    for unknown in ["leese=3s", "host=elsewhere", "Lease=3s", "sslcert=a"] {
        let error = refusal::of(&with(unknown)).await;
        for known in ["tenure", "lease", "prefix"] {
            refusal::is(&error, Invalid, known);
        }
    }
    let encrypted = with("leese=3s").replacen("redis", "rediss", 1);
    let error = refusal::of(&encrypted).await;
    for known in ["sslrootcert", "sslcert", "sslkey", "tenure", "lease"] {
        refusal::is(&error, Invalid, known);
    }
    // Its value may be a secret.
    let secret = with(&format!("password={CANARY}"));
    refusal::expect(&secret, Invalid, "option=password").await;
}

#[tokio::test]
async fn a_wrong_value_is_refused_and_right_ones_are_named() {
    for (query, advice) in [
        ("lease=abc", "write 250ms, 30s or 5m"),
        ("lease=3", "write 250ms, 30s or 5m"),
        ("lease=1ms", "half a second at least"),
        ("lease=499ms", "half a second at least"),
        ("lease=366d", "a year at most"),
        ("tenure=-1s", "write 250ms, 30s or 5m"),
        ("prefix=", "one visible ASCII character at least"),
        ("prefix=a%7Bb", "none of {}*?[]\\"),
        ("prefix=a}b", "none of {}*?[]\\"),
        ("prefix=a%20b", "none of {}*?[]\\"),
        ("prefix=%C3%A4", "visible ASCII"),
        ("prefix=a*", "none of {}*?[]\\"),
    ] {
        refusal::expect(&with(query), Invalid, advice).await;
    }
}

#[tokio::test]
async fn an_option_can_be_given_once() {
    refusal::expect(&with("lease=3s&lease=4s"), Invalid, "option=lease").await;
}

#[tokio::test]
async fn a_database_is_a_number_that_the_server_knows() {
    let server = url(shared().port(), "admin");
    let unknown = format!("{server}/99");
    refusal::expect(&unknown, Invalid, "no such database").await;
    for database in ["abc", "-1", "1/2", "99999999999"] {
        let url = format!("{server}/{database}");
        refusal::expect(&url, Invalid, "@host:6379/0").await;
    }
    let cluster = server.replacen("redis", "redis+cluster", 1);
    refusal::expect(&format!("{cluster}/1"), Invalid, "one database only").await;
    lockwork::connect(&format!("{server}/15")).await.unwrap();
}

#[tokio::test]
async fn several_hosts_are_told_what_they_may_be() {
    for scheme in ["redis", "rediss"] {
        let url = format!("{scheme}://admin:{CANARY}@a:1,b:2");
        refusal::expect(&url, Invalid, "write redis+cluster://").await;
    }
    for hosts in ["a:1,b:x", "a,,b", ",", "a:1,:2", "a:99999,b"] {
        let url = format!("redis+cluster://admin:{CANARY}@{hosts}");
        refusal::expect(&url, Invalid, "not a URL of a Redis server").await;
    }
    let nameless = format!("redis+sentinel://admin:{CANARY}@a,b");
    refusal::expect(&nameless, Invalid, "host:26379/NAME").await;
}

#[tokio::test]
async fn a_password_that_was_not_escaped_is_not_shown() {
    let schemes = ["redis", "redis+cluster", "redis+sentinel"];
    for scheme in schemes {
        let name = if scheme.ends_with("sentinel") {
            "/name"
        } else {
            ""
        };
        for password in [
            format!("12?{CANARY}"),
            format!("12#{CANARY}"),
            format!("12/{CANARY}"),
            format!("{CANARY}?"),
            format!("{CANARY}/"),
            format!("{CANARY}#"),
            format!("{CANARY}/@"),
            format!("{CANARY},/"),
            format!("12,{CANARY}?"),
            // What looks like an option is none.
            format!("12?{CANARY}&{CANARY}&"),
            format!("12?{CANARY}=1&a"),
            format!("{CANARY}%ff"),
            format!("{CANARY}%f"),
        ] {
            let several = if scheme == "redis" {
                "[::1]:2"
            } else {
                "a:1,b:2"
            };
            for hosts in ["localhost", several] {
                let url = format!("{scheme}://admin:{password}@{hosts}{name}");
                refusal::expect(&url, Invalid, ESCAPE).await;
            }
        }
    }
}

#[tokio::test]
async fn a_password_with_signs_in_it_works_as_it_is_or_escaped() {
    let secret = format!("{CANARY}@/?#,:%[]");
    let user = [
        "ACL",
        "SETUSER",
        "signs",
        "on",
        &format!(">{secret}"),
        "~*",
        "&*",
        "+@all",
    ];
    shared().ask(&user).unwrap();
    let port = shared().port();
    for escaped in ["%40%2F%3F%23%2C%3A%25%5B%5D", "@%2F%3F%23,:%25[]"] {
        let url = format!("redis://signs:{CANARY}{escaped}@127.0.0.1:{port}");
        lockwork::connect(&url).await.unwrap();
    }
}
