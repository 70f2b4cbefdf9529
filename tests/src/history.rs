//! A register outside the locks that sees who was in when.

use lockwork::{Instant, Token};
use std::sync::Mutex;

/// Who was in, from when to when, with which token. Checked when all is over.
#[derive(Debug, Default)]
pub struct History(Mutex<Vec<Stay>>);

/// One stay in the critical section.
#[derive(Clone, Copy, Debug)]
struct Stay {
    from: Instant,
    to: Instant,
    token: Option<Token>,
}

impl History {
    /// Nobody was in.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Somebody came in at `from` and leaves now.
    pub fn leave(&self, from: Instant, token: Option<Token>) {
        let to = Instant::now();
        self.0
            .lock()
            .expect("not poisoned")
            .push(Stay { from, to, token });
    }

    /// Checks that no two were in at once and that tokens rose, and says how many stays there were.
    ///
    /// # Panics
    /// If two overlapped, or a later one had a token that is not higher.
    pub fn check(&self) -> usize {
        let mut stays = self.0.lock().expect("not poisoned").clone();
        stays.sort_unstable_by_key(|stay| stay.from);
        for pair in stays.windows(2) {
            let (first, second) = (pair[0], pair[1]);
            assert!(
                first.to <= second.from,
                "two were in at once: {first:?} and {second:?}"
            );
            assert!(
                first.token.is_none() || first.token < second.token,
                "tokens did not rise: {first:?} and {second:?}"
            );
        }
        stays.len()
    }
}
