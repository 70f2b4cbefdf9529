//! LOGIN7: who connects, to which database, and with which size of packets.

use super::{Cursor, Malformed, cursor::units, packet::DEFAULT_SIZE};

/// What a client says of itself.
#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) packet_size: usize,
    pub(crate) client_pid: u32,
    pub(crate) host: String,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) program: String,
    pub(crate) library: String,
    pub(crate) database: String,
    /// By a Windows account or a token, which are not served.
    pub(crate) integrated: bool,
}

impl Login {
    pub(crate) fn read(body: &[u8]) -> Result<Self, Malformed> {
        let mut fixed = Cursor::new(body);
        let (_length, _version, size) = (fixed.u32()?, fixed.u32()?, fixed.u32()?);
        let (_program_version, client_pid, _connection) =
            (fixed.u32()?, fixed.u32()?, fixed.u32()?);
        let [_, flags2, _, _] = *fixed.take(4)?.first_chunk().ok_or(Malformed)?;
        fixed.take(8)?; // time zone and locale
        let mut field = || -> Result<&[u8], Malformed> {
            let start = usize::from(fixed.u16()?);
            let length = usize::from(fixed.u16()?) * 2;
            body.get(start..start + length).ok_or(Malformed)
        };
        let (host, user, password, program) = (field()?, field()?, field()?, field()?);
        let (_server, _extension, library) = (field()?, field()?, field()?);
        let (_language, database) = (field()?, field()?);
        Ok(Self {
            packet_size: packet_size(size),
            client_pid,
            host: text(host),
            user: text(user),
            password: text(&clear(password)),
            program: text(program),
            library: text(library),
            database: text(database),
            integrated: flags2 & 0x80 != 0,
        })
    }
}

fn packet_size(asked: u32) -> usize {
    match asked {
        0 => DEFAULT_SIZE,
        asked => asked.clamp(512, 32767) as usize,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf16_lossy(&units(bytes))
}

/// A password is sent with the halves of each byte swapped, and all bits of 0xA5 turned over.
fn clear(password: &[u8]) -> Vec<u8> {
    password
        .iter()
        .map(|byte| (byte ^ 0xa5).rotate_left(4))
        .collect()
}
