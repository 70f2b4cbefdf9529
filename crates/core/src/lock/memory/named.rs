//! `memory:` and `memory:NAME` in URLs.

use super::{Inner, Memory};
use crate::lock::{Connecting, Driver, Locks, Query, Result, backend::queue::DEFAULT_TENURE};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};
use url::Url;

/// Finds the memory backend by URL: `memory:`, or `memory:NAME` for a place apart. Everybody in
/// the process who connects to one URL shares one place. Option: `tenure`.
pub const MEMORY: Driver = Driver {
    schemes: &["memory"],
    connect: connecting,
};

fn connecting(url: Url) -> Connecting {
    Box::pin(std::future::ready(connect(&url)))
}

fn connect(url: &Url) -> Result<Locks> {
    let mut query = Query::of(url)?;
    let tenure = query.duration("tenure")?.unwrap_or(DEFAULT_TENURE);
    query.finish()?;
    Ok(Locks::with_tenure(place(url), tenure))
}

/// The place `url` names, for as long as anybody uses it.
fn place(url: &Url) -> Memory {
    static PLACES: Mutex<Option<HashMap<String, Weak<Inner>>>> = Mutex::new(None);
    let name = format!("{}{}", url.host_str().unwrap_or_default(), url.path());
    let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
    let places = places.get_or_insert_default();
    places.retain(|_, place| place.strong_count() > 0);
    if let Some(place) = places.get(&name).and_then(Weak::upgrade) {
        return Memory(place);
    }
    let memory = Memory::new();
    places.insert(name, Arc::downgrade(&memory.0));
    memory
}
