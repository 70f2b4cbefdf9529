//! Connection strings of ADO.NET: `Server=db.example.com,1433;Database=app;User ID=app;Password=x`.
//!
//! The driver can read them too, but overlooks what it does not know. Here a key that is unknown is
//! an error: `MultipleActiveResultSets`, say, changes what a session is. No message repeats a value.

use lockwork_core::lock::{Error, ErrorKind, Result};
use std::fs;
use tiberius::{AuthMethod, Config, EncryptionLevel};

/// What means nothing to one connection that stays.
const WITHOUT_EFFECT: &[&str] = &[
    "applicationname",
    "app",
    "applicationintent",
    "commandtimeout",
    "connectretrycount",
    "connectretryinterval",
    "connecttimeout",
    "connectiontimeout",
    "timeout",
    "enlist",
    "loadbalancetimeout",
    "connectionlifetime",
    "maxpoolsize",
    "minpoolsize",
    "multisubnetfailover",
    "packetsize",
    "persistsecurityinfo",
    "pooling",
    "workstationid",
    "wsid",
];

/// What the connection string says.
#[derive(Default)]
struct Said {
    server: Option<String>,
    user: Option<String>,
    password: Option<String>,
    /// Whatever certificate the server has will do.
    any: bool,
    /// The one it must have.
    certificate: Option<Vec<u8>>,
    /// The key before.
    before: String,
}

pub(crate) fn config(text: &str) -> Result<Config> {
    let mut config = Config::new();
    let mut said = Said::default();
    for (key, value) in pairs(text)? {
        apply(&mut config, &mut said, &key, value)?;
        said.before = key;
    }
    let server = said.server.ok_or_else(|| wrong("Server is missing"))?;
    reach(&mut config, &server)?;
    let (Some(user), Some(password)) = (said.user, said.password) else {
        return Err(wrong(
            "User ID and Password are missing: lockwork logs in with both",
        ));
    };
    config.authentication(AuthMethod::sql_server(user, password));
    trust(&mut config, said.any, said.certificate)?;
    Ok(config)
}

/// The driver panics where both are said.
fn trust(config: &mut Config, any: bool, certificate: Option<Vec<u8>>) -> Result<()> {
    match certificate {
        Some(_) if any => {
            return Err(wrong(
                "who trusts any certificate needs none to compare: leave TrustServerCertificate \
                 away, or else ServerCertificate",
            ));
        }
        Some(certificate) => config.trust_cert_ca_bundle(certificate),
        None if any => config.trust_cert(),
        None => {}
    }
    Ok(())
}

fn apply(config: &mut Config, said: &mut Said, key: &str, value: String) -> Result<()> {
    match key {
        "server" | "datasource" | "address" | "addr" | "networkaddress" => {
            said.server = Some(value);
        }
        "database" | "initialcatalog" => config.database(value),
        "userid" | "uid" | "user" => said.user = Some(value),
        _ if is_password(key) => said.password = Some(value),
        "encrypt" => config.encryption(encryption(&value)?),
        "trustservercertificate" => said.any = truth(key, &value)?,
        "hostnameincertificate" => config.hostname_in_certificate(value),
        "servercertificate" => {
            let read = fs::read(&value).map_err(|error| {
                let message = "the file that ServerCertificate names cannot be read";
                Error::new(ErrorKind::Invalid, message).because(error)
            })?;
            said.certificate = Some(read);
        }
        "multipleactiveresultsets" | "mars" if truth(key, &value)? => {
            return Err(wrong(
                "locks cannot live on a connection with several results at once: leave \
                 MultipleActiveResultSets away",
            ));
        }
        "multipleactiveresultsets" | "mars" => {}
        "integratedsecurity" | "trustedconnection" | "authentication" => {
            return Err(wrong(
                "lockwork logs in with a user and a password of SQL Server: give User ID and \
                 Password, or make a configuration of the driver for Options::new",
            ));
        }
        _ if WITHOUT_EFFECT.contains(&key) => {}
        _ => return Err(unknown(key, &said.before)),
    }
    Ok(())
}

/// What comes after a password may be the rest of it, and is not repeated.
fn unknown(key: &str, before: &str) -> Error {
    if is_password(before) {
        return wrong(
            "lockwork does not know the key after Password: a password with a semicolon in it stands \
             in quotes",
        );
    }
    let message = "lockwork does not know this key of a connection string: check how it is written, \
                   or leave it away";
    wrong(message).with("key", key.to_owned())
}

fn is_password(key: &str) -> bool {
    matches!(key, "password" | "pwd")
}

/// `HOST`, `HOST,PORT`, with or without `tcp:` before it.
fn reach(config: &mut Config, server: &str) -> Result<()> {
    let server = server.strip_prefix("tcp:").unwrap_or(server);
    let (host, port) = match server.split_once(',') {
        None => (server, None),
        Some((host, port)) => (host, Some(port)),
    };
    if host.contains('\\') && port.is_none() {
        return Err(wrong(
            "a named instance is found by its port: write Server=HOST,PORT",
        ));
    }
    let host = host.split('\\').next().unwrap_or(host).trim();
    if host.is_empty() {
        return Err(wrong("Server is missing"));
    }
    // A single colon is none of an address: ADO.NET has a comma before the port.
    if host.matches(':').count() == 1 {
        return Err(wrong("Server is HOST or HOST,PORT"));
    }
    config.host(match host {
        "." | "(local)" => "localhost",
        host => host,
    });
    if let Some(port) = port {
        let port = port
            .trim()
            .parse()
            .map_err(|_| wrong("Server is HOST or HOST,PORT"))?;
        config.port(port);
    }
    Ok(())
}

fn encryption(value: &str) -> Result<EncryptionLevel> {
    match value.to_ascii_lowercase().as_str() {
        "strict" => Ok(EncryptionLevel::Strict),
        "true" | "yes" | "mandatory" => Ok(EncryptionLevel::Required),
        "false" | "no" | "optional" => Ok(EncryptionLevel::Off),
        _ => Err(wrong("Encrypt is Strict, Mandatory or Optional")),
    }
}

fn truth(key: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        _ => {
            Err(wrong("this key of a connection string is True or False")
                .with("key", key.to_owned()))
        }
    }
}

/// Keys, in small letters and without blanks, and their values.
fn pairs(text: &str) -> Result<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let mut rest = beginning(text.trim());
    while !rest.is_empty() {
        let Some((key, after)) = rest.split_once('=') else {
            return Err(wrong("a connection string is KEY=VALUE;KEY=VALUE"));
        };
        let key: String = key
            .chars()
            .filter(|letter| !letter.is_whitespace() && *letter != '_')
            .collect();
        if key.contains(';') {
            return Err(wrong(
                "a connection string is KEY=VALUE;KEY=VALUE: a value with a semicolon in it stands in \
                 quotes",
            ));
        }
        let (value, after) = value(after.trim_start())?;
        pairs.push((key.to_lowercase(), value));
        rest = beginning(after);
    }
    Ok(pairs)
}

/// Where the next key begins: semicolons with nothing between them mean nothing.
fn beginning(text: &str) -> &str {
    text.trim_start_matches(|letter: char| letter.is_whitespace() || letter == ';')
}

/// The value at the beginning, in quotes or not, and what comes after its semicolon.
fn value(text: &str) -> Result<(String, &str)> {
    let quote = text
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''));
    let Some(quote) = quote else {
        let (value, after) = text.split_once(';').unwrap_or((text, ""));
        return Ok((value.trim_end().to_owned(), after));
    };
    let mut value = String::new();
    let mut rest = &text[1..];
    loop {
        let Some((part, after)) = rest.split_once(quote) else {
            return Err(wrong("a value that begins with a quote ends with one"));
        };
        value.push_str(part);
        // Twice means itself.
        if let Some(after) = after.strip_prefix(quote) {
            value.push(quote);
            rest = after;
            continue;
        }
        let after = after.trim_start();
        return match after.strip_prefix(';') {
            Some(after) => Ok((value, after)),
            None if after.is_empty() => Ok((value, after)),
            None => Err(wrong("after a value in quotes comes a semicolon")),
        };
    }
}

fn wrong(message: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        config(text).map(drop).expect_err(text).to_string()
    }

    #[test]
    fn the_usual_strings_are_read() {
        for text in [
            "Server=tcp:db.example.com,1444;Initial Catalog=app;User ID=u;Password=p;Encrypt=True;",
            "data source = db.example.com,1444 ; DATABASE=app;uid=u;PWD='a;b=''c';Pooling=false",
            "Server=db.example.com\\X,1444;User Id=u;Password=\"p;\";MultipleActiveResultSets=False",
        ] {
            let config = config(text).expect(text);
            assert_eq!(config.get_addr(), "db.example.com:1444", "{text}");
        }
        let here = config("Server=.;User ID=u;Password=p").expect("this machine");
        assert_eq!(here.get_addr(), "localhost:1433");
    }

    #[test]
    fn values_in_quotes_may_have_anything_in_them() {
        let pairs = pairs("a=\"x;\"\"y\";b = ' z'; c=d ").expect("pairs");
        let expected = [("a", "x;\"y"), ("b", " z"), ("c", "d")];
        assert_eq!(
            pairs,
            expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn what_cannot_be_heeded_is_refused_with_the_way_out_and_without_a_value() {
        let base = "Server=h;Password=hush;User ID=u;";
        for (more, says) in [
            (
                "MultipleActiveResultSets=True",
                "leave MultipleActiveResultSets away",
            ),
            ("Integrated Security=SSPI", "give User ID and Password"),
            ("Trusted_Connection=yes", "give User ID and Password"),
            ("Encrypt=hush", "Strict, Mandatory or Optional"),
            ("Colour=hush", "key=colour"),
            ("TrustServerCertificate=hush", "True or False"),
            ("Database='hush", "ends with one"),
        ] {
            let text = refusal(&format!("{base}{more}"));
            assert!(text.contains(says), "{text}");
            assert!(!text.contains("hush"), "{text}");
        }
        assert!(refusal("Server=h\\X;User ID=u;Password=hush").contains("HOST,PORT"));
        assert!(refusal("User ID=u;Password=hush").contains("Server is missing"));
        assert!(refusal("Server=h;User ID=u").contains("Password"));
        assert!(refusal("hush").contains("KEY=VALUE"));
    }
}
