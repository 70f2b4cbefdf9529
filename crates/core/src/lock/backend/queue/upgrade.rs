//! An upgradeable reader becomes the writer, as far as this process is concerned.

use super::{Inner, Seat, ask::Interrupt, seat::Grip};
use crate::lock::{
    Deadline, Error, ErrorKind, LockId, Mode, Result,
    backend::{Backend, Hold},
};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Waits for the readers of this process to leave, letting no new ones in, then asks the server.
pub(super) async fn upgrade<B: Backend>(seat: &mut Seat<B>, deadline: Deadline) -> Result<bool> {
    let sole = match &mut seat.grip {
        Grip::Sole(sole) if seat.wish.mode == Mode::Upgradeable && !sole.upgraded => sole,
        _ => {
            return Err(Error::new(
                ErrorKind::Invalid,
                "only an upgradeable reader can be upgraded, and only once",
            ));
        }
    };
    let (ready, nobody_in_the_way) = oneshot::channel();
    let mut claim = Claim::new(seat.queue.clone(), seat.id.clone(), sole.number, ready);
    if deadline.wait_for(nobody_in_the_way).await.is_none() {
        return Ok(false);
    }
    claim.upgraded = sole.hold.upgrade(deadline).await?;
    sole.upgraded = claim.upgraded;
    Ok(claim.upgraded)
}

/// Keeps readers out for as long as the upgrade is under way.
struct Claim<B: Backend> {
    queue: Arc<Inner<B>>,
    id: LockId,
    grant: u64,
    upgraded: bool,
}

impl<B: Backend> Claim<B> {
    fn new(queue: Arc<Inner<B>>, id: LockId, grant: u64, ready: oneshot::Sender<()>) -> Self {
        let in_the_way = queue.lines.join(&id, |line| line.begin_upgrade(ready));
        if let Some(asking) = in_the_way {
            // One who has its answer already is a reader like any other.
            let _ = asking.send(Interrupt::GoBack);
        }
        queue.advance(&id);
        Self {
            queue,
            id,
            grant,
            upgraded: false,
        }
    }
}

impl<B: Backend> Drop for Claim<B> {
    fn drop(&mut self) {
        self.queue
            .lines
            .visit(&self.id, |line| line.end_upgrade(self.grant, self.upgraded));
        self.queue.advance(&self.id);
    }
}
