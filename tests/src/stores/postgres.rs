//! Schemas in a database of this process's own, which goes with those that lock tests leave.

use crate::backends::postgres;
use std::sync::OnceLock;

/// So many connections each: many tests at once, and a server that has a hundred.
const POOL: usize = 4;

/// The URL of a schema that nobody has used.
pub(super) fn schema() -> Result<String, String> {
    static DATABASE: OnceLock<Result<String, String>> = OnceLock::new();
    let url = DATABASE.get_or_init(postgres::new_database).clone()?;
    let (sign, schema) = (
        if url.contains('?') { '&' } else { '?' },
        format!("s{:016x}", rand::random::<u64>()),
    );
    Ok(format!("{url}{sign}schema={schema}&pool={POOL}"))
}
