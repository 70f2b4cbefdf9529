//! `lockwork serve`: a node among others that share a store.

use super::{
    Plan, builder,
    folder::Folder,
    pair,
    place::{is_file, shown},
    run as run_node,
    settings::{Settings, text},
};
use crate::{
    args::Serve,
    connect,
    exit::{End, Ended},
    show,
};
use lockwork::{
    Locks, Registry, Scope,
    runtime::Options,
    server::{Keys, Secret},
    store, workflow,
};
use std::{io, path::Path, time::Duration};

/// Whoever follows a link may reach another node than the one that signed it.
const ALONE: &str = "links that this node signs are good on this node alone, and until it ends: give all nodes on this store \
                     the same --secret-file (LOCKWORK_SECRET_FILE), which `openssl rand -hex 32` draws";

pub(crate) async fn run(registry: &Registry, args: Serve) -> Ended {
    if args.until_stdin_ends {
        std::thread::spawn(end_with_stdin);
    }
    let settings = Settings::of(&args, |name| std::env::var(name).ok())?;
    let keys = keys(settings.keys.as_deref())?;
    let secret = secret(settings.secret_file.as_deref())?;
    if secret.is_none() && !is_file(&settings.store) {
        show::say(ALONE);
    }
    let locks = connect::to(registry, &settings.locks).await?;
    let pair = pair(&settings.store, &locks, args.allow_local_locks);
    let mut cluster = pair.map_err(|error| told_how(error, args.allow_local_locks))?;
    cluster.witness = Some(connect::to(registry, &settings.locks).await?);
    let store = store::connect(&settings.store).await?;
    let mut builder = builder(store, options(settings.node, settings.drain));
    if let Some(folder) = settings.definitions {
        builder = builder.provider(Folder(folder.into()));
    }
    let locks_shown = (shown(&settings.locks), reach(&locks));
    run_node(Plan {
        builder,
        locks,
        cluster,
        listen: settings.listen,
        keys,
        secret,
        workflows_at: settings.workflows_at,
        is_alone: false,
        store_shown: (shown(&settings.store), kind(is_file(&settings.store))),
        locks_shown,
    })
    .await
}

fn options(node: Option<String>, drain: Option<Duration>) -> Options {
    let mut options = Options::default();
    options.node = node.unwrap_or(options.node);
    options.drain = drain.unwrap_or(options.drain);
    options
}

/// Whoever started this node is gone, or wants it to be. What it has in hand is for others.
fn end_with_stdin() {
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    std::process::exit(0);
}

/// The library's sentence, and what it is called here.
fn told_how(error: workflow::Error, is_said: bool) -> End {
    let mut end = End::from(error);
    if !is_said {
        end.sentence.push_str(". Here that is --allow-local-locks");
    }
    end
}

fn keys(file: Option<&str>) -> Ended<Keys> {
    let Some(file) = file else {
        return Ok(Keys::none());
    };
    let text = text(Path::new(file), "this file of keys")?;
    Ok(Keys::from_text(&text).map_err(|error| error.with("file", file))?)
}

fn secret(file: Option<&str>) -> Ended<Option<Secret>> {
    let Some(file) = file else {
        return Ok(None);
    };
    let text = text(Path::new(file), "this file of a secret")?;
    let secret = Secret::from_text(&text).map_err(|error| error.with("file", file))?;
    Ok(Some(secret))
}

const fn kind(is_file: bool) -> &'static str {
    match is_file {
        true => "SQLite, every commit on disk",
        false => "PostgreSQL",
    }
}

fn reach(locks: &Locks) -> &'static str {
    match locks.info().scope {
        Scope::Process => "this process alone",
        Scope::Host => "this machine",
        _ => "every machine that reaches them",
    }
}
