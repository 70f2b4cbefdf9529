//! Where a demo keeps its store, its locks and what its nodes say; what is temporary goes when this is dropped.

use crate::{
    args::DemoCluster,
    connect,
    exit::{self, End, Ended},
    node::dev::{private, unusable, url},
};
use lockwork::{Registry, Scope};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Place {
    pub(super) store: String,
    /// Those that a node finds by itself, if nobody said.
    pub(super) locks: Option<String>,
    /// Where nodes write what they have to say.
    pub(super) dir: PathBuf,
    is_kept: bool,
}

impl Place {
    /// Where `args` say. The environment is not asked: a demo should not land in a store that somebody works with.
    pub(super) async fn of(registry: &Registry, args: &DemoCluster) -> Ended<Self> {
        if let Some(locks) = &args.locks {
            check(registry, locks).await?;
        }
        let dir = args.dir.clone().unwrap_or_else(temporary);
        let made = private().recursive(args.dir.is_some()).create(&dir);
        made.map_err(|error| unusable(&dir, &error))?;
        let is_kept = args.dir.is_some();
        if let Some(store) = args.store.clone() {
            let locks = args.locks.clone();
            return Ok(Self {
                store,
                locks,
                dir,
                is_kept,
            });
        }
        // As `lockwork dev --dir` looks for them.
        let file = dir.join("lockwork.db");
        let locks = Some(url(&dir.join("locks"))?.into());
        let store = format!("sqlite:{}", file.display());
        Ok(Self {
            store,
            locks,
            dir,
            is_kept,
        })
    }

    /// Where everything stays, if somebody wants it to.
    pub(super) fn kept(&self) -> Option<&Path> {
        self.is_kept.then_some(&*self.dir)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_kept {
            // What cannot be removed is left to whoever tidies temporary files.
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

/// Nodes are processes: locks inside of one would keep none of them apart.
async fn check(registry: &Registry, locks: &str) -> Ended<()> {
    let locks = connect::to(registry, locks).await?;
    match locks.info().scope {
        Scope::Process => {
            let sentence =
                "these locks keep no other process out: leave --locks away, or name others";
            Err(End::new(exit::USAGE, sentence))
        }
        _ => Ok(()),
    }
}

/// A name that is nobody's yet; one that is somebody's is not taken.
fn temporary() -> PathBuf {
    std::env::temp_dir().join(format!("lockwork-demo-{}", super::orders::run_id()))
}
