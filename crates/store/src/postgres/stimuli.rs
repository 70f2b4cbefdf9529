//! Brings stimuli and bookmarks together.

use super::{
    PostgresStore,
    errands::Ending,
    errors::not_held,
    fire::{Coming, Firing},
    letters::{Dead, Purging, Replaying, Waiting},
    rows::Row,
    send::{Telling, redirected},
    text::{limit, millis, name},
};
use lockwork_core::workflow::{Answer, Time};
use lockwork_runtime::store::{
    DeadLetter, Held, Letter, Sending, Sent, StimulusStore, Timer, WaitingStimulus,
};

impl StimulusStore for PostgresStore {
    fn send(&self, sending: Sending) -> Answer<'_, Sent> {
        let telling = Telling::new(sending);
        Box::pin(async move { Ok(self.answer(telling).await?.sent) })
    }

    fn redirect<'a>(&'a self, held: &'a Held, now: Time, expires: Time) -> Answer<'a, ()> {
        let redirected = redirected(held, now, expires);
        Box::pin(async move {
            match redirected {
                Some(sending) => self.answer(Telling::new(sending)).await.map(drop),
                // There is nothing to send.
                None => match self.answer(Ending::new(held, now)).await? {
                    (true, _) => Ok(()),
                    (false, _) => Err(not_held()),
                },
            }
        })
    }

    fn fire(&self, now: Time, most: usize) -> Answer<'_, usize> {
        self.answer(Ok(Firing {
            now,
            limit: limit(most),
        }))
    }

    fn timers(&self, most: usize) -> Answer<'_, Vec<Timer>> {
        self.answer(Ok(Coming(limit(most))))
    }

    fn waiting(&self) -> Answer<'_, Vec<WaitingStimulus>> {
        self.answer(Ok(Waiting))
    }

    fn purge(&self, now: Time, forget: Time) -> Answer<'_, usize> {
        self.answer(Ok(Purging(millis(now), millis(forget))))
    }

    fn dead_letters(&self) -> Answer<'_, Vec<DeadLetter>> {
        self.answer(Ok(Dead(None)))
    }

    fn replay<'a>(
        &'a self,
        id: &'a str,
        again: &'a str,
        now: Time,
        expires: Time,
    ) -> Answer<'a, bool> {
        Box::pin(async move {
            let dead = name(id)?.into_owned();
            let letter = self.answer(Ok(Dead(Some(dead.clone())))).await?.pop();
            // Read first, and marked together with what comes of it: of two who try, one does.
            match letter.filter(|letter| letter.replayed.is_none()) {
                None => Ok(false),
                Some(DeadLetter {
                    letter: Letter::Errand(mut errand),
                    ..
                }) => {
                    again.clone_into(&mut errand.id);
                    errand.due = now;
                    let row = Row::of(&errand)?;
                    let now = millis(now);
                    self.answer(Ok(Replaying { dead, now, row })).await
                }
                Some(DeadLetter {
                    letter: Letter::Stimulus(waiting),
                    ..
                }) => {
                    let mut stimulus = waiting.stimulus;
                    stimulus.key = None;
                    let telling = Telling::new(Sending {
                        id: again.to_owned(),
                        stimulus,
                        now,
                        expires: Some(expires),
                        consumes: None,
                        hold: now,
                    });
                    let told = self.answer(telling.map(|telling| telling.of_dead(dead)));
                    Ok(told.await?.dead)
                }
            }
        })
    }
}
