//! What expressions can do, within limits: the engine counts its own instructions, and not what a single one costs.

use minijinja::{
    Environment, Error, ErrorKind, State, UndefinedBehavior, Value, filters,
    value::{Rest, ValueKind, ValueOrKwargs},
};
use std::{collections::BTreeMap, sync::LazyLock};

/// What one evaluation may cost, in instructions of the engine. A loop over ten thousand items is well within.
const FUEL: u64 = 200_000;

/// The largest value on the way to a result, in bytes of JSON, more or less.
pub(super) const MAX_SIZE: usize = 4 << 20;

/// The deepest value. Whoever reads JSON follows 128 levels, and a state has some around each value.
pub(crate) const MAX_DEPTH: usize = 64;

/// The largest number that says how much of something a filter shall make.
const MAX_COUNT: u64 = 999;

/// The function that multiplies.
pub(super) const TIMES: &str = "__lockwork_times";

/// Knows nothing but its own functions, so one will do for everybody.
pub(super) static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(engine);

/// The filters there are.
static FILTERS: LazyLock<BTreeMap<&'static str, Value>> = LazyLock::new(filters);

fn engine() -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_fuel(Some(FUEL));
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    // Of no use here, and without limits.
    for name in ["debug", "namespace"] {
        engine.remove_global(name);
    }
    for name in ["indent", "pprint", "safe", "escape", "e"] {
        engine.remove_filter(name);
    }
    for (name, filter) in &*FILTERS {
        engine.add_filter(
            *name,
            |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
                guarded(name, filter, state, &args.into_values())
            },
        );
    }
    engine.add_function(TIMES, times);
    engine
}

pub(super) fn is_filter(name: &str) -> bool {
    FILTERS.contains_key(name)
}

macro_rules! filters {
    ($($name:ident),* $(,)?) => {
        BTreeMap::from([$((stringify!($name), Value::from_function(filters::$name))),*])
    };
}

fn filters() -> BTreeMap<&'static str, Value> {
    let mut all = filters![
        abs, attr, batch, bool, capitalize, chain, default, dictsort, first, float, format,
        groupby, int, items, join, last, length, lines, list, lower, map, max, min, reject,
        rejectattr, replace, reverse, round, select, selectattr, slice, sort, split, string, sum,
        title, trim, unique, upper, zip,
    ];
    all.insert("count", Value::from_function(filters::length));
    all.insert("d", Value::from_function(filters::default));
    all
}

/// What `filter` gives, unless that or what it is given is too large.
fn guarded(
    name: &str,
    filter: &Value,
    state: &mut State<'_, '_>,
    args: &[Value],
) -> Result<Value, Error> {
    args.iter().try_for_each(fits)?;
    if makes(name, args)? > MAX_SIZE {
        return Err(too_large());
    }
    let given = filter.call(state, args)?;
    fits(&given)?;
    Ok(given)
}

/// How much a filter makes out of little, at most.
fn makes(name: &str, args: &[Value]) -> Result<usize, Error> {
    let text = |at: usize| args.get(at).map(Value::to_string).unwrap_or_default();
    let many = |count: bool| if count { usize::MAX } else { 0 };
    Ok(match name {
        "replace" => text(0)
            .matches(&text(1))
            .count()
            .saturating_mul(text(2).len()),
        "join" => {
            let items = args.first().map(Value::try_iter).transpose()?;
            items
                .map_or(0, Iterator::count)
                .saturating_mul(text(1).len())
        }
        "batch" | "slice" => {
            let count = args
                .get(1)
                .and_then(|count| u64::try_from(count.clone()).ok());
            many(count > Some(MAX_COUNT))
        }
        "format" => {
            let format = text(0);
            let widths = format.split(|letter: char| !letter.is_ascii_digit());
            many(format.contains('*') || widths.into_iter().any(|digits| digits.len() > 3))
        }
        _ => 0,
    })
}

/// Numbers alone: a text or a list could become as large as one likes.
fn times(left: Value, right: Value) -> Result<Value, Error> {
    let wrong = || {
        Error::new(
            ErrorKind::InvalidOperation,
            "only numbers can be multiplied",
        )
    };
    if left.kind() != ValueKind::Number || right.kind() != ValueKind::Number {
        return Err(wrong());
    }
    if left.is_integer() && right.is_integer() {
        let product = i128::try_from(left)?.checked_mul(i128::try_from(right)?);
        let large = || Error::new(ErrorKind::InvalidOperation, "the product is too large");
        return product.map(Value::from).ok_or_else(large);
    }
    Ok(Value::from(f64::try_from(left)? * f64::try_from(right)?))
}

fn too_large() -> Error {
    let message = "a value on the way is too large: keep it elsewhere, or take a part of it";
    Error::new(ErrorKind::InvalidOperation, message)
}

/// Whether `value` is neither too large nor too deep. Counts what would be written: a part that stands in it many
/// times counts as often.
pub(super) fn fits(value: &Value) -> Result<(), Error> {
    let mut left = MAX_SIZE;
    take(value, &mut left, MAX_DEPTH)
}

fn take(value: &Value, left: &mut usize, depth: usize) -> Result<(), Error> {
    let own = 8 + value.as_str().map_or(0, str::len);
    *left = left.checked_sub(own).ok_or_else(too_large)?;
    let is_map = value.kind() == ValueKind::Map;
    if !is_map && !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Ok(());
    }
    let deeper = depth.checked_sub(1).ok_or_else(|| {
        let message = format!("a value on the way is nested more than {MAX_DEPTH} deep");
        Error::new(ErrorKind::InvalidOperation, message)
    })?;
    for item in value.try_iter()? {
        take(&item, left, deeper)?;
        if is_map {
            take(&value.get_item(&item)?, left, deeper)?;
        }
    }
    Ok(())
}
