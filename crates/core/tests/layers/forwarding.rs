//! What no layer may hide, and what layered locks share with those they are made of.

use crate::{
    common::{
        beside,
        hold::{Grants, Ledger},
        ms, mutex_id, poll_once, within,
    },
    moody::{COLLECTED, Moody},
};
use lockwork_core::lock::{
    AnyBackend, Backend, Capability, Deadline, ErrorKind, Guarantee, Hold, Info, Instant, Locks,
    Loss, Memory, Mode, Name, Request, Scope,
    layers::{Chaos, Layer, Prefix, Retry, Trace},
};
use std::time::Duration;

/// A layer that does nothing of its own must show all of this.
async fn hides_nothing(layer: impl Layer<Moody>, name_below: &str) {
    let moody = Moody::default();
    let layered = layer.layer(moody.clone());
    assert_eq!(layered.info(), moody.info());
    takes_as_asked(&layered, &moody, name_below).await;
    upgrades(&layered).await;
    takes_several(&layered).await;
    assert_eq!(layered.doctor().await.unwrap().findings.len(), 1);
    assert_eq!(layered.collect(ms(1)).await.unwrap(), COLLECTED);
    assert!(moody.is_empty());
}

fn request(name: &str, mode: Mode) -> Request {
    let deadline = Deadline::At(Instant::now() + ms(1000));
    Request::new(Name::new(name).unwrap(), mode, deadline)
}

async fn takes_as_asked<B: Backend>(layered: &B, moody: &Moody, name_below: &str) {
    let asked = request("a", Mode::Exclusive);
    let hold = layered.acquire(asked.clone()).await.unwrap().unwrap();
    let below = moody.requests().pop().unwrap();
    assert_eq!((below.owner, below.deadline), (asked.owner, asked.deadline));
    assert_eq!(below.name.as_str(), name_below);
    let seen = layered.holders(&mutex_id("a")).await.unwrap().holders;
    assert_eq!(seen[0].owner, asked.owner);
    assert!(hold.token().is_some() && hold.token() == seen[0].token);
    let listed = layered.held("").await.unwrap();
    let names: Vec<_> = listed.iter().map(|held| held.name.as_str()).collect();
    assert_eq!(names, ["a"]);
    assert!(layered.held("b").await.unwrap().is_empty());
    assert!(hold.valid_until().unwrap().remaining() > ms(1000));
    #[cfg(unix)]
    assert_eq!(hold.descriptors().unwrap().len(), 1);
    assert_eq!(layered.break_lock(&mutex_id("a")).await.unwrap(), 1);
    assert_eq!(
        within(ms(5000), hold.lost().into_future()).await,
        Loss::Taken
    );
    hold.release().await.unwrap();
    assert!(
        const { <B::Hold as Hold>::AT_ONCE },
        "a release at once got slower"
    );
}

async fn upgrades<B: Backend>(layered: &B) {
    let asked = request("a", Mode::Upgradeable);
    let mut hold = layered.acquire(asked).await.unwrap().unwrap();
    assert!(hold.token().is_none());
    assert!(hold.upgrade(Deadline::Now).await.unwrap());
    assert!(hold.token().is_some());
    hold.release().await.unwrap();
}

async fn takes_several<B: Backend>(layered: &B) {
    let requests = ["a", "b"].map(|name| request(name, Mode::Exclusive));
    let holds = layered
        .acquire_all(requests.to_vec())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(holds.len(), 2);
    assert!(
        layered
            .acquire_all(requests.to_vec())
            .await
            .unwrap()
            .is_none()
    );
    for hold in holds {
        hold.release().await.unwrap();
    }
}

#[tokio::test]
async fn trace_hides_nothing() {
    beside(ms(10_000), hides_nothing(Trace::new(), "a")).await;
}

#[tokio::test]
async fn retry_hides_nothing() {
    beside(ms(10_000), hides_nothing(Retry::new(), "a")).await;
}

#[tokio::test]
async fn prefix_hides_nothing() {
    let prefix = Prefix::new("p/").unwrap();
    beside(ms(10_000), hides_nothing(prefix, "p/a")).await;
}

#[cfg(feature = "metrics")]
#[tokio::test]
async fn metrics_hide_nothing() {
    let metrics = lockwork_core::lock::layers::Metrics::new();
    beside(ms(10_000), hides_nothing(metrics, "a")).await;
}

#[tokio::test]
async fn chaos_that_may_do_nothing_hides_nothing() {
    beside(ms(10_000), hides_nothing(Chaos::new(1), "a")).await;
}

#[tokio::test]
async fn chaos_that_will_lose_a_lock_hides_nothing_before() {
    let later = Chaos::new(1).lose(1.0, Duration::from_secs(3600));
    beside(ms(10_000), hides_nothing(later, "a")).await;
}

/// A layer that claims too much.
struct Boast;

#[derive(Debug)]
struct Boasting<B>(B);

impl<B: Backend> Layer<B> for Boast {
    type Layered = Boasting<B>;
    fn layer(self, inner: B) -> Boasting<B> {
        Boasting(inner)
    }
}

impl<B: Backend> Backend for Boasting<B> {
    type Hold = B::Hold;
    fn info(&self) -> Info {
        Info::new("boast", Scope::Cluster, Guarantee::Lease, Capability::all())
    }
    async fn acquire(&self, request: Request) -> lockwork_core::lock::Result<Option<B::Hold>> {
        self.0.acquire(request).await
    }
    async fn acquire_all(
        &self,
        requests: Vec<Request>,
    ) -> lockwork_core::lock::Result<Option<Vec<B::Hold>>> {
        self.0.acquire_all(requests).await
    }
    async fn holders(
        &self,
        id: &lockwork_core::lock::LockId,
    ) -> lockwork_core::lock::Result<lockwork_core::lock::Holders> {
        self.0.holders(id).await
    }
    async fn break_lock(
        &self,
        id: &lockwork_core::lock::LockId,
    ) -> lockwork_core::lock::Result<usize> {
        self.0.break_lock(id).await
    }
    async fn doctor(&self) -> lockwork_core::lock::Result<lockwork_core::lock::Report> {
        self.0.doctor().await
    }
}

#[tokio::test]
async fn no_layer_changes_what_locks_say_of_themselves() {
    let locks = Locks::new(Memory::new());
    assert_eq!(locks.layer(Boast).info(), locks.info());
}

#[tokio::test]
async fn layered_locks_and_those_below_exclude_each_other() {
    beside(ms(5000), async {
        let plain = Locks::new(Memory::new());
        let layered = plain.layer(Retry::new()).layer(Trace::new());
        let guard = layered.mutex("both").lock().await.unwrap();
        assert!(plain.mutex("both").try_lock().await.unwrap().is_none());
        drop(guard);
        assert!(plain.mutex("both").try_lock().await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn closing_one_closes_all_and_waits_for_every_release() {
    beside(ms(5000), async {
        let ledger = Ledger::default();
        let plain = Locks::new(Grants(ledger.clone()));
        let layered = plain.layer(Trace::new());
        let guard = layered.mutex("closing").lock().await.unwrap();
        ledger.release.close();
        drop(guard);
        let mut closing = Box::pin(plain.close());
        assert!(
            poll_once(&mut closing).is_pending(),
            "a release is under way"
        );
        let refused = layered.mutex("closing").try_lock().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Closed);
        ledger.release.open();
        closing.await;
        assert_eq!(ledger.released.get(), 1);
    })
    .await;
}

/// A layer whose holds are its own and not those of what is below.
struct Instead(Ledger);

impl<B: Backend> Layer<B> for Instead {
    type Layered = Grants;
    fn layer(self, _: B) -> Grants {
        Grants(self.0)
    }
}

#[tokio::test]
async fn closing_waits_for_what_only_a_layer_knows_to_release() {
    beside(ms(5000), async {
        let ledger = Ledger::default();
        let plain = Locks::new(Memory::new());
        let guard = plain.layer(Instead(ledger.clone())).mutex("a").lock().await;
        ledger.release.close();
        drop(guard.unwrap());
        let mut closing = Box::pin(plain.close());
        assert!(
            poll_once(&mut closing).is_pending(),
            "a release is under way"
        );
        ledger.release.open();
        closing.await;
        assert_eq!(ledger.released.get(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_layer_goes_around_what_has_no_type_any_more() {
    let any = AnyBackend::new(Memory::new());
    let layered = Retry::new().layer(any);
    let hold = layered
        .acquire(request("a", Mode::Exclusive))
        .await
        .unwrap();
    assert!(hold.is_some());
}
