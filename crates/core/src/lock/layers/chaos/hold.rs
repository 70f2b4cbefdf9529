//! A hold that may be lost on purpose.

use super::plan::Plan;
use crate::lock::{
    Deadline, Hold, Instant, Loss, Lost, Result, Token, backend::Owned, timed::Timed,
};
use std::{sync::Arc, time::Duration};

/// A hold of a [`Chaotic`](super::Chaotic) backend.
#[derive(Debug)]
pub struct ChaoticHold<H: Hold> {
    plan: Arc<Plan>,
    grip: Grip<H>,
}

#[derive(Debug)]
enum Grip<H: Hold> {
    Safe(H),
    /// With its token, which a guard shows after the loss too.
    Doomed(Box<Timed<Owned<H>>>, Option<Token>),
}

impl<H: Hold> ChaoticHold<H> {
    pub(super) fn new(plan: &Arc<Plan>, hold: Owned<H>, lost_after: Option<Duration>) -> Self {
        let grip = match lost_after {
            None => Grip::Safe(hold.into_inner()),
            Some(time) => {
                let token = hold.token();
                let timed = Timed::new(hold, Instant::now() + time, Loss::Taken);
                Grip::Doomed(Box::new(timed), token)
            }
        };
        Self {
            plan: plan.clone(),
            grip,
        }
    }
}

impl<H: Hold> Hold for ChaoticHold<H> {
    const AT_ONCE: bool = H::AT_ONCE;

    fn token(&self) -> Option<Token> {
        match &self.grip {
            Grip::Safe(hold) => hold.token(),
            Grip::Doomed(_, token) => *token,
        }
    }

    fn lost(&self) -> Lost {
        match &self.grip {
            Grip::Safe(hold) => hold.lost(),
            Grip::Doomed(timed, _) => timed.lost(),
        }
    }

    fn valid_until(&self) -> Option<Instant> {
        match &self.grip {
            Grip::Safe(hold) => hold.valid_until(),
            // When chaos strikes is not announced.
            Grip::Doomed(timed, _) => timed.read(Owned::valid_until).flatten(),
        }
    }

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        match &self.grip {
            Grip::Safe(hold) => hold.descriptors(),
            Grip::Doomed(timed, _) => timed
                .read(Owned::descriptors)
                .unwrap_or_else(|| Ok(Vec::new())),
        }
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        self.plan.fate().there().await?;
        match &mut self.grip {
            Grip::Safe(hold) => hold.upgrade(deadline).await,
            Grip::Doomed(timed, token) => {
                let upgraded = timed.upgrade(deadline).await?;
                *token = timed.read(Owned::token).flatten().or(*token);
                Ok(upgraded)
            }
        }
    }

    async fn release(self) -> Result<()> {
        match self.grip {
            Grip::Safe(hold) => hold.release().await,
            Grip::Doomed(timed, _) => timed.release().await,
        }
    }
}
