//! `lockwork locks ls`: which locks are held, and by whom.

use crate::{args::Ls, connect::connect, holders, show, table};
use lockwork::{Held, Holder, Registry, Result};
use serde_json::{Value, json};

pub(crate) async fn run(registry: &Registry, args: Ls) -> Result<u8> {
    let locks = connect(registry, &args.place).await?;
    let held = locks.held(&args.beginning).await?;
    match args.json {
        true => show::print(as_json(&held)),
        false => print(&held),
    }
    Ok(0)
}

fn print(held: &[Held]) {
    if held.is_empty() {
        return show::print("nobody holds a lock here");
    }
    let rows = held.iter().flat_map(rows).collect::<Vec<_>>();
    let titles = ["NAME", "KIND", "MODE", "TOKEN", "FOR", "WAIT", "CLIENT"];
    table::print(titles, &rows);
    if held.iter().any(|held| !held.is_whole) {
        show::say(
            "names that end in … are not kept whole: _ stands for any character that is no letter, digit or -",
        );
    }
}

/// One for each holder; the name stands in the first.
fn rows(held: &Held) -> Vec<[String; 7]> {
    let row = |(number, holder): (usize, &Holder)| {
        let [_, mode, _, token, age, client] = holders::held_row(holder);
        let (name, kind, waiting) = match number {
            0 => (name(held), held.space.as_str().to_owned(), waiting(held)),
            _ => (String::new(), String::new(), String::new()),
        };
        [name, kind, mode, token, age, waiting, client]
    };
    held.holders.holders.iter().enumerate().map(row).collect()
}

/// Names are somebody else's text.
fn name(held: &Held) -> String {
    let end = if held.is_whole { "" } else { "…" };
    format!("{}{end}", show::harmless(&held.name))
}

/// Not every server knows who waits: none that is known is not none.
fn waiting(held: &Held) -> String {
    match held.holders.waiting.len() {
        0 => "-".to_owned(),
        some => some.to_string(),
    }
}

fn as_json(held: &[Held]) -> Value {
    let lock = |held: &Held| {
        let mut lock = holders::as_json(&held.holders);
        lock["name"] = json!(held.name);
        lock["whole_name"] = json!(held.is_whole);
        lock["kind"] = json!(held.space.as_str());
        lock
    };
    json!({ "locks": held.iter().map(lock).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork::{Holders, Mode, OwnerId, Space};

    fn held(name: &str) -> Held {
        let mut holder = Holder::new(OwnerId::from_bytes([7; 16]), Mode::Exclusive);
        holder.client = Some("host\x1b[2J".into());
        Held::whole(
            Space::Mutex,
            name.into(),
            Holders::new(vec![holder], vec![]),
        )
    }

    #[test]
    fn nobody_elses_text_moves_the_cursor() {
        let rows = rows(&held("a\u{9b}b"));
        assert_eq!(rows.len(), 1);
        assert_eq!(
            (&*rows[0][0], &*rows[0][6]),
            ("a\\u{9b}b", "host\\u{1b}[2J")
        );
    }

    #[test]
    fn a_name_that_is_not_known_whole_is_told_as_such() {
        let mut held = held("invoices_2026");
        held.is_whole = false;
        assert_eq!(rows(&held)[0][0], "invoices_2026…");
        let json = as_json(&[held]);
        assert_eq!(json["locks"][0]["name"], "invoices_2026");
        assert_eq!(json["locks"][0]["whole_name"], false);
        assert_eq!(json["locks"][0]["holders"][0]["mode"], "exclusive");
    }
}
