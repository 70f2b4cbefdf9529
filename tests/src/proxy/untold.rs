//! Holding back what a PostgreSQL server says without being asked: its notifications.

/// Cuts what one server sends into messages, each with a byte for its kind and its length in front
/// (PostgreSQL manual, 55.7). Needs connections in plain text that never asked for encryption.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The beginning of a message whose rest is still to come.
    begun: Vec<u8>,
}

/// A `NotificationResponse`.
const NOTIFICATION: u8 = b'A';

impl Messages {
    /// The messages that are whole with these bytes, the next of the stream, but for notifications.
    pub(super) fn without_notifications(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.begun.extend_from_slice(bytes);
        let (mut kept, mut rest) = (Vec::new(), &self.begun[..]);
        while let Some(length) = length(rest).filter(|length| *length <= rest.len()) {
            let (message, later) = rest.split_at(length);
            if message.first() != Some(&NOTIFICATION) {
                kept.extend_from_slice(message);
            }
            rest = later;
        }
        self.begun = rest.to_vec();
        kept
    }
}

/// Of the message these bytes begin with, its kind included.
fn length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(1..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_be_bytes(*length))
        .ok()?
        .checked_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_are_held_back_however_the_stream_is_cut() {
        let (told, ready) = (b"A\0\0\0\x08told".as_slice(), b"Z\0\0\0\x05I".as_slice());
        let stream = [ready, told, ready, told, told, ready].concat();
        for size in 1..20 {
            let mut messages = Messages::default();
            let kept = stream
                .chunks(size)
                .flat_map(|piece| messages.without_notifications(piece))
                .collect::<Vec<_>>();
            assert_eq!(kept, ready.repeat(3), "in pieces of {size}");
        }
    }
}
