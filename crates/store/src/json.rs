//! Values in rows: written as JSON, and read again with a sentence for whoever finds one that is none.

use lockwork_core::workflow::{Error, ErrorKind, Result};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Display;

/// `value` as JSON.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| {
        let message = "this cannot be written as JSON";
        Error::new(ErrorKind::Unexpected, message).because(error)
    })
}

/// What a row of `table` about `id` has.
pub(crate) fn read<T: DeserializeOwned>(
    table: &'static str,
    id: &dyn Display,
    json: &str,
) -> Result<T> {
    serde_json::from_str(json).map_err(|error| {
        let message =
            "a row of the store is damaged: restore it from a backup, or delete what it is about";
        Error::new(ErrorKind::Unexpected, message)
            .with("table", table)
            .with("id", id)
            .because(error)
    })
}
