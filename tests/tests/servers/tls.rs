//! Which certificates a careful client believes: libpq, to see that the bad ones are bad.

use lockwork_conformance::{Certificates, Identity};
use lockwork_servers::{Postgres, Settings, postgres::sql};

/// What a client sees that trusts the authority and looks at the name.
fn meets(certificates: &Certificates, identity: &Identity) -> Result<String, String> {
    let settings = Settings::new().tls(&identity.certificate, &identity.key);
    let server = Postgres::start(settings).unwrap();
    let url = server.url_at("localhost", server.port());
    let trusted = certificates.authority.display();
    let url = format!("{url}?sslmode=verify-full&sslrootcert={trusted}");
    let encrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    sql(&url, encrypted).map_err(|problem| problem.to_string())
}

#[test]
fn the_good_certificate_is_believed_and_no_other() {
    let certificates = Certificates::make();
    let seen = |identity| meets(&certificates, identity);
    assert_eq!(seen(&certificates.good), Ok("t".to_owned()));
    // In the words of libpq, which does not tell an old certificate from a stranger's.
    for (identity, reason) in [
        (&certificates.self_signed, "certificate verify failed"),
        (&certificates.expired, "certificate verify failed"),
        (&certificates.wrong_name, "does not match host name"),
    ] {
        let refusal = seen(identity).unwrap_err();
        assert!(refusal.contains(reason), "{refusal}");
    }
}
