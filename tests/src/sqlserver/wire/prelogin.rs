//! The first message of each side: what version, and whether to encrypt.

use super::{Cursor, Malformed};
use crate::sqlserver::Encryption;

const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const INSTANCE: u8 = 2;
const THREAD: u8 = 3;
const MARS: u8 = 4;
const END: u8 = 0xff;

/// What one side says about encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Off,
    On,
    NotSupported,
    Required,
}

impl Wish {
    const fn from_byte(byte: u8) -> Result<Self, Malformed> {
        match byte {
            0 => Ok(Self::Off),
            1 => Ok(Self::On),
            2 => Ok(Self::NotSupported),
            3 => Ok(Self::Required),
            _ => Err(Malformed),
        }
    }

    /// The server's answer to what a client wishes, by the table in MS-TDS 2.2.6.5.
    pub(crate) const fn answer(self, server: Encryption) -> Self {
        match (server, self) {
            (Encryption::NotSupported, _) | (Encryption::Optional, Self::NotSupported) => {
                Self::NotSupported
            }
            (Encryption::Optional, Self::Off) => Self::Off,
            (Encryption::Optional, Self::On | Self::Required) => Self::On,
            (Encryption::Required | Encryption::Strict, Self::NotSupported | Self::Off) => {
                Self::Required
            }
            (Encryption::Required | Encryption::Strict, _) => Self::On,
        }
    }
}

/// What a client says about encryption.
pub(crate) fn read(body: &[u8]) -> Result<Wish, Malformed> {
    let mut options = Cursor::new(body);
    let mut wish = Wish::NotSupported;
    loop {
        let token = options.u8()?;
        if token == END {
            return Ok(wish);
        }
        let (offset, length) = (options.u16_big()?, options.u16_big()?);
        let start = usize::from(offset);
        let value = body.get(start..start + usize::from(length));
        let value = value.ok_or(Malformed)?;
        if token == ENCRYPTION {
            wish = Wish::from_byte(*value.first().ok_or(Malformed)?)?;
        }
    }
}

/// The server's own.
pub(crate) fn write(version: [u8; 6], wish: Wish) -> Vec<u8> {
    let options: [(u8, &[u8]); 5] = [
        (VERSION, &version),
        (ENCRYPTION, &[wish as u8]),
        (INSTANCE, &[0]),
        (THREAD, &[]),
        (MARS, &[0]),
    ];
    let mut offset = options.len() * 5 + 1;
    let (mut table, mut values) = (Vec::new(), Vec::<u8>::new());
    for (token, value) in options {
        table.push(token);
        table.extend((offset as u16).to_be_bytes());
        table.extend((value.len() as u16).to_be_bytes());
        values.extend(value);
        offset += value.len();
    }
    table.push(END);
    table.extend(values);
    table
}
