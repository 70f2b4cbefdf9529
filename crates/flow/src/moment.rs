//! Moments as people write them.

use lockwork_core::workflow::{Time, Value};

/// Reads a moment: milliseconds since 1970, or a text as in RFC 3339.
pub(crate) fn read(value: &Value) -> Result<Time, String> {
    let wrong =
        || "a moment is written as 2027-01-31T09:00:00Z, or in milliseconds since 1970".to_owned();
    match value {
        Value::Number(millis) => millis.as_i64().map(Time::from_millis).ok_or_else(wrong),
        Value::String(text) => {
            let moment: jiff::Timestamp = text.parse().map_err(|_| wrong())?;
            Ok(Time::from_millis(moment.as_millisecond()))
        }
        _ => Err(wrong()),
    }
}
