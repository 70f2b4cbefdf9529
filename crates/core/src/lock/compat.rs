//! Whose names to share, while a system moves from one library to another.

use super::{Error, ErrorKind};
use std::{fmt, str::FromStr};

/// Whose names are mapped how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Lockwork's own way.
    #[default]
    None,
    /// The way of .NET's DistributedLock (`Medallion.Threading`), so that its processes and ours exclude
    /// each other. What it has not got on a server is missing then: the documentation of the backend
    /// says what that is.
    Medallion,
}

impl FromStr for Compat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "none" => Ok(Self::None),
            "medallion" => Ok(Self::Medallion),
            _ => Err(Error::new(
                ErrorKind::Invalid,
                "compat is `none` or `medallion`",
            )),
        }
    }
}

impl fmt::Display for Compat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Medallion => "medallion",
        })
    }
}
