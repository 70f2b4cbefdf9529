//! An answer that many share for a moment, so that those who ask often cost one question.

use std::{
    future::Future,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// For how long an answer is as good as a new one.
const FRESH: Duration = Duration::from_millis(250);

/// The last answer.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    last: Mutex<Option<(Instant, T)>>,
    asking: tokio::sync::Mutex<()>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self {
            last: Mutex::new(None),
            asking: tokio::sync::Mutex::new(()),
        }
    }
}

impl<T: Clone> Recent<T> {
    /// The last answer, or what `ask` gives if there is none or it is old.
    ///
    /// # Cancel safety
    /// Dropped, the next one who wants to know asks.
    pub(crate) async fn get(&self, ask: impl Future<Output = T>) -> T {
        if let Some(last) = self.last() {
            return last;
        }
        // Of many who want to know, one asks.
        let _asking = self.asking.lock().await;
        if let Some(last) = self.last() {
            return last;
        }
        let answer = ask.await;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((Instant::now(), answer.clone()));
        answer
    }

    fn last(&self) -> Option<T> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH);
        last.map(|(_, answer)| answer.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[tokio::test]
    async fn of_many_who_ask_at_once_one_asks() {
        let (recent, asked) = (Recent::default(), AtomicUsize::new(0));
        let ask = || {
            recent.get(async {
                asked.fetch_add(1, Relaxed);
                tokio::task::yield_now().await;
                7
            })
        };
        let all = futures_util::future::join_all((0..50).map(|_| ask())).await;
        assert_eq!(all, [7; 50]);
        assert_eq!(asked.load(Relaxed), 1);
    }
}
