//! What `doctor` finds, and what it warns of.

use crate::{LEASE, SOON, client, server, within};
use lockwork::{Guard, Loss, Report, Severity};
use lockwork_servers::{Redis, RedisSettings};

fn worst(report: &Report) -> Option<Severity> {
    let severities = report.findings.iter().map(|finding| finding.severity);
    severities.max()
}

fn says(report: &Report, severity: Severity, word: &str) {
    let found = report.findings.iter().find(|f| f.what.contains(word));
    let found = found.unwrap_or_else(|| panic!("{word}: {report:?}"));
    assert_eq!(found.severity, severity, "{found}");
    println!("{found}");
}

#[tokio::test]
async fn locks_that_are_evicted_are_lost_and_doctor_says_that_they_can_be() {
    let settings = RedisSettings::new().max_memory(8 << 20, "allkeys-lru");
    let server = Redis::start(settings).unwrap();
    let locks = client(server.port()).await;
    let report = locks.doctor().await.unwrap();
    assert!(!report.is_safe());
    says(&report, Severity::Unsafe, "allkeys-lru");
    let mut guards = Vec::new();
    for number in 0..100 {
        guards.push(locks.mutex(number.to_string()).lock().await.unwrap());
    }
    let fill = "for i = 1, 1000 do \
                redis.call('SET', ARGV[1] .. ':' .. i, string.rep('x', 1000)) end";
    for round in 0..30 {
        let round = round.to_string();
        server.ask(&["EVAL", fill, "0", &round]).unwrap();
    }
    let lost = async {
        while guards.iter().all(Guard::is_valid) {
            tokio::time::sleep(LEASE / 100).await;
        }
    };
    within(LEASE, "a loss is told", lost).await;
    let losses = guards.iter().filter_map(|guard| guard.lost().get());
    let losses: Vec<_> = losses.collect();
    println!("{} of 100 locks were evicted", losses.len());
    assert!(losses.iter().all(|loss| *loss == Loss::Taken), "{losses:?}");
    let report = within(SOON, "a report", locks.doctor()).await.unwrap();
    says(&report, Severity::Warning, "maxmemory are in use");
}

#[tokio::test]
async fn doctor_warns_of_a_server_that_keeps_nothing_on_disk() {
    let server = server();
    let report = client(server.port()).await.doctor().await.unwrap();
    says(&report, Severity::Warning, "append-only");
    assert!(report.is_safe());
}

#[tokio::test]
async fn doctor_warns_of_replicas() {
    let server = Redis::start(RedisSettings::new().durable()).unwrap();
    let _replica = server.replica(RedisSettings::new()).unwrap();
    let report = client(server.port()).await.doctor().await.unwrap();
    says(&report, Severity::Warning, "1 replica");
}

#[tokio::test]
async fn doctor_has_nothing_against_a_server_that_keeps_everything() {
    let server = Redis::start(RedisSettings::new().durable()).unwrap();
    let report = client(server.port()).await.doctor().await.unwrap();
    assert!(report.is_safe());
    assert!(worst(&report) <= Some(Severity::Note), "{report:?}");
}
