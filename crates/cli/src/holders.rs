//! `lockwork holders`: who has a lock, and who waits for it.

use crate::{args, connect::connect, show, table, time};
use lockwork::{Holder, Holders, Mode, Registry, Result, Waiting};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

pub(crate) async fn run(registry: &Registry, args: args::Holders) -> Result<u8> {
    let locks = connect(registry, &args.place).await?;
    let holders = match (args.kind.rw, args.kind.semaphore) {
        (true, _) => locks.rw_lock(&args.name).holders().await?,
        (_, true) => locks.semaphore(&args.name, 1).holders().await?,
        _ => locks.mutex(&args.name).holders().await?,
    };
    if args.json {
        show::print(as_json(&holders));
    } else {
        print(&args.name, &holders);
    }
    Ok(0)
}

/// One holder in a few words: `127.0.0.1:4711 (exclusive, for 3m 12s)`.
pub(crate) fn in_words(holder: &Holder) -> String {
    let who = client(holder).unwrap_or_else(|| holder.owner.to_string());
    let mode = mode(holder.mode);
    match age(holder) {
        Some(age) => format!("{who} ({mode}, for {})", time::rough(age)),
        None => format!("{who} ({mode})"),
    }
}

fn print(name: &str, holders: &Holders) {
    if holders.holders.is_empty() && holders.waiting.is_empty() {
        return show::print(format_args!("nobody holds {name}"));
    }
    let held = holders.holders.iter().map(held_row);
    let waiting = holders.waiting.iter().map(waiting_row);
    let rows: Vec<_> = held.chain(waiting).collect();
    table::print(["", "MODE", "OWNER", "TOKEN", "FOR", "CLIENT"], &rows);
}

pub(crate) fn held_row(holder: &Holder) -> [String; 6] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    [
        "holds".into(),
        mode(holder.mode),
        holder.owner.to_string(),
        or_dash(holder.token.map(|token| token.to_string())),
        or_dash(age(holder).map(time::rough)),
        or_dash(client(holder)),
    ]
}

fn waiting_row(waiting: &Waiting) -> [String; 6] {
    let dash = || "-".to_owned();
    let owner = waiting.owner.to_string();
    [
        "waits".into(),
        mode(waiting.mode),
        owner,
        dash(),
        dash(),
        dash(),
    ]
}

/// What a client calls itself is somebody else's text.
fn client(holder: &Holder) -> Option<String> {
    holder.client.as_deref().map(show::harmless)
}

fn mode(mode: Mode) -> String {
    match mode {
        Mode::Permit { of } => format!("permit of {of}"),
        other => other.as_str().to_owned(),
    }
}

fn age(holder: &Holder) -> Option<Duration> {
    let since = holder.since?;
    Some(since.elapsed().unwrap_or_default())
}

pub(crate) fn as_json(holders: &Holders) -> Value {
    let held: Vec<_> = holders.holders.iter().map(held_json).collect();
    let waiting: Vec<_> = holders.waiting.iter().map(waiting_json).collect();
    json!({ "holders": held, "waiting": waiting })
}

/// A token is a string: it does not fit into the 53 bits of a number in JSON.
fn held_json(holder: &Holder) -> Value {
    let since = holder.since.and_then(|since| {
        let since = since.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        u64::try_from(since.as_millis()).ok()
    });
    json!({
        "owner": holder.owner.to_string(),
        "mode": holder.mode.as_str(),
        "permits": permits(holder.mode),
        "token": holder.token.map(|token| token.to_string()),
        "since_unix_ms": since,
        "client": holder.client,
    })
}

fn waiting_json(waiting: &Waiting) -> Value {
    json!({
        "owner": waiting.owner.to_string(),
        "mode": waiting.mode.as_str(),
        "permits": permits(waiting.mode),
    })
}

const fn permits(mode: Mode) -> Option<u32> {
    match mode {
        Mode::Permit { of } => Some(of.get()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork::{OwnerId, Token};

    fn holder() -> Holder {
        let mut holder = Holder::new(OwnerId::from_bytes([7; 16]), Mode::Exclusive);
        holder.token = Token::from_server(1 << 40);
        holder.client = Some("host:1".into());
        holder
    }

    #[test]
    fn a_token_is_a_string_in_json() {
        let json = as_json(&Holders::new(vec![holder()], vec![]));
        assert_eq!(json["holders"][0]["token"], json!("72057594037927936"));
        assert_eq!(json["holders"][0]["since_unix_ms"], Value::Null);
    }

    #[test]
    fn an_owner_is_never_shown_whole() {
        let json = as_json(&Holders::new(vec![holder()], vec![]));
        assert_eq!(json["holders"][0]["owner"], json!("07070707…"));
    }

    #[test]
    fn nobody_elses_text_moves_the_cursor() {
        let mut holder = holder();
        holder.client = Some("host\x1b[2J".into());
        assert_eq!(in_words(&holder), "host\\u{1b}[2J (exclusive)");
        assert_eq!(held_row(&holder)[5], "host\\u{1b}[2J");
    }

    #[test]
    fn a_holder_is_told_in_a_few_words() {
        assert_eq!(in_words(&holder()), "host:1 (exclusive)");
    }
}
