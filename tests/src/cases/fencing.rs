//! Tokens rise with each grant of a name, whatever happened between.

use super::{Case, Need, case};
use crate::{
    Context, History, View,
    context::{SOON, until, within},
};
use lockwork::{Instant, Locks, Token};
use std::{sync::Arc, time::Duration};

const TOKEN: &[Need] = &[Need::Token];

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(tokens_rise_across_release_drop_and_clients)
            .every_view()
            .needs(TOKEN),
        case!(tokens_rise_across_a_loss).needs(&[Need::Token, Need::Sever]),
        case!(tokens_rise_across_a_killed_process).needs(&[Need::Token, Need::OtherProcesses]),
        case!(tokens_survive_as_text_and_stay_positive).needs(TOKEN),
        case!(many_tasks_of_many_clients_see_tokens_in_the_order_of_their_turns).needs(TOKEN),
    ]
}

async fn next(view: View, locks: &Locks, name: &str, before: Option<Token>) -> Option<Token> {
    let guard = within(SOON, "a lock", view.lock(locks, name))
        .await
        .unwrap();
    let token = guard.token();
    assert!(
        token.is_some() || !view.has_token(),
        "a grant without a token"
    );
    assert!(
        token > before || !view.has_token(),
        "{token:?} after {before:?}"
    );
    guard.release().await.unwrap();
    token
}

async fn tokens_rise_across_release_drop_and_clients(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let _others = cx.view.prepare(&here, &name).await;
    let mut token = None;
    for _ in 0..20 {
        token = next(cx.view, &here, &name, token).await;
        drop(cx.view.lock(&here, &name).await.unwrap());
        token = next(cx.view, &there, &name, token).await;
    }
}

async fn tokens_rise_across_a_loss(cx: Context) {
    let (here, there, name) = (cx.client().await, cx.client().await, cx.name("x"));
    let mut token = None;
    for _ in 0..3 {
        let guard = here.mutex(&name).lock().await.unwrap();
        assert!(guard.token() > token);
        token = guard.token();
        cx.harness.sever().expect("needed").await;
        until(cx.harness.notice(), "the loss is noticed", || {
            !guard.is_valid()
        })
        .await;
        token = next(View::Mutex, &there, &name, token).await;
        token = next(View::Mutex, &here, &name, token).await;
    }
}

async fn tokens_rise_across_a_killed_process(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let mut token = None;
    for _ in 0..3 {
        let mut other = cx.process().await.expect("needed");
        let theirs = other.lock(&name).await;
        assert!(theirs > token, "{theirs:?} after {token:?}");
        other.kill().await;
        let limit = cx.harness.takeover();
        let guard = within(limit, "the next one gets in", locks.mutex(&name).lock())
            .await
            .unwrap();
        assert!(guard.token() > theirs);
        token = guard.token();
        guard.release().await.unwrap();
    }
}

async fn tokens_survive_as_text_and_stay_positive(cx: Context) {
    let guard = cx.client().await.mutex(cx.name("x")).lock().await.unwrap();
    let token = guard.token().expect("needed");
    assert_eq!(token.to_string().parse::<Token>(), Ok(token));
    assert!(token.get() < 1 << 63);
}

async fn many_tasks_of_many_clients_see_tokens_in_the_order_of_their_turns(cx: Context) {
    let (clients, name) = (
        [cx.client().await, cx.client().await, cx.client().await],
        cx.name("x"),
    );
    let history = Arc::new(History::new());
    let tasks: Vec<_> = (0..12)
        .map(|number| {
            let (mutex, history) = (clients[number % 3].mutex(&name), history.clone());
            tokio::spawn(async move {
                for _ in 0..25 {
                    let guard = mutex.lock().await.unwrap();
                    let from = Instant::now();
                    tokio::task::yield_now().await;
                    history.leave(from, guard.token());
                    drop(guard);
                }
            })
        })
        .collect();
    for task in tasks {
        within(
            Duration::from_secs(40),
            "every task has had its turns",
            task,
        )
        .await
        .unwrap();
    }
    assert_eq!(history.check(), 300);
}
