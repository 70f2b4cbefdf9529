//! The directory the locks are in: opened once, checked, and opened anew when it was replaced.

use crate::{
    Options, collect,
    errors::{refused, strange},
    file_systems,
    holds::Holds,
    names::SUFFIX,
    sys::{self, Access, Directory, Facts, Identity, Missing},
    watch::{self, Watch},
};
use lockwork_core::lock::{Error, ErrorKind, Result, backend::Hints};
use std::{
    fs::{File, FileTimes},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
    time::SystemTime,
};
use tokio::task::AbortHandle;

/// A directory of locks, as one client sees it.
#[derive(Debug)]
pub(crate) struct Place {
    /// Without links in it: where it was when it was opened.
    path: PathBuf,
    current: RwLock<Arc<Current>>,
    pub(crate) options: Options,
    /// Who holds what here, to be told when it is taken away.
    pub(crate) holds: Holds,
    /// Who waits for what here.
    pub(crate) hints: Hints,
    /// Tells this client from others, also of its own process.
    pub(crate) client: u64,
    watch: Mutex<Option<Watch>>,
    sweeping: OnceLock<AbortHandle>,
}

/// The directory that the path leads to at present.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) directory: Directory,
    pub(crate) identity: Identity,
}

/// An open file of the directory.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    /// Where it was opened.
    current: Arc<Current>,
    pub(crate) name: Arc<str>,
    pub(crate) path: PathBuf,
    pub(crate) facts: Facts,
}

impl Opened {
    /// Removes it, from where it was opened: by now its path may lead to another file.
    pub(crate) fn remove(&self) -> Result<()> {
        match self.current.directory.remove(&self.name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(refused(error, &self.path))
            }
            _ => Ok(()),
        }
    }

    /// Tells whoever watches the file, without closing it: a change of both its times is told as
    /// one of its attributes (`fsnotify_change` in `fs/attr.c`).
    pub(crate) fn ring(&self) {
        let now = SystemTime::now();
        let times = FileTimes::new().set_accessed(now).set_modified(now);
        if let Err(error) = self.file.set_times(times) {
            tracing::debug!(%error, path = %self.path.display(), "who waits was not told");
        }
    }
}

impl Place {
    pub(crate) fn open(path: &Path, options: Options) -> Result<Arc<Self>> {
        if sys::facts_at(path).is_ok_and(|there| there.is_none()) {
            make(path)?;
        }
        let path = path.canonicalize().map_err(|error| refused(error, path))?;
        let current = open_directory(&path, options)?;
        let place = Arc::new(Self {
            current: RwLock::new(Arc::new(current)),
            options,
            holds: Holds::new(path.clone()),
            hints: Hints::new(),
            client: rand::random(),
            watch: Mutex::new(None),
            sweeping: OnceLock::new(),
            path,
        });
        place.watch_directory();
        place.sweeping.get_or_init(|| collect::now_and_then(&place));
        Ok(place)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn current(&self) -> Arc<Current> {
        // Nothing that can panic runs under this lock.
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }

    /// Opens the file `name`, and sees that it is one: whoever planted something else here must
    /// not make us write to it.
    pub(crate) fn open_file(&self, name: &Arc<str>, access: Access) -> Result<Opened> {
        let made = self.try_open(name, access, Missing::Make)?;
        made.ok_or_else(|| refused(io::ErrorKind::NotFound.into(), &self.path))
    }

    /// The same; `None` if there is no such file.
    pub(crate) fn open_existing(&self, name: &Arc<str>, access: Access) -> Result<Option<Opened>> {
        self.try_open(name, access, Missing::Leave)
    }

    fn try_open(
        &self,
        name: &Arc<str>,
        access: Access,
        missing: Missing,
    ) -> Result<Option<Opened>> {
        let path = self.path.join(&**name);
        let shared = self.options.shared;
        let current = self.current();
        let opened = current.directory.open_file(name, access, missing, shared);
        let (file, facts) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(error, &path)),
        };
        self.inspect(&facts, &path)?;
        Ok(Some(Opened {
            file,
            current,
            name: name.clone(),
            path,
            facts,
        }))
    }

    fn inspect(&self, facts: &Facts, path: &Path) -> Result<()> {
        if !facts.regular {
            return Err(strange(
                "something that is not a file is where a lock file belongs: remove it",
                path,
            ));
        }
        // Removed in this moment it has none, and whoever locks it will see that.
        if facts.links > 1 {
            return Err(strange(
                "the lock file has a second name (a hard link): remove it, and see who made that",
                path,
            ));
        }
        if !self.options.shared && facts.owner != sys::user() {
            return Err(strange(
                "the lock file belongs to another user: remove it, or say shared=true",
                path,
            ));
        }
        Ok(())
    }

    /// The lock files whose names begin so.
    pub(crate) fn list(&self, beginning: &str) -> Result<Vec<Arc<str>>> {
        let refused = |error| refused(error, &self.path);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(refused)? {
            let name = entry.map_err(refused)?.file_name();
            let name = name.to_str().unwrap_or_default();
            if name.starts_with(beginning) && name.ends_with(SUFFIX) {
                names.push(name.into());
            }
        }
        Ok(names)
    }

    /// Whether the path of `opened` still leads to it, through the directory as well.
    pub(crate) fn is_in_place(&self, opened: &Opened) -> Result<bool> {
        let there = sys::identity_at(&opened.path).map_err(|e| refused(e, &opened.path))?;
        Ok(there == Some(opened.facts.identity))
    }

    /// Looks whether the directory is the one it was, and opens the new one if it is not.
    pub(crate) fn refresh(self: &Arc<Self>) -> Result<()> {
        let there = sys::identity_at(&self.path).map_err(|e| refused(e, &self.path))?;
        if there == Some(self.current().identity) {
            return Ok(());
        }
        let current = open_directory(&self.path, self.options)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(current);
        self.watch_directory();
        // What is held in the old one is lost, and with its watch goes what that had to tell.
        self.check_all();
        Ok(())
    }

    /// Whether the path still leads to the directory that is open.
    pub(crate) fn is_itself(&self) -> bool {
        sys::identity_at(&self.path).is_ok_and(|there| there == Some(self.current().identity))
    }

    /// Looks whether what is held in the file `name` is still there, and tells who waits to look.
    pub(crate) fn check(&self, name: &str) {
        if self.holds.check(name) {
            self.hints.hint_all();
        }
    }

    /// The same for everything, where something happened to the directory itself.
    pub(crate) fn check_all(&self) {
        self.holds.check_all();
        self.hints.hint_all();
    }

    /// Looks whether anything was taken away, where nobody tells.
    pub(crate) fn look(&self) {
        if self.holds.check_all() {
            self.hints.hint_all();
        }
    }

    /// Whether the system tells what happens here.
    pub(crate) fn is_told(&self) -> bool {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        watch.as_ref().is_some_and(Watch::is_told)
    }

    fn watch_directory(self: &Arc<Self>) {
        let watching = watch::directory(self);
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = Some(watching);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(sweeping) = self.sweeping.get() {
            sweeping.abort();
        }
    }
}

/// Makes a directory whose parent is there.
fn make(path: &Path) -> Result<()> {
    match sys::make_directory(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = "the lock directory's parent is missing: create it (mkdir -p)";
            Err(Error::new(ErrorKind::Invalid, message)
                .with("path", path.display())
                .because(error))
        }
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(refused(error, path)),
        _ => Ok(()),
    }
}

fn open_directory(path: &Path, options: Options) -> Result<Current> {
    let (directory, facts) = Directory::open(path).map_err(|error| {
        if error.kind() == io::ErrorKind::NotADirectory {
            let message = "this is not a directory: give the locks one of their own";
            return strange(message, path);
        }
        refused(error, path)
    })?;
    safe(&facts, path, options)?;
    if !options.any_file_system {
        file_systems::local(&directory, path)?;
    }
    Ok(Current {
        directory,
        identity: facts.identity,
    })
}

/// Refuses a directory in which somebody else could take our locks away.
fn safe(facts: &Facts, path: &Path, options: Options) -> Result<()> {
    if options.shared {
        return Ok(());
    }
    if facts.owner != sys::user() {
        return Err(strange(
            "the lock directory belongs to another user, who could take locks away: use one of \
             your own, or say shared=true",
            path,
        ));
    }
    if facts.mode & 0o022 != 0 {
        return Err(strange(
            "others may write to the lock directory and so take locks away: chmod go-w it, use \
             one of your own, or say shared=true",
            path,
        ));
    }
    Ok(())
}
