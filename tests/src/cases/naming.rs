//! Names: which can be, and which are the same.

use super::{Case, Need, case};
use crate::{Context, Promise};
use lockwork::ErrorKind;

pub(super) fn list() -> Vec<Case> {
    vec![
        case!(names_that_differ_in_any_byte_are_different_locks).every_view(),
        case!(names_that_cannot_be_are_refused_with_a_sentence),
        case!(the_longest_name_is_a_name).needs(&[Need::Promise(Promise::WholeNames)]),
        case!(each_primitive_has_a_name_space_of_its_own)
            .needs(&[Need::Promise(Promise::NameSpaces)]),
    ]
}

async fn names_that_differ_in_any_byte_are_different_locks(cx: Context) {
    let locks = cx.client().await;
    let long = "a".repeat(900);
    let names = [
        "x",
        "X",
        "x ",
        " x",
        "ä",
        "a\u{308}",
        "שלום",
        "\u{202e}x",
        "x\\y",
        "x/y",
        "../x",
        "x:y",
        "x{y}",
        "'; DROP TABLE x; --",
        "%00",
        "x*",
        "x?",
        &long,
        &format!("{long}b"),
        "🔒",
        "ſ",
        "s",
    ];
    let mut guards = Vec::new();
    for name in names {
        let guard = cx.view.try_lock(&locks, &cx.name(name)).await.unwrap();
        guards.push(guard.unwrap_or_else(|| panic!("{name:?} met another name")));
    }
    for name in names {
        let again = cx.view.try_lock(&locks, &cx.name(name)).await.unwrap();
        // The last permit of five is free: nobody holds the other four here.
        assert!(
            again.is_none() || cx.view == crate::View::LastPermit,
            "{name:?} was taken twice"
        );
    }
}

async fn names_that_cannot_be_are_refused_with_a_sentence(cx: Context) {
    let locks = cx.client().await;
    let huge = "x".repeat(10 * 1024 * 1024);
    let long = "x".repeat(1025);
    for name in [
        "",
        "a\0b",
        "two\nlines",
        "\u{7f}",
        "\u{85}",
        "tab\t",
        &long,
        &huge,
    ] {
        let error = locks.mutex(name).try_lock().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!error.is_transient());
        let sentence = error.to_string();
        assert!(
            sentence.contains("name") && sentence.len() < 200,
            "{sentence}"
        );
        for error in [
            locks.rw_lock(name).try_read().await.unwrap_err(),
            locks.semaphore(name, 1).try_acquire().await.unwrap_err(),
            locks.all(["fine", name]).try_lock().await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Invalid);
        }
    }
}

async fn the_longest_name_is_a_name(cx: Context) {
    let (locks, longest) = (cx.client().await, "x".repeat(1024));
    let _guard = locks.mutex(&longest).lock().await.unwrap();
    assert!(locks.mutex(&longest).try_lock().await.unwrap().is_none());
}

async fn each_primitive_has_a_name_space_of_its_own(cx: Context) {
    let (locks, name) = (cx.client().await, cx.name("x"));
    let _mutex = locks.mutex(&name).lock().await.unwrap();
    if locks.info().capability.rw_lock {
        let writer = locks.rw_lock(&name).try_write().await.unwrap();
        assert!(writer.is_some(), "a mutex met a read/write lock");
    }
    if locks.info().capability.semaphore {
        let permit = locks.semaphore(&name, 1).try_acquire().await.unwrap();
        assert!(permit.is_some(), "a mutex met a semaphore");
    }
}
