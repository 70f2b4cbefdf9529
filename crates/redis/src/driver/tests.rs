//! What a URL means once the registry has read it.

use super::*;
use crate::options::Deployment;
use lockwork_core::lock::Registry;
use std::{cell::RefCell, future::Future, pin::pin, task::Context, task::Poll, task::Waker};

thread_local! {
    static READ: RefCell<Option<Url>> = const { RefCell::new(None) };
}

/// Keeps it as it comes from the registry, and connects to nobody.
const READER: Driver = Driver {
    schemes: DRIVER.schemes,
    connect: |url| {
        READ.set(Some(url));
        Box::pin(async { Err(wrong()) })
    },
};

/// The URL, or why the registry did not read it.
fn url(text: &str) -> Result<Url> {
    let registry = Registry::new().with(READER);
    let connecting = pin!(registry.connect(text));
    match connecting.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Err(error)) => READ.take().ok_or(error),
        _ => panic!("nobody connects: {text}"),
    }
}

fn options(text: &str) -> Result<Options> {
    read(&url(text)?).map(|(options, _)| options)
}

fn hosts_of(text: &str) -> Option<Vec<(String, u16)>> {
    hosts(&url(text).expect("a URL"), 6379)
}

fn some(hosts: &[(&str, u16)]) -> Option<Vec<(String, u16)>> {
    let hosts = hosts.iter().map(|(host, port)| ((*host).to_owned(), *port));
    Some(hosts.collect())
}

fn login_of(options: &Options) -> (Option<String>, Option<String>) {
    let session = options.session();
    let (user, password) = (session.username(), session.password());
    (user.map(str::to_owned), password.map(str::to_owned))
}

#[test]
fn the_nodes_of_a_cluster_are_those_of_the_url() {
    let options = options("redis+cluster://u:p@a:1,b:2,[::1]:3").expect("a cluster");
    let nodes = [("a", 1), ("b", 2), ("::1", 3)].map(|(host, port)| (host.to_owned(), port));
    assert_eq!(options.servers, nodes);
    assert_eq!(options.deployment, Deployment::Cluster);
    let login = (Some("u".to_owned()), Some("p".to_owned()));
    assert_eq!(login_of(&options), login);
}

#[test]
fn sentinels_have_a_port_of_their_own_and_a_name_before_the_database() {
    let options = options("redis+sentinel://a,b:1/name/2").expect("sentinels");
    let sentinels = [("a", 26379), ("b", 1)].map(|(host, port)| (host.to_owned(), port));
    assert_eq!(options.servers, sentinels);
    assert_eq!(options.deployment, Deployment::Sentinel("name".to_owned()));
    assert_eq!(options.session().db(), 2);
    assert_eq!(login_of(&options), (None, None));
}

#[test]
fn a_password_may_have_commas_and_at_signs_in_it() {
    for (login, password) in [
        ("u:p,q", "p,q"),
        ("u:p@q", "p@q"),
        ("u:p%40q%2C%2F%3F%23%25", "p@q,/?#%"),
        ("u:p@q,r:s", "p@q,r:s"),
        (":p,q@r", "p,q@r"),
    ] {
        for rest in ["redis://LOGIN@a:1", "redis+cluster://LOGIN@a:1,b:2"] {
            let options = options(&rest.replace("LOGIN", login)).expect("a URL");
            let user = login.starts_with('u').then(|| "u".to_owned());
            assert_eq!(login_of(&options), (user, Some(password.to_owned())));
            assert_eq!(options.servers[0], ("a".to_owned(), 1));
        }
    }
}

#[test]
fn options_after_the_question_mark_are_read() {
    let options = options("redis://a/3?lease=7s&prefix=x:y").expect("a server");
    assert_eq!(options.lease, Duration::from_secs(7));
    assert_eq!(options.prefix, "x:y");
    assert_eq!(options.session().db(), 3);
}

#[test]
fn one_host_is_one_host() {
    for (text, host) in [
        ("redis://a", ("a", 6379)),
        ("redis://a:1", ("a", 1)),
        ("redis://u:p@a:1/2?x=y", ("a", 1)),
        ("redis://[::1]", ("::1", 6379)),
        ("redis://u:p@[::1]:3", ("::1", 3)),
        ("redis://u:p,q@a:1", ("a", 1)),
        ("redis://u:p@q@a:1", ("a", 1)),
    ] {
        assert_eq!(hosts_of(text), some(&[host]), "{text}");
    }
}

#[test]
fn several_hosts_are_found_again_in_their_order() {
    let three = [("a", 1), ("b", 2), ("::1", 3)];
    for text in [
        "redis+cluster://u:p@a:1,b:2,[::1]:3",
        "redis+cluster://a:1,b:2,[::1]:3/",
        "redis+cluster://a:1,b:2,[::1]:3?prefix=x,y",
        "redis+cluster://u:p,q@a:1,b:2,[::1]:3",
        "redis+cluster://u:p@q,r@a:1,b:2,[::1]:3",
        "redis+cluster://u:p%2Cq%40r@a:1,b:2,[::1]:3/#x",
    ] {
        assert_eq!(hosts_of(text), some(&three), "{text}");
    }
    let usual = [("a", 6379), ("::1", 6379), ("b.c", 6379)];
    assert_eq!(hosts_of("redis://a,[::1],b.c/name/2"), some(&usual));
}

#[test]
fn what_is_no_host_with_a_port_is_none() {
    for hosts in [
        "a,,b",
        ",",
        "a:1,",
        "a:1,:2",
        "a:x,b",
        "a:1,b:99999",
        "a,[]:1",
    ] {
        assert_eq!(hosts_of(&format!("redis://{hosts}")), None, "{hosts}");
    }
    assert_eq!(hosts_of("redis:path"), None);
}

#[test]
fn a_password_that_ends_the_hosts_early_is_not_repeated() {
    for text in [
        "redis://u:secret/@a",
        "redis://u:secret?@a",
        "redis://u:secret#@a,b",
    ] {
        let error = options(text).expect_err("no port");
        let (told, whole) = (error.to_string(), format!("{error:?}"));
        assert!(told.contains("%2F for a /"), "{told}");
        assert!(!whole.contains("secret"), "{whole}");
    }
}
