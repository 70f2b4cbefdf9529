//! Counting what a client of SQL Server asks: batches and calls (MS-TDS, 2.2.3.1).

/// What one client sends, cut into packets. Each begins with eight bytes: its kind, whether a message
/// ends with it, and its length with these. Needs connections in plain text.
#[derive(Debug, Default)]
pub(super) struct Packets {
    /// The beginning of a packet, until its length is known.
    head: Vec<u8>,
    /// How much of a packet is still to come.
    rest: usize,
    /// These are no packets: another protocol, or encrypted.
    foreign: bool,
}

const HEAD: usize = 8;
const BATCH: u8 = 1;
const CALL: u8 = 3;
const LAST_OF_MESSAGE: u8 = 1;

impl Packets {
    /// How many batches and calls end in packets that begin in these bytes, the next of the stream.
    pub(super) fn requests(&mut self, mut bytes: &[u8]) -> u64 {
        let mut found = 0;
        while !bytes.is_empty() && !self.foreign {
            let within = bytes.len().min(self.rest);
            self.rest -= within;
            bytes = &bytes[within..];
            let head = bytes.len().min(HEAD - self.head.len());
            self.head.extend_from_slice(&bytes[..head]);
            bytes = &bytes[head..];
            if self.head.len() == HEAD {
                found += u64::from(self.is_request());
                self.head.clear();
            }
        }
        found
    }

    /// Looks at the head, and begins to skip the packet behind it.
    fn is_request(&mut self) -> bool {
        let length = u16::from_be_bytes([self.head[2], self.head[3]]);
        match usize::from(length).checked_sub(HEAD) {
            Some(rest) => self.rest = rest,
            None => self.foreign = true,
        }
        let is_last = self.head[1] & LAST_OF_MESSAGE != 0;
        is_last && !self.foreign && matches!(self.head[0], BATCH | CALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(kind: u8, status: u8, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(HEAD + body.len()).unwrap().to_be_bytes();
        [&[kind, status, length[0], length[1], 0, 0, 1, 0], body].concat()
    }

    fn session() -> Vec<u8> {
        [
            // Before the login, the login, a call in two packets, attention, a batch.
            packet(0x12, 1, b"\x01\x01\0\x08"),
            packet(0x10, 1, b"login"),
            packet(CALL, 0, b"first"),
            packet(CALL, 1, b"last"),
            packet(6, 1, b""),
            packet(BATCH, 1, b"SELECT 1"),
        ]
        .concat()
    }

    #[test]
    fn requests_are_counted_however_the_stream_is_cut() {
        for size in 1..40 {
            let mut packets = Packets::default();
            let found: u64 = session().chunks(size).map(|it| packets.requests(it)).sum();
            assert_eq!(found, 2, "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_no_packet_is_not_counted() {
        assert_eq!(
            Packets::default().requests(&[1, 1, 0, 4, 0, 0, 0, 0, 1, 1]),
            0
        );
    }
}
