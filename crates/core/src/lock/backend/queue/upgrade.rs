//! An upgradeable reader becomes the writer, as far as this process is concerned.

use super::{Seat, ask::Interrupt, seat::Grip, spot::Spot};
use crate::lock::{
    Deadline, Error, ErrorKind, Loss, Mode, Result,
    backend::{Backend, Hold},
};
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
    let lost = sole.hold.lost();
    let (ready, nobody_in_the_way) = oneshot::channel();
    let Some(mut claim) = Claim::new(seat.spot.clone(), sole.number, ready) else {
        return Err(lost.get().unwrap_or(Loss::Taken).into());
    };
    let upgrading = async {
        if let Some(Ok(())) = deadline.wait_for(nobody_in_the_way).await {
            claim.upgraded = sole.hold.upgrade(deadline).await?;
        }
        Ok::<_, Error>(claim.upgraded)
    };
    // Who has lost its own grant need not wait for others to leave, nor be in their way.
    let upgraded = tokio::select! {
        biased;
        loss = lost.into_future() => return Err(loss.into()),
        upgraded = upgrading => upgraded?,
    };
    sole.upgraded = upgraded;
    Ok(upgraded)
}

/// Keeps readers out for as long as the upgrade is under way.
struct Claim<B: Backend> {
    spot: Spot<B>,
    grant: u64,
    upgraded: bool,
}

impl<B: Backend> Claim<B> {
    /// `None` if the grant is gone.
    fn new(spot: Spot<B>, grant: u64, ready: oneshot::Sender<()>) -> Option<Self> {
        let in_the_way = spot
            .visit(|line| line.begin_upgrade(&spot, grant, ready))
            .flatten()?;
        if let Some(asking) = in_the_way {
            // One who has its answer already is a reader like any other.
            let _ = asking.send(Interrupt::GoBack);
        }
        spot.advance();
        Some(Self {
            spot,
            grant,
            upgraded: false,
        })
    }
}

impl<B: Backend> Drop for Claim<B> {
    fn drop(&mut self) {
        self.spot
            .visit(|line| line.end_upgrade(self.grant, self.upgraded));
        self.spot.advance();
    }
}
