//! What is counted.

use crate::{
    common::{alone, eventually, ms, poll_once},
    moody::{Answer, Moody},
};
use lockwork_core::lock::{ErrorKind, Locks, Memory, layers::Metrics};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Recorder,
    SharedString, Unit,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Once},
};

static SEEN: Mutex<BTreeMap<String, f64>> = Mutex::new(BTreeMap::new());

/// Keeps every number under its name and labels, as `name{label=value,…}`.
struct Book;

struct Entry(String);

impl Entry {
    fn of(key: &Key) -> Arc<Self> {
        let labels = key
            .labels()
            .map(|it| format!("{}={}", it.key(), it.value()));
        let labels = labels.collect::<Vec<_>>().join(",");
        Arc::new(Self(format!("{}{{{labels}}}", key.name())))
    }

    fn add(&self, number: f64) {
        *SEEN.lock().unwrap().entry(self.0.clone()).or_default() += number;
    }
}

impl CounterFn for Entry {
    fn increment(&self, by: u64) {
        self.add(by as f64);
    }
    fn absolute(&self, _: u64) {}
}

impl GaugeFn for Entry {
    fn increment(&self, by: f64) {
        self.add(by);
    }
    fn decrement(&self, by: f64) {
        self.add(-by);
    }
    fn set(&self, _: f64) {}
}

/// Counts how many values there were.
impl HistogramFn for Entry {
    fn record(&self, value: f64) {
        assert!(
            (0.0..60.0).contains(&value),
            "seconds, and not many: {value}"
        );
        self.add(1.0);
    }
}

impl Recorder for Book {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &metrics::Metadata<'_>) -> Counter {
        Counter::from_arc(Entry::of(key))
    }
    fn register_gauge(&self, key: &Key, _: &metrics::Metadata<'_>) -> Gauge {
        Gauge::from_arc(Entry::of(key))
    }
    fn register_histogram(&self, key: &Key, _: &metrics::Metadata<'_>) -> Histogram {
        Histogram::from_arc(Entry::of(key))
    }
}

/// Nothing is known yet. Global, because losses are told on a thread of lockwork's.
fn begin() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| metrics::set_global_recorder(Book).unwrap());
    SEEN.lock().unwrap().clear();
}

fn seen(key: &str) -> f64 {
    SEEN.lock().unwrap().get(key).copied().unwrap_or_default()
}

#[tokio::test]
async fn requests_are_counted_by_outcome_and_their_waits_measured() {
    alone(ms(5000), async {
        begin();
        let locks = Locks::new(Memory::new()).layer(Metrics::new());
        let guard = locks.mutex("a").lock().await.unwrap();
        for _ in 0..2 {
            assert!(locks.mutex("a").try_lock().await.unwrap().is_none());
        }
        let mutex = locks.mutex("a");
        let mut waiting = Box::pin(mutex.lock());
        assert!(poll_once(&mut waiting).is_pending());
        drop(waiting);
        drop(guard);
        for (outcome, times) in [("granted", 1.0), ("busy", 2.0), ("abandoned", 1.0)] {
            let labels = format!("{{scheme=memory,mode=exclusive,outcome={outcome}}}");
            assert_eq!(seen(&format!("lockwork_acquisitions_total{labels}")), times);
            assert_eq!(seen(&format!("lockwork_wait_seconds{labels}")), times);
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_held_is_a_gauge_and_its_time_is_measured() {
    alone(ms(5000), async {
        begin();
        let locks = Locks::new(Memory::new()).layer(Metrics::new());
        let held = "lockwork_held{scheme=memory,mode=permit}";
        let semaphore = locks.semaphore("a", 2);
        let one = semaphore.acquire().await.unwrap();
        let other = semaphore.acquire().await.unwrap();
        assert_eq!(seen(held), 2.0);
        drop(one);
        assert_eq!(seen(held), 1.0);
        other.release().await.unwrap();
        assert_eq!(seen(held), 0.0);
        assert_eq!(
            seen("lockwork_hold_seconds{scheme=memory,mode=permit}"),
            2.0
        );
    })
    .await;
}

#[tokio::test]
async fn an_upgrade_is_a_wait_and_no_second_hold() {
    alone(ms(5000), async {
        begin();
        let locks = Locks::new(Memory::new()).layer(Metrics::new());
        let mut guard = locks.rw_lock("a").upgradeable_read().await.unwrap();
        guard.upgrade().await.unwrap();
        assert_eq!(
            seen("lockwork_acquisitions_total{scheme=memory,mode=upgrade,outcome=granted}"),
            1.0
        );
        assert_eq!(seen("lockwork_held{scheme=memory,mode=upgrade}"), 0.0);
        guard.release().await.unwrap();
        assert_eq!(seen("lockwork_held{scheme=memory,mode=upgradeable}"), 0.0);
    })
    .await;
}

#[tokio::test]
async fn a_loss_is_counted_when_it_happens() {
    alone(ms(5000), async {
        begin();
        let memory = Memory::new();
        let locks = Locks::new(memory.clone()).layer(Metrics::new());
        let guard = locks.rw_lock("a").read().await.unwrap();
        memory.forget_everything();
        let losses = "lockwork_losses_total{scheme=memory,mode=read,outcome=taken}";
        eventually("the loss is counted", || seen(losses) == 1.0).await;
        assert_eq!(seen("lockwork_held{scheme=memory,mode=read}"), 1.0);
        drop(guard);
        assert_eq!(seen("lockwork_held{scheme=memory,mode=read}"), 0.0);
        assert_eq!(seen(losses), 1.0);
    })
    .await;
}

#[tokio::test]
async fn errors_are_counted_by_kind_and_failed_releases_too() {
    alone(ms(5000), async {
        begin();
        let denied = Answer::Fails(ErrorKind::Denied);
        let moody = Moody::answering([denied, Answer::Fails(ErrorKind::Unavailable)]);
        let locks = Locks::new(moody.clone()).layer(Metrics::new());
        for kind in ["denied", "unavailable"] {
            assert!(locks.mutex("a").lock().await.is_err());
            let labels = format!("{{scheme=moody,mode=exclusive,outcome={kind}}}");
            assert_eq!(seen(&format!("lockwork_acquisitions_total{labels}")), 1.0);
        }
        let guard = locks.mutex("a").lock().await.unwrap();
        moody.fail_releases();
        assert!(guard.release().await.is_err());
        let failed = "lockwork_failed_releases_total{scheme=moody,mode=exclusive}";
        assert_eq!(seen(failed), 1.0);
    })
    .await;
}

#[tokio::test]
async fn no_label_has_a_lock_name() {
    alone(ms(5000), async {
        begin();
        let locks = Locks::new(Memory::new()).layer(Metrics::new());
        drop(locks.mutex("sesame").lock().await.unwrap());
        drop(locks.all(["sesame", "poppy"]).lock().await.unwrap());
        let keys: Vec<_> = SEEN.lock().unwrap().keys().cloned().collect();
        assert!(!keys.is_empty());
        for key in keys {
            assert!(!key.contains("sesame") && !key.contains("poppy"), "{key}");
        }
    })
    .await;
}
