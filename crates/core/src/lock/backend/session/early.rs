//! What is asked of a session before it is open.
//!
//! Opening may take as long as the pool is patient. Whoever has less time hears at the end of it
//! that there is no connection yet; that is not to say that somebody else has the lock.

use super::{
    actor::{Ask, Granted, late},
    link::SessionCell,
    riders::{Taking, Ticket},
};
use crate::lock::{Error, Result};
use std::{hash::Hash, pin::pin, sync::Arc};
use tokio::sync::mpsc;

/// Asks that cannot be put yet.
pub(super) struct Early<K: Hash + Eq> {
    asks: mpsc::UnboundedReceiver<Ask<K>>,
    kept: Vec<Ask<K>>,
    cell: Arc<SessionCell>,
}

impl<K: Hash + Eq> Early<K> {
    pub(super) const fn new(asks: mpsc::UnboundedReceiver<Ask<K>>, cell: Arc<SessionCell>) -> Self {
        Self {
            asks,
            kept: Vec::new(),
            cell,
        }
    }

    /// Keeps what is asked until `opening` has ended; `None` if nobody can ask any more.
    pub(super) async fn beside<T>(&mut self, opening: impl Future<Output = T>) -> Option<T> {
        let mut opening = pin!(opening);
        loop {
            tokio::select! {
                biased;
                opened = &mut opening => return Some(opened),
                ask = self.asks.recv() => match ask? {
                    Ask::Leave(_, ticket) => self.leave(&ticket),
                    ask => self.kept.push(ask),
                },
            }
        }
    }

    fn leave(&mut self, ticket: &Ticket) {
        let is_it = |ask: &Ask<K>| matches!(ask, Ask::Take(taking) | Ask::Wait(taking, _) if taking.ticket.is(ticket));
        if let Some(at) = self.kept.iter().position(is_it) {
            self.cell.unload();
            match self.kept.swap_remove(at) {
                Ask::Take(taking) => answer(taking, Err(late())),
                // Another session has asked for it: somebody else has the lock.
                Ask::Wait(taking, _) => answer(taking, Ok(None)),
                _ => {}
            }
        }
    }

    pub(super) fn into_parts(self) -> (Vec<Ask<K>>, mpsc::UnboundedReceiver<Ask<K>>) {
        (self.kept, self.asks)
    }

    /// The session will not be opened.
    pub(super) fn refuse_all(mut self, error: &Error) {
        self.asks.close();
        while let Ok(ask) = self.asks.try_recv() {
            self.kept.push(ask);
        }
        for ask in self.kept {
            match ask {
                Ask::Take(taking) | Ask::Wait(taking, _) => answer(taking, Err(error.clone())),
                Ask::Together(takings) => {
                    for taking in takings {
                        answer(taking, Err(error.clone()));
                    }
                }
                Ask::Give(_) | Ask::Again(_) | Ask::Leave(..) => {}
            }
        }
    }
}

/// Answers one on whose session nothing is any more.
pub(super) fn answer<K: Hash + Eq>(taking: Taking<K>, answer: Result<Option<Granted<K>>>) {
    // Before the answer: whoever reads it may ask again at once.
    drop(taking.claim);
    let _ = taking.reply.send(answer);
}
