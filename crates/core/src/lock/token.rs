//! Fencing tokens: numbers that rise with each grant of a name.

use std::{
    fmt,
    num::{NonZeroI64, NonZeroU64},
};

/// Rises with each exclusive, write or upgraded grant of one name.
///
/// Hand it to whatever the lock protects and let that refuse a token lower than the highest it has
/// seen: then a holder that was frozen and comes back can do no harm. For a workflow store the
/// store's own epoch is stronger, because the token rises only as long as the lock server keeps
/// its data.
///
/// Inside, it is the server's number shifted left by 16 bits plus the count of local passes since
/// the server granted it, so a lock handed from task to task without asking the server still
/// rises. In JSON a token is a string, since it does not fit into the 53 bits of a number there.
///
/// ```
/// use lockwork_core::lock::Token;
///
/// let granted = Token::from_server(7).unwrap();
/// let passed = granted.passed(1).unwrap();
/// assert!(granted < passed && passed < Token::from_server(8).unwrap());
/// assert_eq!(passed.to_string().parse(), Ok(passed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(NonZeroU64);

/// Bits below the server's number.
const PASS_BITS: u32 = 16;
/// The server's numbers stay under this, so that a token is a positive `i64` in any database.
const SERVER_LIMIT: u64 = 1 << 47;

impl Token {
    /// The token of a grant to which the server gave `number`: a counter or milliseconds.
    ///
    /// `None` if `number` is zero or not under 2^47: microseconds, say. A backend treats that as
    /// an error of its own.
    #[must_use]
    pub const fn from_server(number: u64) -> Option<Self> {
        if number >= SERVER_LIMIT {
            return None;
        }
        match NonZeroU64::new(number << PASS_BITS) {
            Some(raw) => Some(Self(raw)),
            None => None,
        }
    }

    /// This grant's token after `passes` local passes; `None` after too many, when the lock must
    /// go back to the server for a new number.
    #[must_use]
    pub fn passed(self, passes: u16) -> Option<Self> {
        let count = self.0.get() & u64::from(u16::MAX);
        let count = u16::try_from(count).ok()?.checked_add(passes)?;
        let server = self.0.get() >> PASS_BITS << PASS_BITS;
        NonZeroU64::new(server | u64::from(count)).map(Self)
    }

    /// The whole number. Positive, and under 2^63.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for Token {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A token fits the signed type too, where databases keep it.
        let _: NonZeroI64 = text.parse()?;
        text.parse().map(Self)
    }
}
