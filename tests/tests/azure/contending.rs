//! What waits and holds while others come and go.

use crate::{Place, SOON, within};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_contend_never_overlap_and_their_tokens_rise() {
    let place = Place::new().await;
    let inside = Arc::new(AtomicBool::new(false));
    let last = Arc::new(AtomicU64::new(0));
    let mut contending = Vec::new();
    for _ in 0..4 {
        let (locks, inside, last) = (place.other().await, inside.clone(), last.clone());
        contending.push(tokio::spawn(async move {
            for _ in 0..10 {
                let guard = locks.mutex("x").lock().await.unwrap();
                assert!(!inside.swap(true, Ordering::SeqCst), "two at once");
                let token = guard.token().unwrap().get();
                assert!(last.swap(token, Ordering::SeqCst) < token);
                tokio::time::sleep(Duration::from_millis(2)).await;
                inside.store(false, Ordering::SeqCst);
                guard.release().await.unwrap();
            }
        }));
    }
    for task in contending {
        within(SOON * 2, "everybody gets in", task).await.unwrap();
    }
    place.nothing_left(SOON).await;
}
