//! Names as .NET's DistributedLock maps them (`SqlDistributedLock.GetSafeName`): what fits is taken
//! as it is; of the rest the beginning, and the SHA-512 of all of it in Base64.

use sha2::{Digest, Sha512};

/// Characters of UTF-16.
const LONGEST: usize = 255;

/// The hash, in Base64.
const HASH: usize = 88;

pub(super) fn resource(name: &str) -> String {
    if name.encode_utf16().count() <= LONGEST {
        return name.to_owned();
    }
    let mut beginning = String::new();
    let mut units = 0;
    for letter in name.chars() {
        units += letter.len_utf16();
        if units > LONGEST - HASH {
            break;
        }
        beginning.push(letter);
    }
    beginning + &base64(&Sha512::digest(name.as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let number = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            text.push(match at <= three.len() {
                true => char::from(LETTERS[(number >> (18 - 6 * at) & 63) as usize]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed by the original.
    #[test]
    fn long_names_are_shortened_as_in_dot_net() {
        assert_eq!(resource(&"x".repeat(255)), "x".repeat(255));
        let hash = "A3SOHbN+Zq/qt/fpO9dxauQ3kVj8wfeEbknAYembWJG1Xuf4CL0Dmx3u+dAWHzkFMdjQhlRnlAXtiH7ZMFjjsg==";
        assert_eq!(resource(&"x".repeat(256)), "x".repeat(167) + hash);
    }
}
