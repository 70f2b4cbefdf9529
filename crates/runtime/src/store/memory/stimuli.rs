//! Stimuli that wait, timers and dead letters, in memory.

use super::{Inner, MemoryStore};
use crate::store::{
    DeadLetter, Errand, ErrandKind, Held, Letter, Reason, Sending, Sent, StimulusStore, Timer,
    TimerKind, WaitingStimulus, derived, is_for,
};
use lockwork_core::workflow::{
    Answer, Bookmark, BookmarkId, InstanceId, Result, Status, Stimulus, StimulusHash, Time,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(super) struct Stimuli {
    waiting: BTreeMap<u64, WaitingStimulus>,
    by_hash: HashMap<StimulusHash, BTreeSet<u64>>,
    /// Keys of stimuli that came, and when.
    keys: HashMap<String, Time>,
    pub(super) timers: BTreeSet<(Time, BookmarkId, InstanceId)>,
    dead: BTreeMap<String, DeadLetter>,
}

impl Stimuli {
    pub(super) fn next_timer(&self) -> Option<Time> {
        self.timers.first().map(|(due, ..)| *due)
    }

    fn timers(&self) -> impl Iterator<Item = Timer> {
        self.timers.iter().map(|(due, bookmark, instance)| Timer {
            due: *due,
            kind: TimerKind::Resume {
                bookmark: bookmark.clone(),
                instance: instance.clone(),
            },
        })
    }

    pub(super) fn bury(&mut self, letter: DeadLetter) {
        self.dead.entry(letter.id.clone()).or_insert(letter);
    }

    /// The oldest stimulus that waits for this bookmark.
    pub(super) fn oldest_for(
        &self,
        instance: &InstanceId,
        correlation: Option<&str>,
        bookmark: &Bookmark,
    ) -> Option<u64> {
        let mut same = self.by_hash.get(&bookmark.hash)?.iter().copied();
        same.find(|at| {
            let waiting = self.waiting.get(at);
            waiting.is_some_and(|one| is_for(&one.stimulus.to, instance, correlation, bookmark))
        })
    }

    pub(super) fn remove(&mut self, at: u64) -> Option<WaitingStimulus> {
        let waiting = self.waiting.remove(&at)?;
        let hash = waiting.stimulus.hash;
        if let Some(same) = self.by_hash.get_mut(&hash) {
            same.remove(&at);
            if same.is_empty() {
                self.by_hash.remove(&hash);
            }
        }
        Some(waiting)
    }

    fn keep(&mut self, at: u64, waiting: WaitingStimulus) {
        self.by_hash
            .entry(waiting.stimulus.hash)
            .or_default()
            .insert(at);
        self.waiting.insert(at, waiting);
    }

    /// Those for an instance that is gone.
    pub(super) fn forget(&mut self, instance: &InstanceId) {
        let of = self.waiting.iter();
        let of = of.filter(|(_, one)| one.stimulus.to.instance.as_ref() == Some(instance));
        let of: Vec<_> = of.map(|(at, _)| *at).collect();
        of.into_iter().for_each(|at| drop(self.remove(at)));
    }
}

impl Inner {
    fn send(&mut self, sending: Sending) -> Result<Sent> {
        self.check_held(sending.consumes.as_ref())?;
        let sent = self.tell(&sending);
        if let Some(held) = &sending.consumes {
            self.remove_errand(&held.errand.id, sending.now);
        }
        Ok(sent)
    }

    fn tell(&mut self, sending: &Sending) -> Sent {
        let Sending { stimulus, now, .. } = sending;
        if let Some(key) = &stimulus.key
            && self.stimuli.keys.insert(key.clone(), *now).is_some()
        {
            return Sent {
                duplicate: true,
                ..Sent::default()
            };
        }
        let (deliveries, busy) = self.deliveries(sending);
        let starts = self.starts(sending).into_iter();
        let errands: Vec<_> = starts.chain(deliveries).collect();
        let queued = errands.is_empty() && !stimulus.fleeting && !self.is_over(stimulus);
        if queued && busy.is_empty() {
            self.keep_waiting(sending, sending.id.clone(), stimulus.clone());
        }
        for instance in busy.into_iter().filter(|_| !stimulus.fleeting) {
            let mut own = stimulus.clone();
            let id = format!("{}@{instance}", sending.id);
            own.to.instance = Some(instance);
            self.keep_waiting(sending, id, own);
        }
        // Nobody is at them, if the sender does not hold them.
        let held = errands.into_iter().filter_map(|errand| {
            if sending.hold > *now {
                return self.add_held(errand, sending.hold);
            }
            self.add_errand(errand);
            None
        });
        Sent {
            errands: held.collect(),
            queued,
            duplicate: false,
        }
    }

    fn keep_waiting(&mut self, sending: &Sending, id: String, stimulus: Stimulus) {
        let at = self.count();
        let waiting = WaitingStimulus {
            id,
            stimulus,
            created: sending.now,
            expires: sending
                .expires
                .filter(|_| !sending.stimulus.to.is_certain()),
        };
        self.stimuli.keep(at, waiting);
    }

    /// Whoever it is for will never wait again.
    fn is_over(&self, stimulus: &Stimulus) -> bool {
        let row = stimulus
            .to
            .instance
            .as_ref()
            .and_then(|id| self.instances.rows.get(id));
        row.is_some_and(|row| row.state.sub_status.status() == Status::Finished)
    }

    fn starts(&self, sending: &Sending) -> Vec<Errand> {
        let stimulus = &sending.stimulus;
        if stimulus.to.is_certain() {
            return Vec::new();
        }
        let triggers = self.definitions.by_hash(&stimulus.hash);
        let triggers = triggers.enumerate();
        triggers
            .map(|(number, (version, trigger))| {
                derived::triggered(sending, number, version, trigger)
            })
            .collect()
    }

    /// Errands for all bookmarks that it fits; and the instances of those that something else will resume first, which
    /// get it when they wait again.
    fn deliveries(&self, sending: &Sending) -> (Vec<Errand>, BTreeSet<InstanceId>) {
        let (mut errands, mut busy) = (Vec::new(), BTreeSet::new());
        let stimulus = &sending.stimulus;
        let same = self.instances.by_hash.get(&stimulus.hash);
        for (id, instance) in same.into_iter().flatten() {
            let Some((bookmark, correlation)) = self.bookmark(id, instance) else {
                continue;
            };
            if !is_for(&stimulus.to, instance, correlation, bookmark) {
                continue;
            }
            if bookmark.burns && self.errands.is_promised(id) {
                busy.insert(instance.clone());
            } else {
                let (stimulus, now) = (stimulus.clone(), sending.now);
                errands.push(derived::delivery(&sending.id, instance, id, stimulus, now));
            }
        }
        (errands, busy)
    }

    fn redirect(&mut self, held: &Held, now: Time, expires: Time) -> Result<()> {
        self.check_held(Some(held))?;
        let Some(errand) = self.remove_errand(&held.errand.id, now) else {
            return Ok(());
        };
        let ErrandKind::Deliver {
            instance,
            stimulus: Some(mut stimulus),
            ..
        } = errand.kind
        else {
            return Ok(());
        };
        stimulus.to.instance = Some(instance);
        stimulus.key = None;
        self.tell(&Sending {
            id: format!("{}+", errand.id),
            stimulus,
            now,
            expires: Some(expires),
            consumes: None,
            hold: now,
        });
        Ok(())
    }

    fn fire_timers(&mut self, now: Time, limit: usize) -> usize {
        let due = self
            .stimuli
            .timers
            .iter()
            .take_while(|(due, ..)| *due <= now);
        let due: Vec<_> = due.take(limit).cloned().collect();
        for timer in &due {
            self.stimuli.timers.remove(timer);
            let (at, bookmark, instance) = timer;
            if self.errands.is_promised(bookmark) {
                continue;
            }
            self.add_errand(derived::timer(instance, bookmark, *at));
        }
        due.len()
    }

    fn next_timers(&self, limit: usize) -> Vec<Timer> {
        let bookmarks = self.stimuli.timers().take(limit);
        let mut timers: Vec<_> = bookmarks.chain(self.definitions.timers()).collect();
        timers.sort_unstable();
        timers.truncate(limit);
        timers
    }

    fn purge(&mut self, now: Time, forget: Time) -> usize {
        let expired = self.stimuli.waiting.iter();
        let expired = expired.filter(|(_, one)| one.expires.is_some_and(|expires| expires <= now));
        let expired: Vec<_> = expired.map(|(at, _)| *at).collect();
        for at in &expired {
            if let Some(waiting) = self.stimuli.remove(*at) {
                self.stimuli.bury(DeadLetter {
                    id: waiting.id.clone(),
                    letter: Letter::Stimulus(waiting),
                    reason: Reason::Expired,
                    at: now,
                    replayed: None,
                });
            }
        }
        self.stimuli.dead.retain(|_, letter| letter.at >= forget);
        self.stimuli.keys.retain(|_, came| *came >= forget);
        expired.len()
    }

    fn replay(&mut self, id: &str, again: &str, now: Time, expires: Time) -> bool {
        let letter = self
            .stimuli
            .dead
            .get_mut(id)
            .filter(|letter| letter.replayed.is_none());
        let Some(letter) = letter else {
            return false;
        };
        letter.replayed = Some(now);
        match letter.letter.clone() {
            Letter::Errand(errand) => {
                self.add_errand(Errand {
                    id: again.to_owned(),
                    due: now,
                    ..errand
                });
            }
            Letter::Stimulus(waiting) => {
                let mut stimulus = waiting.stimulus;
                stimulus.key = None;
                self.tell(&Sending {
                    id: again.to_owned(),
                    stimulus,
                    now,
                    expires: Some(expires),
                    consumes: None,
                    hold: now,
                });
            }
        }
        true
    }
}

impl StimulusStore for MemoryStore {
    fn send(&self, sending: Sending) -> Answer<'_, Sent> {
        self.answer(|inner| inner.send(sending))
    }

    fn redirect<'a>(&'a self, held: &'a Held, now: Time, expires: Time) -> Answer<'a, ()> {
        self.answer(|inner| inner.redirect(held, now, expires))
    }

    fn fire(&self, now: Time, limit: usize) -> Answer<'_, usize> {
        self.answer(|inner| Ok(inner.fire_timers(now, limit) + inner.fire_schedules(now, limit)))
    }

    fn timers(&self, limit: usize) -> Answer<'_, Vec<Timer>> {
        self.answer(|inner| Ok(inner.next_timers(limit)))
    }

    fn waiting(&self) -> Answer<'_, Vec<WaitingStimulus>> {
        self.answer(|inner| Ok(inner.stimuli.waiting.values().cloned().collect()))
    }

    fn purge(&self, now: Time, forget: Time) -> Answer<'_, usize> {
        self.answer(|inner| Ok(inner.purge(now, forget)))
    }

    fn dead_letters(&self) -> Answer<'_, Vec<DeadLetter>> {
        self.answer(|inner| Ok(inner.stimuli.dead.values().cloned().collect()))
    }

    fn replay<'a>(
        &'a self,
        id: &'a str,
        again: &'a str,
        now: Time,
        expires: Time,
    ) -> Answer<'a, bool> {
        self.answer(|inner| Ok(inner.replay(id, again, now, expires)))
    }
}
