//! Names as .NET's DistributedLock maps them (`PostgresAdvisoryLockKey.cs`, with hashing allowed).

use sha1::{Digest, Sha1};

/// How many characters of 7 bits fit.
const ASCII: usize = 9;

/// The number that `name` stands for, and whether it is a pair of 32 bits each.
pub(super) fn number(name: &str) -> (i64, bool) {
    None.or_else(|| ascii(name).map(|number| (number, true)))
        .or_else(|| digits(name).map(|number| (number, false)))
        .or_else(|| two(name).map(|number| (number, true)))
        .unwrap_or_else(|| (hash(name), false))
}

/// Up to nine characters, seven bits each from the left, then a zero, then ones.
fn ascii(name: &str) -> Option<i64> {
    if name.len() > ASCII || !name.is_ascii() {
        return None;
    }
    let bits = name
        .bytes()
        .fold(0_u64, |bits, byte| bits << 7 | u64::from(byte));
    let rest = 64 - 7 * u32::try_from(name.len()).ok()?;
    let ones = u64::MAX.checked_shr(65 - rest).unwrap_or(0);
    let bits = bits.checked_shl(rest).unwrap_or(0) | ones;
    Some(bits.cast_signed())
}

/// Sixteen hexadecimal digits.
fn digits(name: &str) -> Option<i64> {
    let is_all = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u64::from_str_radix(name, 16).ok();
    number.filter(|_| is_all).map(u64::cast_signed)
}

/// Twice eight, with a comma between.
fn two(name: &str) -> Option<i64> {
    let (high, low) = name.split_once(',')?;
    match (high.len(), low.len()) {
        (8, 8) => digits(&format!("{high}{low}")),
        _ => None,
    }
}

/// The first eight bytes of the SHA-1, the least first.
fn hash(name: &str) -> i64 {
    let hash: [u8; 20] = Sha1::digest(name.as_bytes()).into();
    let first = hash.first_chunk::<8>().copied().unwrap_or_default();
    i64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::number;

    const fn pair(high: i32, low: i32) -> (i64, bool) {
        ((high as i64) << 32 | low as u32 as i64, true)
    }

    /// Computed by the original.
    #[test]
    fn names_fall_on_the_same_numbers_as_in_dot_net() {
        let vectors = [
            ("", pair(2_147_483_647, -1)),
            ("a", pair(-1_023_410_177, -1)),
            ("ASCII", pair(-2_092_032_871, 805_306_367)),
            ("base38", pair(-980_967_850, 1_847_590_911)),
            ("AmbTrans", pair(-2_085_153_458, 1_484_223_359)),
            ("my-lock-1", pair(-605_720_883, -118_117_022)),
            (&"漢".repeat(18), (-5_707_277_204_051_710_361, false)),
            ("some very long name", (1_765_484_347_666_752_899, false)),
            ("UserAccount42", (3_507_561_540_034_120_461, false)),
            ("InternTrans", (5_101_823_446_481_283_984, false)),
            ("0000000000000001", (1, false)),
            ("00000003,ffffffff", pair(3, -1)),
        ];
        for (name, expected) in vectors {
            assert_eq!(number(name), expected, "{name:?}");
        }
    }

    #[test]
    fn what_only_looks_like_digits_is_hashed() {
        assert_ne!(number("+000000000000001"), (1, false));
        assert!(!number("00000003,fffffff").1);
    }
}
