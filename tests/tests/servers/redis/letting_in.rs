//! Whom a Redis lets in, and what they may do: by its ACL, and with TLS.

use super::redis;
use lockwork_conformance::Certificates;
use lockwork_servers::{
    RedisSettings,
    redis::{ask, ask_as},
};

#[test]
fn a_user_may_do_what_the_acl_says_and_nothing_else() {
    let settings = RedisSettings::new()
        .acl("user default off")
        .acl("user reader on >secret ~mine:* +get");
    let server = redis(settings);
    let as_reader = |words| ask_as(server.port(), "reader", "secret", words);
    server.ask(&["SET", "mine:a", "7"]).unwrap();
    assert_eq!(as_reader(&["GET", "mine:a"]).unwrap(), "7");
    for (words, code) in [
        (&["GET", "other"][..], "NOPERM"),
        (&["SET", "mine:a", "8"], "NOPERM"),
    ] {
        let refusal = as_reader(words).unwrap_err().to_string();
        assert!(refusal.contains(code), "{refusal}");
    }
    let nobody = ask(server.port(), &["GET", "mine:a"]).unwrap_err();
    assert!(nobody.to_string().contains("NOAUTH"), "{nobody}");
    let port = server.port();
    let url = format!("redis://reader:secret@127.0.0.1:{port}");
    assert_eq!(server.url_for("reader", "secret"), url);
}

#[test]
fn a_redis_with_tls_alone_has_no_plain_port_and_is_still_asked() {
    let certificates = Certificates::make();
    let good = &certificates.good;
    let settings = RedisSettings::new().tls(&good.certificate, &good.key);
    let server = redis(settings.clone().without_plain());
    assert_eq!(
        server.url(),
        format!("rediss://127.0.0.1:{}", server.port())
    );
    assert_eq!(server.tls_port(), Some(server.port()));
    assert_eq!(server.ask(&["PING"]).unwrap(), "PONG");
    assert!(ask(server.port(), &["PING"]).is_err());
    let both = redis(settings);
    assert_eq!(ask(both.port(), &["PING"]).unwrap(), "PONG");
    assert!(ask(both.tls_port().unwrap(), &["PING"]).is_err());
}
