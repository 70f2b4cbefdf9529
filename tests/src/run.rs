//! Making trials of the cases, and running each under a limit it cannot escape.

use crate::{
    Context, Harness, Site, View,
    cases::{self, Case, Scene},
    room::Room,
};
use libtest_mimic::{Failed, Trial};
use std::{
    panic::AssertUnwindSafe,
    path::PathBuf,
    sync::{Arc, mpsc},
    time::Duration,
};

/// How many threads to run trials on. They wait for each other where the machine does not bear so many.
#[must_use]
pub const fn at_once() -> usize {
    Room::most()
}

/// Every case on every one of `sites`. `taker` is the path of this package's binary of that name.
#[must_use]
pub fn trials(sites: &[Site], taker: PathBuf) -> Vec<Trial> {
    let required = std::env::var("LOCKWORK_REQUIRE").unwrap_or_default();
    let required: Vec<_> = required
        .split(',')
        .map(str::trim)
        .filter(|r| !r.is_empty())
        .collect();
    let place = Where {
        taker: Arc::new(taker),
        room: Room::new(),
        aside: Room::aside(),
    };
    let mut trials: Vec<_> = required
        .iter()
        .filter(|name| !sites.iter().any(|site| site.name == **name))
        // Stores of workflows, which other tests are about.
        .filter(|name| !name.starts_with("store-"))
        .map(|name| {
            absent(
                name,
                "LOCKWORK_REQUIRE names a backend this suite does not know",
                true,
            )
        })
        .collect();
    for site in sites {
        match (site.start)() {
            Ok(harness) => trials.extend(of_site(*site, harness.as_ref(), &place)),
            Err(why) => trials.push(absent(site.name, &why, required.contains(&site.name))),
        }
    }
    trials
}

/// What all cases share.
struct Where {
    taker: Arc<PathBuf>,
    room: Arc<Room>,
    /// For those that wait for many seconds.
    aside: Arc<Room>,
}

/// A trial of `work`, which has failed if it is not over after `limit`.
pub fn trial<F: Future<Output = ()>>(
    name: String,
    limit: Duration,
    work: impl FnOnce() -> F + Send + 'static,
) -> Trial {
    Trial::test(name, move || in_time(limit, move || block_on(work())))
}

/// What is not there is seen, as ignored or as a failure.
#[must_use]
pub fn absent(name: &str, why: &str, required: bool) -> Trial {
    let failure = Failed::from(format!("{name} is required and cannot be reached: {why}"));
    Trial::test(format!("{name}::is_reachable ({why})"), move || {
        Err(failure)
    })
    .with_ignored_flag(!required)
}

fn of_site(site: Site, harness: &dyn Harness, place: &Where) -> Vec<Trial> {
    let info = block_on(async {
        harness
            .client(Duration::ZERO)
            .await
            .map(|locks| locks.info())
    });
    let info = match info {
        Ok(info) => info,
        Err(error) => return vec![absent(site.name, &error.to_string(), true)],
    };
    let mut trials = Vec::new();
    for case in cases::every() {
        let views: &[View] = if case.every_view {
            &View::EVERY
        } else {
            &[View::Mutex]
        };
        for view in views.iter().copied().filter(|view| view.is_shown_by(&info)) {
            let scene = Scene { info, harness };
            if let Some(missing) = case.needs.iter().find(|need| !need.is_met(&scene)) {
                cannot_show(site.name, &case, missing.as_str(), &mut trials);
                break;
            }
            let room = match case.waits_long(harness) {
                true => &place.aside,
                false => &place.room,
            };
            trials.push(of_case(
                site,
                case,
                view,
                Arc::clone(&place.taker),
                Arc::clone(room),
            ));
        }
    }
    trials
}

/// A case the backend cannot show is listed as ignored, with the reason.
fn cannot_show(site: &str, case: &Case, why: &str, trials: &mut Vec<Trial>) {
    let name = format!("{site}::{}::{} ({why})", case.group, case.name);
    trials.push(Trial::test(name, || Ok(())).with_ignored_flag(true));
}

fn of_case(site: Site, case: Case, view: View, taker: Arc<PathBuf>, room: Arc<Room>) -> Trial {
    let as_what = if case.every_view {
        format!("::as_{}", view.as_str())
    } else {
        String::new()
    };
    let name = format!("{}::{}::{}{as_what}", site.name, case.group, case.name);
    let run: Arc<str> = format!("{}-{:x}", case.name, rand::random::<u64>()).into();
    Trial::test(name, move || {
        let _place = room.enter();
        let harness = (site.start)().map_err(Failed::from)?;
        let cx = Context {
            harness,
            view,
            taker,
            run,
        };
        in_time(case.limit, move || block_on((case.body)(cx)))
    })
}

/// Runs `work` on a thread of its own and does not wait longer than `limit` for it.
fn in_time(limit: Duration, work: impl FnOnce() + Send + 'static) -> Result<(), Failed> {
    let (done, outcome) = mpsc::channel();
    std::thread::spawn(move || {
        let result = std::panic::catch_unwind(AssertUnwindSafe(work));
        let _ = done.send(result.map_err(|panic| message(panic.as_ref())));
    });
    match outcome.recv_timeout(limit) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(message)) => Err(message.into()),
        Err(_) => Err(format!("it was not over after {limit:?}").into()),
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it panicked without a message").to_owned()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(work)
}
