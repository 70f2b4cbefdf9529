//! The keeper's rounds: looking into the book, renewing what is due, telling what is lost.

use super::{LeaseServer, Renewal, Shared, good_until, hold::Cell};
use crate::lock::{Instant, Loss, clock::LONGEST_NAP};
use std::{pin::pin, sync::Arc, time::Duration};
use tokio::time::timeout;

pub(super) async fn run<S: LeaseServer>(shared: Arc<Shared<S>>) {
    loop {
        let due = shared.book().due(Instant::now());
        for cell in due.expired {
            cell.signal.lose(Loss::Expired);
        }
        for batch in due.renew.chunks(shared.batch) {
            tokio::spawn(renew(shared.clone(), batch.to_vec()));
        }
        for cell in due.over {
            cell.end();
        }
        if due.ended {
            return;
        }
        match due.next {
            None => shared.wake.notified().await,
            Some(next) => {
                let nap = next.remaining().min(LONGEST_NAP);
                let _ = timeout(nap, shared.wake.notified()).await;
            }
        }
    }
}

type Lot<S> = Vec<(u64, Arc<Cell<S>>)>;

/// One call for many leases. When it takes too long another is tried, but its answer still counts:
/// on a machine too busy to be quick, giving up each call for the next would lose what a little
/// patience keeps.
async fn renew<S: LeaseServer>(shared: Arc<Shared<S>>, lot: Lot<S>) {
    let asked_at = Instant::now();
    let leases = lot.iter().map(|(_, cell)| cell.lease.clone()).collect();
    let mut call = pin!(shared.server.renew(leases));
    let answers = match timeout(patience(&lot), call.as_mut()).await {
        Ok(answers) => answers,
        Err(_) => {
            tracing::debug!(leases = lot.len(), "a renewal is slow to be answered");
            settle(&shared, &lot, asked_at, &vec![Renewal::Unknown; lot.len()]);
            match timeout(last_end(&lot).remaining(), call).await {
                Ok(answers) => answers,
                Err(_) => return,
            }
        }
    };
    let answers = match answers {
        Ok(answers) if answers.len() == lot.len() => answers,
        Ok(answers) => {
            let (asked, answered) = (lot.len(), answers.len());
            tracing::warn!(
                asked,
                answered,
                "a renewal was answered for other leases than asked"
            );
            vec![Renewal::Unknown; lot.len()]
        }
        Err(error) => {
            tracing::debug!(%error, leases = lot.len(), "leases could not be renewed yet");
            vec![Renewal::Unknown; lot.len()]
        }
    };
    settle(&shared, &lot, asked_at, &answers);
}

fn settle<S: LeaseServer>(
    shared: &Shared<S>,
    lot: &Lot<S>,
    asked_at: Instant,
    answers: &[Renewal],
) {
    for ((number, cell), answer) in lot.iter().zip(answers) {
        let good_until = good_until(asked_at, cell.time);
        let loss = shared
            .book()
            .answered(*number, *answer, good_until, Instant::now());
        if let Some(loss) = loss {
            cell.signal.lose(loss);
        }
    }
    shared.wake.notify_one();
}

/// How long to wait for an answer before asking again: several times within the shortest lease.
fn patience<S: LeaseServer>(lot: &Lot<S>) -> Duration {
    let shortest = lot
        .iter()
        .map(|(_, cell)| cell.time)
        .min()
        .unwrap_or_default();
    (shortest / 6).max(Duration::from_millis(10))
}

/// When the last of these leases ends; after that no answer helps.
fn last_end<S: LeaseServer>(lot: &Lot<S>) -> Instant {
    lot.iter()
        .map(|(_, cell)| cell.valid_until())
        .max()
        .unwrap_or_else(Instant::now)
}
