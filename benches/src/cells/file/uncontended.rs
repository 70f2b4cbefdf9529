//! Taking a lock file that nobody else wants, again and again.

use crate::{
    cell::{Outcome, Turns},
    cells::{directory, one_thread, time_each},
};
use distributed_lock_core::traits::{DistributedLock, LockProvider};
use distributed_lock_file::FileLockProvider;
use lockwork::{Locks, file::Files};
use std::{
    cell::Cell,
    fs::File,
    hint::black_box,
    io,
    path::{Path, PathBuf},
};

const NAME: &str = "invoices/2026";

/// Does `work` with locks in a directory of their own.
fn timed(work: impl AsyncFn(&Locks, u64) -> Outcome<()> + 'static) -> Outcome<Turns> {
    let (runtime, directory) = (one_thread()?, directory()?);
    let locks = Locks::new(Files::open(directory.path())?);
    // Turns go on where the last ended.
    let done = Cell::new(0);
    Ok(Box::new(move |operations| {
        let _until_now = &directory;
        time_each(&runtime, operations, async |_| {
            work(&locks, done.replace(done.get() + 1)).await
        })
    }))
}

pub(super) fn one_name() -> Outcome<Turns> {
    timed(async |locks, _| {
        drop(locks.mutex(NAME).lock().await?);
        Ok(())
    })
}

pub(super) fn many_names() -> Outcome<Turns> {
    let names: Vec<_> = (0..1_000).map(|n| format!("invoices/{n:04}")).collect();
    timed(async move |locks, turn| {
        let name = &names[turn as usize % names.len()];
        drop(locks.mutex(name.as_str()).lock().await?);
        Ok(())
    })
}

pub(super) fn new_name() -> Outcome<Turns> {
    timed(async |locks, turn| {
        drop(locks.mutex(format!("invoices/{turn}")).lock().await?);
        Ok(())
    })
}

pub(super) fn read() -> Outcome<Turns> {
    timed(async |locks, _| {
        drop(locks.rw_lock(NAME).read().await?);
        Ok(())
    })
}

pub(super) fn permit() -> Outcome<Turns> {
    timed(async |locks, _| {
        drop(locks.semaphore(NAME, 4).acquire().await?);
        Ok(())
    })
}

/// Does `work` with the path of a file in a directory of its own.
fn timed_by_path(mut work: impl FnMut(&Path) -> Outcome<()> + 'static) -> Outcome<Turns> {
    let (runtime, directory) = (one_thread()?, directory()?);
    let path = directory.path().join("invoices-2026.lock");
    Ok(Box::new(move |operations| {
        let _until_now = &directory;
        let work = std::cell::RefCell::new(&mut work);
        time_each(&runtime, operations, async |_| work.borrow_mut()(&path))
    }))
}

pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

fn open_and_lock(path: &Path) -> Outcome<()> {
    let file = open(path)?;
    file.try_lock()?;
    drop(black_box(file));
    Ok(())
}

pub(super) fn floor() -> Outcome<Turns> {
    timed_by_path(open_and_lock)
}

pub(super) fn new_file() -> Outcome<Turns> {
    let mut made = 0_u64;
    timed_by_path(move |path| {
        made += 1;
        let name = format!("invoices-{made}.lock");
        let path: PathBuf = path.with_file_name(name);
        open_and_lock(&path)
    })
}

pub(super) fn fs4() -> Outcome<Turns> {
    timed_by_path(|path| {
        let file = open(path)?;
        fs4::FileExt::try_lock(&file)?;
        fs4::FileExt::unlock(black_box(&file))?;
        Ok(())
    })
}

pub(super) fn fd_lock() -> Outcome<Turns> {
    timed_by_path(|path| {
        let mut lock = fd_lock::RwLock::new(open(path)?);
        let guard = lock.try_write()?;
        drop(black_box(guard));
        Ok(())
    })
}

pub(super) fn distributed_lock_file() -> Outcome<Turns> {
    let (runtime, directory) = (one_thread()?, directory()?);
    let provider = FileLockProvider::new(directory.path())?;
    Ok(Box::new(move |operations| {
        let _until_now = &directory;
        time_each(&runtime, operations, async |_| {
            drop(provider.create_lock(NAME).acquire(None).await?);
            Ok(())
        })
    }))
}
