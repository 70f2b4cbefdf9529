//! Names that nobody else draws.

use rand::RngExt;

/// 128 bits of chance, in hexadecimal.
pub(crate) fn random() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}
