//! Questions that go to a server together: who is answered what, and when the next ones go.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

mod common;

use common::{ms, poll_once, within, within_thread};
use lockwork_core::lock::backend::line::{Courier, Failure, Line, Lines};
use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use tokio::{
    runtime::{Builder, Handle},
    sync::Semaphore,
    task::{JoinHandle, JoinSet},
};

/// Says to each number the next one, once it may.
#[derive(Clone)]
struct Echo {
    may: Arc<Semaphore>,
    under_way: Arc<AtomicUsize>,
    most_under_way: Arc<AtomicUsize>,
    /// How many questions each lot had.
    sizes: Arc<Mutex<Vec<usize>>>,
}

impl Echo {
    fn new() -> Self {
        Self {
            may: Arc::new(Semaphore::new(0)),
            under_way: Arc::default(),
            most_under_way: Arc::default(),
            sizes: Arc::default(),
        }
    }

    fn lines(&self) -> Lines<usize, usize> {
        let near = Line::on(&Handle::current(), self.clone());
        Lines::new(Some(near), Line::on_keeper(self.clone()))
    }

    fn sizes(&self) -> Vec<usize> {
        self.sizes.lock().unwrap().clone()
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
            echo.sizes.lock().unwrap().push(questions.len());
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

/// The same in a task of its own, once so many lots are under way.
async fn once_asked(
    echo: &Echo,
    askers: usize,
    times: usize,
    lots: usize,
) -> JoinHandle<HashSet<usize>> {
    let asking = echo.clone();
    let all = tokio::spawn(async move { ask_all(&asking, askers, times).await });
    while echo.under_way.load(Relaxed) < lots {
        tokio::task::yield_now().await;
    }
    all
}

#[tokio::test]
async fn everybody_is_answered_what_it_asked_however_many_ask() {
    within(ms(20_000), async {
        let echo = Echo::new();
        echo.may.add_permits(1_000_000);
        for askers in [1, 2, 33, 100, 101, 1_000] {
            assert_eq!(ask_all(&echo, askers, 20).await.len(), askers);
        }
        assert_eq!(echo.sizes().into_iter().max(), Some(100));
    })
    .await;
}

#[tokio::test]
async fn no_more_lots_are_under_way_than_there_may_be() {
    within(ms(20_000), async {
        let echo = Echo::new();
        let all = once_asked(&echo, 1_000, 1, 3).await;
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
        let all = once_asked(&echo, 64, 2, 1).await;
        assert_eq!(echo.sizes(), [64], "they began together");
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

#[tokio::test]
async fn all_of_a_lot_are_answered_at_once_while_two_others_are_under_way() {
    within(ms(20_000), async {
        let echo = Echo::new();
        let all = once_asked(&echo, 300, 2, 3).await;
        echo.may.add_permits(1);
        while echo.sizes().len() < 4 {
            tokio::task::yield_now().await;
        }
        assert_eq!(echo.sizes(), [100; 4], "they ask together again");
        echo.may.add_permits(1_000);
        assert_eq!(all.await.unwrap().len(), 300);
    })
    .await;
}

#[test]
fn what_was_asked_on_a_runtime_that_stands_still_is_answered_on_one_without_timers() {
    within_thread(ms(10_000), || {
        let echo = Echo::new();
        echo.may.add_permits(10);
        let home = Builder::new_current_thread().enable_all().build().unwrap();
        let lines = home.block_on(async { echo.lines() });
        let mut asking = Box::pin(lines.ask(1));
        home.block_on(async { assert!(poll_once(&mut asking).is_pending()) });
        let elsewhere = Builder::new_current_thread().build().unwrap();
        let answer = elsewhere.block_on(asking).unwrap();
        assert_eq!((answer.said, answer.asked_twice), (2, true));
    });
}
