//! Questions that go to a server together: who is answered what, and when the next ones go.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

mod common;

use common::{ms, within};
use lockwork_core::lock::backend::line::{Courier, Failure, Line, Lines};
use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use tokio::{runtime::Handle, sync::Semaphore, task::JoinSet};

/// Says to each number the next one, once it may.
#[derive(Clone)]
struct Echo {
    may: Arc<Semaphore>,
    under_way: Arc<AtomicUsize>,
    most_under_way: Arc<AtomicUsize>,
    largest: Arc<AtomicUsize>,
}

impl Echo {
    fn new() -> Self {
        Self {
            may: Arc::new(Semaphore::new(0)),
            under_way: Arc::default(),
            most_under_way: Arc::default(),
            largest: Arc::default(),
        }
    }

    fn lines(&self) -> Lines<usize, usize> {
        let near = Line::on(&Handle::current(), self.clone());
        Lines::new(Some(near), Line::on_keeper(self.clone()))
    }
}

impl Courier for Echo {
    type Question = usize;
    type Answer = usize;

    const MOST: usize = 100;

    fn lots(&self) -> usize {
        3
    }

    fn bring(
        &self,
        questions: Vec<usize>,
    ) -> impl Future<Output = Vec<Result<usize, Failure>>> + Send + 'static {
        let echo = self.clone();
        async move {
            echo.largest.fetch_max(questions.len(), Relaxed);
            let others = echo.under_way.fetch_add(1, Relaxed);
            echo.most_under_way.fetch_max(others + 1, Relaxed);
            echo.may.acquire().await.unwrap().forget();
            echo.under_way.fetch_sub(1, Relaxed);
            questions.into_iter().map(|number| Ok(number + 1)).collect()
        }
    }
}

/// So many who each ask so often.
async fn ask_all(echo: &Echo, askers: usize, times: usize) -> HashSet<usize> {
    let lines = Arc::new(echo.lines());
    let mut tasks = JoinSet::new();
    for asker in 0..askers {
        let lines = lines.clone();
        tasks.spawn(async move {
            let first = asker * times;
            for number in first..first + times {
                assert_eq!(lines.ask(number).await.unwrap().said, number + 1);
            }
            asker
        });
    }
    tasks.join_all().await.into_iter().collect()
}

#[tokio::test]
async fn everybody_is_answered_what_it_asked_however_many_ask() {
    within(ms(20_000), async {
        let echo = Echo::new();
        echo.may.add_permits(1_000_000);
        for askers in [1, 2, 33, 100, 101, 1_000] {
            assert_eq!(ask_all(&echo, askers, 20).await.len(), askers);
        }
        assert_eq!(echo.largest.load(Relaxed), 100);
    })
    .await;
}

#[tokio::test]
async fn no_more_lots_are_under_way_than_there_may_be() {
    within(ms(20_000), async {
        let echo = Echo::new();
        let all = tokio::spawn({
            let echo = echo.clone();
            async move { ask_all(&echo, 1_000, 1).await }
        });
        while echo.under_way.load(Relaxed) < 3 {
            tokio::task::yield_now().await;
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(echo.most_under_way.load(Relaxed), 3);
        echo.may.add_permits(1_000);
        assert_eq!(all.await.unwrap().len(), 1_000);
        assert_eq!(echo.most_under_way.load(Relaxed), 3);
    })
    .await;
}

#[tokio::test]
async fn what_the_first_who_are_answered_ask_goes_before_the_last_are_answered() {
    within(ms(20_000), async {
        let echo = Echo::new();
        let all = tokio::spawn({
            let echo = echo.clone();
            async move { ask_all(&echo, 64, 2).await }
        });
        while echo.under_way.load(Relaxed) < 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!(echo.largest.load(Relaxed), 64, "they began together");
        // The first lot, and nothing of what is asked then.
        echo.may.add_permits(1);
        while echo.under_way.load(Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        echo.may.add_permits(1_000);
        assert_eq!(all.await.unwrap().len(), 64);
    })
    .await;
}
