//! A PostgreSQL of one's own: what it is told, and what it survives.

use super::{eventually, server};
use lockwork_servers::{
    Postgres, Settings,
    postgres::{psql, sql},
};
use std::{process::Stdio, thread, time::Duration};

#[test]
fn two_servers_know_nothing_of_each_other() {
    let (one, two) = (server(), server());
    one.sql("create table here (x int)").unwrap();
    let there = "select count(*) from pg_tables where tablename = 'here'";
    assert_eq!(one.sql(there).unwrap(), "1");
    assert_eq!(two.sql(there).unwrap(), "0");
}

#[test]
fn a_setting_is_in_force_and_the_last_one_wins() {
    let settings = Settings::new().set("max_connections", "30");
    let server = Postgres::start(settings.set("max_connections", "20")).unwrap();
    assert_eq!(server.sql("show max_connections").unwrap(), "20");
}

#[test]
fn a_server_with_a_password_lets_nobody_in_without() {
    let server = Postgres::start(Settings::new().password()).unwrap();
    assert_eq!(server.sql("select 1").unwrap(), "1");
    let wrong = server.url().replace("only-for", "not-for");
    let refusal = sql(&wrong, "select 1").unwrap_err().to_string();
    assert!(
        refusal.contains("password authentication failed"),
        "{refusal}"
    );
}

#[test]
fn a_line_of_access_rules_comes_first() {
    let settings = Settings::new().hba("host all stranger all reject");
    let server = Postgres::start(settings).unwrap();
    server.sql("create role stranger login").unwrap();
    let stranger = server.url().replace("lockwork@", "stranger@");
    let refusal = sql(&stranger, "select 1").unwrap_err().to_string();
    assert!(refusal.contains("pg_hba.conf rejects"), "{refusal}");
}

#[test]
fn a_refusal_is_an_error_with_the_words_of_the_server() {
    let refusal = server().sql("select 1/0").unwrap_err().to_string();
    assert!(refusal.contains("division by zero"), "{refusal}");
}

#[test]
fn the_log_has_what_the_server_logged() {
    let server = server();
    server
        .sql("do $$ begin raise warning 'heard'; end $$")
        .unwrap();
    eventually("a line in the log", || server.log().contains("heard"));
}

#[test]
fn a_killed_server_comes_back_with_its_data_and_its_port() {
    let server = server();
    server.sql("create table kept as select 7 as x").unwrap();
    let url = server.url();
    server.kill().unwrap();
    assert_eq!(server.pid(), None);
    assert!(server.sql("select 1").is_err());
    server.restart().unwrap();
    assert_eq!(server.url(), url);
    assert_eq!(server.sql("select x from kept").unwrap(), "7");
    assert!(server.log().contains("was not properly shut down"));
}

#[test]
fn a_stopped_server_was_shut_down_in_order() {
    let server = server();
    server.stop().unwrap();
    assert!(server.log().contains("database system is shut down"));
    server.restart().unwrap();
    assert_eq!(server.sql("select 1").unwrap(), "1");
}

#[test]
fn a_frozen_server_answers_again_once_thawed() {
    let server = server();
    let mut before = psql(&server.url(), "select pg_sleep(0.3)").unwrap();
    let mut before = before.stdout(Stdio::null()).spawn().unwrap();
    let sleeping = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'";
    eventually("a session", || server.sql(sleeping).unwrap() == "1");
    server.freeze().unwrap();
    let mut after = psql(&server.url(), "select 1").unwrap();
    let after = after.env("PGCONNECT_TIMEOUT", "20");
    let mut after = after.stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(600));
    // Neither who was in nor who comes gets anywhere.
    assert!(before.try_wait().unwrap().is_none());
    assert!(after.try_wait().unwrap().is_none());
    server.thaw();
    assert!(before.wait().unwrap().success());
    assert!(after.wait().unwrap().success());
}

#[test]
fn a_standby_reads_what_the_primary_wrote_and_writes_nothing() {
    let primary = Postgres::start(Settings::new().password()).unwrap();
    let standby = primary.standby().unwrap();
    primary.sql("create table told as select 7 as x").unwrap();
    let read = "select to_regclass('told') is not null";
    eventually("the news", || standby.sql(read).unwrap() == "t");
    let refusal = standby.sql("insert into told values (8)").unwrap_err();
    assert!(refusal.to_string().contains("read-only transaction"));
    primary.kill().unwrap();
    standby.sql("select pg_promote()").unwrap();
    standby.sql("insert into told values (8)").unwrap();
}
