//! Linux: one inotify instance, one thread.
//!
//! What is heard is a hint and may be early: when a process is killed, the kernel tells that its
//! file was closed before it drops the lock (`__fput` in `fs/file_table.c`). So each closing is
//! echoed a few times.

use super::rounds;
use crate::place::Place;
use lockwork_core::lock::{LockId, backend::Hints};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec},
    fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    io::Errno,
};
use std::{
    collections::HashMap,
    mem::MaybeUninit,
    os::fd::OwnedFd,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

/// How long after a closing to hint again.
const ECHOES: [Duration; 3] = [
    Duration::from_micros(100),
    Duration::from_millis(1),
    Duration::from_millis(10),
];

/// Somebody is told of what happens to a file or a directory for as long as this exists.
#[derive(Debug)]
pub(super) struct Watch {
    watcher: &'static Watcher,
    descriptor: i32,
    number: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watcher.forget(self.descriptor, self.number);
    }
}

/// Watches for files taken away from the directory of `place`, or the directory itself.
pub(super) fn directory(place: &Arc<Place>) -> Option<Watch> {
    let told = WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR;
    let listener = Listener::Place(Arc::downgrade(place));
    watcher()?.watch(place.path(), told, listener)
}

/// Watches for the file at `path` being closed by whoever could write to it, or being taken away.
pub(super) fn file(path: &Path, hints: &Hints, id: &LockId) -> Option<Watch> {
    // While we have it open its removal is no `DELETE_SELF` yet, but a change of its link count.
    let told = WatchFlags::CLOSE_WRITE
        | WatchFlags::ATTRIB
        | WatchFlags::MOVE_SELF
        | WatchFlags::DONT_FOLLOW;
    let listener = Listener::Waiter(hints.clone(), id.clone());
    watcher()?.watch(path, told, listener)
}

/// Wakes the thread, to make its rounds with a place more.
pub(super) fn wake() -> bool {
    watcher().is_some_and(|watcher| rustix::io::write(&watcher.bell, &1_u64.to_ne_bytes()).is_ok())
}

#[derive(Debug)]
struct Watcher {
    events: OwnedFd,
    bell: OwnedFd,
    watched: Mutex<Watched>,
}

#[derive(Debug, Default)]
struct Watched {
    /// The system has one descriptor for each file, whoever watches it.
    by_descriptor: HashMap<i32, Vec<(u64, Listener)>>,
    /// What nobody may listen to any more.
    left: Vec<i32>,
    numbers: u64,
}

#[derive(Clone, Debug)]
enum Listener {
    Place(Weak<Place>),
    Waiter(Hints, LockId),
}

impl Listener {
    /// Something happened: to `name` in a directory, or to all of it, or to the watched file.
    fn tell(&self, name: Option<&str>) {
        match self {
            Self::Waiter(hints, id) => {
                hints.hint(id);
            }
            Self::Place(place) => match (place.upgrade(), name) {
                (Some(place), Some(name)) => place.check(name),
                (Some(place), None) => place.check_all(),
                (None, _) => {}
            },
        }
    }
}

/// The watcher of this process; `None` if the system gave none, which is said once.
fn watcher() -> Option<&'static Watcher> {
    static WATCHER: OnceLock<Option<Watcher>> = OnceLock::new();
    static STARTED: OnceLock<()> = OnceLock::new();
    let watcher = WATCHER
        .get_or_init(|| match Watcher::new() {
            Ok(watcher) => Some(watcher),
            Err(error) => {
                tracing::warn!(
                    %error,
                    "file locks look for changes every 50 ms, for inotify is not to be had: raise \
                     fs.inotify.max_user_instances"
                );
                None
            }
        })
        .as_ref()?;
    STARTED.get_or_init(|| {
        let spawned = thread::Builder::new().name("lockwork-file".into());
        let spawned = spawned.spawn(|| watcher.run());
        if let Err(error) = spawned {
            tracing::error!(%error, "file locks are told nothing: raise the limit of processes");
        }
    });
    Some(watcher)
}

impl Watcher {
    fn new() -> Result<Self, Errno> {
        Ok(Self {
            events: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            bell: rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            watched: Mutex::default(),
        })
    }

    fn watch(&'static self, path: &Path, told: WatchFlags, listener: Listener) -> Option<Watch> {
        let mut watched = self.watched();
        // Under the lock, so that its first event finds the listener.
        let added = inotify::add_watch(&self.events, path, told | WatchFlags::MASK_ADD);
        let descriptor = match added {
            Ok(descriptor) => descriptor,
            Err(error) => {
                tracing::debug!(%error, path = %path.display(), "not watched: looked at instead");
                return None;
            }
        };
        watched.numbers += 1;
        let number = watched.numbers;
        let listeners = watched.by_descriptor.entry(descriptor).or_default();
        listeners.push((number, listener));
        Some(Watch {
            watcher: self,
            descriptor,
            number,
        })
    }

    /// Leaves the rest to the thread: the system tells it of the removal, and whoever was just
    /// granted a lock would wait for that.
    fn forget(&self, descriptor: i32, number: u64) {
        let mut watched = self.watched();
        let Some(listeners) = watched.by_descriptor.get_mut(&descriptor) else {
            return;
        };
        listeners.retain(|(other, _)| *other != number);
        if listeners.is_empty() {
            watched.left.push(descriptor);
        }
    }

    /// Stops watching what nobody listens to.
    fn tidy(&self) {
        let mut watched = self.watched();
        for descriptor in std::mem::take(&mut watched.left) {
            // Under the lock, so that nobody begins to listen meanwhile.
            let listeners = watched.by_descriptor.get(&descriptor);
            if listeners.is_some_and(Vec::is_empty) {
                watched.by_descriptor.remove(&descriptor);
                // Refused only for what was removed with its file.
                let _ = inotify::remove_watch(&self.events, descriptor);
            }
        }
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        // Nothing that can panic runs under this lock.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listeners(&self, descriptor: i32) -> Vec<Listener> {
        let watched = self.watched();
        let listeners = watched.by_descriptor.get(&descriptor);
        let listeners = listeners.into_iter().flatten();
        listeners.map(|(_, listener)| listener.clone()).collect()
    }

    fn run(&self) {
        let mut echoes = Echoes::default();
        let mut rounds = rounds::begin();
        loop {
            let pause = match (echoes.play(self), rounds.go()) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            self.wait(pause);
            self.hear(&mut echoes);
            self.tidy();
        }
    }

    fn wait(&self, pause: Option<Duration>) {
        let pause = pause.and_then(|pause| Timespec::try_from(pause).ok());
        let mut sources = [
            PollFd::new(&self.events, PollFlags::IN),
            PollFd::new(&self.bell, PollFlags::IN),
        ];
        // Interrupted or not: what there is to do is looked for next.
        let _ = rustix::event::poll(&mut sources, pause.as_ref());
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    /// Takes in all events there are.
    fn hear(&self, echoes: &mut Echoes) {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut events = inotify::Reader::new(&self.events, &mut buffer);
        loop {
            match events.next() {
                Ok(event) => {
                    let name = event.file_name().and_then(|name| name.to_str().ok());
                    self.tell(event.wd(), event.events(), name, echoes);
                }
                Err(Errno::INTR) => {}
                // Nothing more for now.
                Err(_) => return,
            }
        }
    }

    fn tell(&self, descriptor: i32, what: ReadFlags, name: Option<&str>, echoes: &mut Echoes) {
        if what.contains(ReadFlags::QUEUE_OVERFLOW) {
            return self.tell_everybody();
        }
        if what.contains(ReadFlags::IGNORED) {
            self.watched().by_descriptor.remove(&descriptor);
            return;
        }
        for listener in self.listeners(descriptor) {
            listener.tell(name);
        }
        if what.contains(ReadFlags::CLOSE_WRITE) {
            echoes.add(descriptor);
        }
    }

    /// Some events were not kept: everybody looks.
    fn tell_everybody(&self) {
        let all = self
            .watched()
            .by_descriptor
            .values()
            .flatten()
            .cloned()
            .collect::<Vec<_>>();
        for (_, listener) in all {
            listener.tell(None);
        }
    }
}

/// Hints to be repeated.
#[derive(Debug, Default)]
struct Echoes {
    /// By when they are due: what is heard of which file.
    due: Vec<(Instant, i32)>,
}

impl Echoes {
    fn add(&mut self, descriptor: i32) {
        let now = Instant::now();
        // A file closed again and again is echoed from its last closing on.
        self.due.retain(|(_, other)| *other != descriptor);
        let echoes = ECHOES.iter().map(|after| (now + *after, descriptor));
        self.due.extend(echoes);
    }

    /// Repeats what is due, and says how long until there is more; `None` if there is no more.
    fn play(&mut self, watcher: &Watcher) -> Option<Duration> {
        let now = Instant::now();
        let (due, later): (Vec<_>, Vec<_>) = self.due.drain(..).partition(|(at, _)| *at <= now);
        self.due = later;
        for (_, descriptor) in due {
            for listener in watcher.listeners(descriptor) {
                listener.tell(None);
            }
        }
        let next = self.due.iter().map(|(at, _)| *at).min()?;
        Some(next.saturating_duration_since(now))
    }
}
