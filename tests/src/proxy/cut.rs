//! Cutting a connection where it hurts: around one statement of a client of PostgreSQL, found by what stands in its text.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, PoisonError},
};

/// When a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Before the server hears of the statement.
    Before,
    /// As soon as the server was sent it.
    During,
    /// When the server has answered, before the client hears of that.
    After,
}

/// What is to be cut.
#[derive(Debug, Default)]
pub(super) struct Cuts(Mutex<Wanted>);

#[derive(Debug, Default)]
struct Wanted {
    text: Vec<u8>,
    next: VecDeque<Cut>,
    made: usize,
}

impl Cuts {
    /// The next statements with this in their text are cut so, one after the other.
    pub(super) fn want(&self, text: &str, next: impl IntoIterator<Item = Cut>) {
        let mut wanted = self.wanted();
        wanted.text = text.as_bytes().to_vec();
        wanted.next.extend(next);
    }

    /// How many were.
    pub(super) fn made(&self) -> usize {
        self.wanted().made
    }

    /// Otherwise nobody looks: what passes may be another protocol.
    fn are_wanted(&self) -> bool {
        !self.wanted().text.is_empty()
    }

    fn is_about(&self, text: &[u8]) -> bool {
        let wanted = &self.wanted().text;
        !wanted.is_empty() && text.windows(wanted.len()).any(|part| part == wanted)
    }

    fn take(&self) -> Option<Cut> {
        let mut wanted = self.wanted();
        let cut = wanted.next.pop_front()?;
        wanted.made += 1;
        Some(cut)
    }

    fn wanted(&self) -> std::sync::MutexGuard<'_, Wanted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads what one client sends, and remembers which statements it has prepared: PostgreSQL manual, 55.7.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    started: bool,
    begun: Vec<u8>,
    /// Names of those that are looked for.
    names: HashSet<Vec<u8>>,
}

impl Prepared {
    /// What is to be done about these bytes, the next of the stream. Looks at messages that are whole.
    pub(super) fn cut(&mut self, bytes: &[u8], cuts: &Cuts) -> Option<Cut> {
        if !cuts.are_wanted() {
            return None;
        }
        self.begun.extend_from_slice(bytes);
        let (mut found, begun) = (false, std::mem::take(&mut self.begun));
        let mut rest = &begun[..];
        while let Some((kind, body, later)) = self.message(rest) {
            found |= self.is_looked_for(kind, body, cuts);
            rest = later;
        }
        self.begun = rest.to_vec();
        found.then(|| cuts.take()).flatten()
    }

    /// The first message of the bytes: its kind, its body, and what follows. The first of all has no kind.
    fn message<'b>(&mut self, bytes: &'b [u8]) -> Option<(u8, &'b [u8], &'b [u8])> {
        let kind = usize::from(self.started);
        let length = bytes.get(kind..)?.first_chunk::<4>()?;
        let end = kind + usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let body = bytes.get(kind + 4..end)?;
        let first = if self.started { bytes[0] } else { 0 };
        // Before that message a client may ask for encryption, in 8 bytes; it is refused here.
        self.started |= body.len() != 4;
        Some((first, body, &bytes[end..]))
    }

    fn is_looked_for(&mut self, kind: u8, body: &[u8], cuts: &Cuts) -> bool {
        let mut words = body.split(|byte| *byte == 0);
        match kind {
            // A name, and the text.
            b'P' => {
                let (name, text) = (words.next(), words.next());
                if let Some(name) = name.filter(|_| text.is_some_and(|text| cuts.is_about(text))) {
                    self.names.insert(name.to_vec());
                }
                false
            }
            // A portal, and the name of the statement.
            b'B' => words.nth(1).is_some_and(|name| self.names.contains(name)),
            b'Q' => words.next().is_some_and(|text| cuts.is_about(text)),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: &[u8], body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(4 + body.len()).unwrap().to_be_bytes();
        [kind, &length, body].concat()
    }

    fn startup() -> Vec<u8> {
        message(b"", b"\0\x03\0\0user\0x\0\0")
    }

    #[test]
    fn a_prepared_statement_is_found_when_it_is_bound_however_the_stream_is_cut() {
        let session = [
            startup(),
            message(b"P", b"s1\0select 1\0\0\0"),
            message(b"P", b"s2\0select commit_it($1)\0\0\0"),
            message(b"B", b"\0s1\0\0\0\0\0\0\0"),
            message(b"B", b"\0s2\0\0\0\0\0\0\0"),
        ]
        .concat();
        for size in 1..40 {
            let (cuts, mut prepared) = (Cuts::default(), Prepared::default());
            cuts.want("commit_it", [Cut::Before, Cut::After]);
            let found: Vec<_> = session
                .chunks(size)
                .filter_map(|piece| prepared.cut(piece, &cuts))
                .collect();
            assert_eq!(found, [Cut::Before], "in pieces of {size}");
            assert_eq!(cuts.made(), 1);
        }
    }

    #[test]
    fn a_plain_query_is_found_by_its_text() {
        let (cuts, mut prepared) = (Cuts::default(), Prepared::default());
        cuts.want("COMMIT", [Cut::During]);
        let session = [startup(), message(b"Q", b"COMMIT\0")].concat();
        assert_eq!(prepared.cut(&session, &cuts), Some(Cut::During));
        let again = message(b"Q", b"COMMIT\0");
        assert_eq!(prepared.cut(&again, &cuts), None, "no cut is left");
    }
}
