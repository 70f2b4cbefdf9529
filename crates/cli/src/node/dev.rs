//! `lockwork dev`: a node for this machine alone. Nothing to install, and what it does is kept.

use super::{Plan, builder, folder::Folder, run as run_node, samples};
use crate::{
    args::Dev,
    exit::{self, End, Ended},
};
use lockwork::{
    LockOptions, Locks, Registry, Wait,
    distributed::DistributedOptions,
    runtime,
    server::Keys,
    store::sqlite::{Options, SqliteStore},
};
use reqwest::Url;
use std::{
    fs::DirBuilder,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// How long what a node had in hand outlives it. Whoever kills one to see what happens does not want to wait.
const LEASE: Duration = Duration::from_secs(3);

/// How long a node that was killed a moment ago may still be there.
const DYING: Duration = Duration::from_secs(1);

pub(crate) async fn run(registry: &Registry, args: Dev) -> Ended {
    let (file, locks_at) = (args.dir.join("lockwork.db"), args.dir.join("locks"));
    let made = private().recursive(true).create(&args.dir);
    made.map_err(|error| unusable(&args.dir, &error))?;
    let locks = locks(registry, &locks_at).await?;
    // Kept until the end. The system gives it back whatever becomes of this process.
    let shortly = LockOptions::new().wait(Wait::For(DYING));
    let first = locks.mutex("lockwork-dev").lock_with(shortly).await?;
    let store = SqliteStore::open_with(Options::new(&file)).await?;
    let mut builder = builder(Arc::new(store), runtime::Options::default());
    if args.samples {
        builder = builder.provider(samples::all()?);
    }
    if let Some(folder) = args.definitions {
        builder = builder.provider(Folder(folder));
    }
    let mut cluster = DistributedOptions::default();
    cluster.allow_local_locks = true;
    cluster.lease = LEASE;
    run_node(Plan {
        builder,
        locks,
        cluster,
        listen: args.listen,
        keys: Keys::none(),
        secret: None,
        workflows_at: None,
        is_alone: first.is_some(),
        store_shown: (shown(&file), "SQLite, every commit on disk"),
        locks_shown: (
            shown(&locks_at),
            "this machine; `lockwork serve` is for many",
        ),
    })
    .await
}

async fn locks(registry: &Registry, dir: &Path) -> Ended<Locks> {
    Ok(registry.connect(url(dir)?.as_str()).await?)
}

/// By an absolute URL: a directory may be called anything.
pub(crate) fn url(dir: &Path) -> Ended<Url> {
    let absolute = std::path::absolute(dir).map_err(|error| unusable(dir, &error))?;
    let url = Url::from_file_path(absolute);
    url.map_err(|()| unusable(dir, &io::ErrorKind::InvalidFilename.into()))
}

/// A directory for its owner alone: what workflows remember is nobody else's business.
pub(crate) fn private() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder
}

pub(crate) fn unusable(dir: &Path, error: &io::Error) -> End {
    let sentence = format!("nothing can be kept in {}: {error}", dir.display());
    End::new(exit::UNAVAILABLE, sentence)
}

fn shown(path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(".").unwrap_or(path).into();
    path.display().to_string()
}
