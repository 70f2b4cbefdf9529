//! The keeper's rounds: looking into the book, renewing what is due, telling what is lost.

use super::{LeaseServer, Renewal, Shared, good_until, hold::Cell};
use crate::lock::{Instant, Loss};
use std::{sync::Arc, time::Duration};

/// The timer underneath stops while the machine is suspended, so nobody sleeps for longer than
/// this while leases are kept: after a suspend, what ran out is noticed soon.
const LONGEST_NAP: Duration = Duration::from_secs(1);

pub(super) async fn run<S: LeaseServer>(shared: Arc<Shared<S>>) {
    loop {
        let due = shared.book().due(Instant::now());
        for cell in due.expired {
            cell.signal.lose(Loss::Expired);
        }
        for batch in due.renew.chunks(shared.batch) {
            tokio::spawn(renew(shared.clone(), batch.to_vec()));
        }
        if due.over {
            return;
        }
        match due.next {
            None => shared.wake.notified().await,
            Some(next) => {
                let nap = next.remaining().min(LONGEST_NAP);
                let _ = tokio::time::timeout(nap, shared.wake.notified()).await;
            }
        }
    }
}

async fn renew<S: LeaseServer>(shared: Arc<Shared<S>>, batch: Vec<(u64, Arc<Cell<S>>)>) {
    let asked_at = Instant::now();
    let leases = batch.iter().map(|(_, cell)| cell.lease.clone()).collect();
    let answers = tokio::time::timeout(patience(&batch), shared.server.renew(leases)).await;
    let answers = match answers {
        Ok(Ok(answers)) if answers.len() == batch.len() => answers,
        Ok(Ok(answers)) => {
            let (asked, answered) = (batch.len(), answers.len());
            tracing::warn!(
                asked,
                answered,
                "a renewal was answered for other leases than asked"
            );
            vec![Renewal::Unknown; batch.len()]
        }
        Ok(Err(error)) => {
            tracing::debug!(%error, leases = batch.len(), "leases could not be renewed yet");
            vec![Renewal::Unknown; batch.len()]
        }
        Err(_) => {
            tracing::debug!(leases = batch.len(), "a renewal was not answered in time");
            vec![Renewal::Unknown; batch.len()]
        }
    };
    for ((number, cell), answer) in batch.into_iter().zip(answers) {
        let good_until = good_until(asked_at, cell.time);
        let loss = shared
            .book()
            .answered(number, answer, good_until, Instant::now());
        if let Some(loss) = loss {
            cell.signal.lose(loss);
        }
    }
    shared.wake.notify_one();
}

/// How long to wait for one answer: short enough for several tries within the shortest lease.
fn patience<S: LeaseServer>(batch: &[(u64, Arc<Cell<S>>)]) -> Duration {
    let shortest = batch
        .iter()
        .map(|(_, cell)| cell.time)
        .min()
        .unwrap_or_default();
    (shortest / 6).max(Duration::from_millis(10))
}
