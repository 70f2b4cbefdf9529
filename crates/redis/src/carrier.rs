//! Brings questions to the server: many in one call of the script.

use crate::{
    Compat, Options, errors,
    keys::{self, Keys},
    options::Deployment,
    plan::Plan,
    things::{self, Answer, Caller, Question, Said, Several, Text, Thing},
    wire::{PATIENCE, Subscription, Wire},
};
use lockwork_core::lock::{
    LockId, Result,
    backend::{
        ByName,
        line::{Courier, Failure},
    },
};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{
    sync::{Mutex, Notify},
    task::JoinSet,
    time::{Instant, timeout},
};

/// How many things one call does at most: the server does nothing else meanwhile.
pub(crate) const MOST: usize = 256;

/// A way to the server, open or to be opened. Clones are the same way.
#[derive(Clone)]
pub(crate) struct Carrier(Arc<Way>);

struct Way {
    options: Arc<Options>,
    /// Where those are told who wait by this way, if anybody does.
    listens: Option<Listens>,
    /// What is open, and the how manieth that is.
    wire: Mutex<(u64, Option<Wire>)>,
    nonce: AtomicU64,
    keys: Keys,
    /// What tokens are taken from, unless each lock has its own count.
    count: String,
}

/// What the server says by itself goes here.
#[derive(Debug)]
pub(crate) struct Listens {
    pub(crate) to: Subscription,
    /// Told whenever there is a new connection: what was said before it is lost.
    pub(crate) opened: Arc<Notify>,
}

type Tried = Result<(Vec<Said>, bool), Failure>;

impl Carrier {
    pub(crate) fn new(options: Arc<Options>, listens: Option<Listens>) -> Self {
        // No script reaches keys of several nodes.
        let count = match options.deployment {
            Deployment::Cluster => String::new(),
            _ => keys::count(&options.prefix),
        };
        let keys = match options.compat {
            Compat::None => Keys::Ours(options.prefix.clone()),
            Compat::Medallion => Keys::Theirs,
        };
        Self(Arc::new(Way {
            count,
            keys,
            options,
            listens,
            wire: Mutex::new((0, None)),
            nonce: AtomicU64::new(0),
        }))
    }

    /// Connects unless that was done.
    pub(crate) async fn open(&self) -> Result<()> {
        self.opened().await.map(drop)
    }

    /// What is open, the how manieth that is, and whether it was open before.
    async fn opened(&self) -> Result<(Wire, u64, bool)> {
        let way = &*self.0;
        let mut current = way.wire.lock().await;
        if let (number, Some(wire)) = &*current {
            return Ok((wire.clone(), *number, true));
        }
        let to = way.listens.as_ref().map(|listens| &listens.to);
        let opening = timeout(PATIENCE, Wire::open(&way.options, to)).await;
        let wire = opening.unwrap_or_else(|_| Err(errors::late()))?;
        if let Some(listens) = &way.listens {
            listens.opened.notify_one();
        }
        *current = (current.0 + 1, Some(wire.clone()));
        Ok((wire, current.0, false))
    }

    /// What was the so manieth is not to be used again.
    async fn close(&self, number: u64) {
        let mut current = self.0.wire.lock().await;
        if current.0 == number {
            current.1 = None;
        }
    }

    /// Whoever calls by this way now.
    fn caller(&self) -> Caller<'_> {
        let listens = self.0.listens.as_ref();
        Caller {
            keys: &self.0.keys,
            nonce: self.0.nonce.fetch_add(1, Ordering::Relaxed),
            inbox: listens.map_or("", |listens| &listens.to.channel),
            count: &self.0.count,
        }
    }

    /// Has these done. What was open before may have been closed meanwhile, which shows only when it
    /// is used: then on a new connection, once more. Everything may be asked twice.
    async fn run(&self, things: &[Thing], all: bool) -> Tried {
        let begun = Instant::now();
        let (said, was_open) = self.run_once(things, all).await;
        match said {
            Err(Failure::Unknown(error)) if was_open && begun.elapsed() < PATIENCE / 2 => {
                tracing::debug!(%error, "a connection to Redis was lost");
                match self.run_once(things, all).await.0 {
                    Ok(said) => Ok((said, true)),
                    Err(Failure::NotDone(error) | Failure::Unknown(error)) => {
                        Err(Failure::Unknown(error))
                    }
                }
            }
            once => once.map(|said| (said, false)),
        }
    }

    /// The same, once; and whether the connection was open before.
    async fn run_once(&self, things: &[Thing], all: bool) -> (Result<Vec<Said>, Failure>, bool) {
        let (wire, number, was_open) = match self.opened().await {
            Ok(opened) => opened,
            Err(error) => return (Err(Failure::NotDone(error)), false),
        };
        let compat = self.0.options.compat;
        let said = call(wire, compat, things, all, self.caller()).await;
        if matches!(said, Err(Failure::Unknown(_))) {
            self.close(number).await;
        }
        (said, was_open)
    }

    /// In a cluster, each lock on its own: they belong to different nodes. What is about one lock goes
    /// together, in order.
    async fn run_apart(&self, things: &[Thing]) -> Vec<Tried> {
        let (mut calls, compat) = (JoinSet::new(), self.0.options.compat);
        for (places, things) in by_key(things) {
            let opened = self.opened().await;
            let way = self.clone();
            calls.spawn(async move {
                let said = match opened {
                    Ok((wire, ..)) => call(wire, compat, &things, false, way.caller()).await,
                    Err(error) => Err(Failure::NotDone(error)),
                };
                (places, said)
            });
        }
        let mut tried: Vec<Tried> = Vec::new();
        tried.resize_with(things.len(), || Err(Failure::Unknown(errors::late())));
        while let Some(done) = calls.join_next().await {
            let Ok((places, said)) = done else { continue };
            for (at, place) in places.into_iter().enumerate() {
                // The driver repeats by itself what it finds at another node than it thought.
                let one = said.as_ref().map(|said| (vec![said[at].clone()], false));
                tried[place] = one.map_err(Failure::clone);
            }
        }
        tried
    }

    async fn ping(&self) -> Result<(), Failure> {
        let (mut wire, number, _) = self.opened().await.map_err(Failure::NotDone)?;
        match wire.call(&redis::cmd("PING")).await {
            Ok(_) => Ok(()),
            Err(error) => {
                self.close(number).await;
                Err(errors::failure(error))
            }
        }
    }

    fn is_cluster(&self) -> bool {
        self.0.options.deployment == Deployment::Cluster
    }

    /// Single things, together.
    async fn bring_ones(&self, things: Vec<Thing>) -> Vec<Result<Answer, Failure>> {
        if things.len() > 1 && self.is_cluster() {
            let tried = self.run_apart(&things).await;
            return tried.into_iter().map(answered).collect();
        }
        match self.run(&things, false).await {
            Ok((said, asked_twice)) => {
                let one = |said| {
                    Ok(Answer {
                        said: Several::One(said),
                        asked_twice,
                    })
                };
                said.into_iter().map(one).collect()
            }
            Err(failure) => vec![Err(failure); things.len()],
        }
    }

    async fn bring_each(&self, things: Vec<Thing>) -> Result<Answer, Failure> {
        if self.is_cluster() {
            let tried = self.run_apart(&things).await;
            let said = tried.into_iter().map(|tried| match answered(tried) {
                Ok(answer) => answer.said.first(),
                Err(failure) => Some(Said::Failed(failure.into())),
            });
            return Ok(Answer {
                said: Several::Many(said.flatten().collect()),
                asked_twice: false,
            });
        }
        answered(self.run(&things, false).await)
    }

    async fn bring_all(&self, questions: Vec<Question>) -> Vec<Result<Answer, Failure>> {
        let mut answers = Vec::with_capacity(questions.len());
        let mut ones = Vec::new();
        for question in questions {
            if let Question::One(thing) = question {
                ones.push(thing);
                continue;
            }
            // Those before it go first, so that answers are in order.
            if !ones.is_empty() {
                answers.extend(self.bring_ones(std::mem::take(&mut ones)).await);
            }
            answers.push(match question {
                Question::Each(things) => self.bring_each(things).await,
                Question::All(things) => answered(self.run(&things, true).await),
                Question::One(_) | Question::Ping => self.ping().await.map(|()| Answer {
                    said: Several::Many(Vec::new()),
                    asked_twice: false,
                }),
            });
        }
        if !ones.is_empty() {
            answers.extend(self.bring_ones(ones).await);
        }
        answers
    }
}

impl Courier for Carrier {
    type Question = Question;
    type Answer = Answer;

    const MOST: usize = MOST;

    /// While the server does one lot, the next are made ready. What leads to a cluster keeps no order.
    fn lots(&self) -> usize {
        match self.is_cluster() {
            true => 1,
            false => 4,
        }
    }

    fn bring(
        &self,
        questions: Vec<Question>,
    ) -> impl Future<Output = Vec<Result<Answer, Failure>>> + Send + 'static {
        let way = self.clone();
        async move { way.bring_all(questions).await }
    }
}

/// The things about each key, and where they stood.
fn by_key(things: &[Thing]) -> Vec<(Vec<usize>, Vec<Thing>)> {
    let mut groups: HashMap<&LockId, (Vec<usize>, Vec<Thing>), ByName> = HashMap::default();
    for (at, thing) in things.iter().enumerate() {
        let (places, things) = groups.entry(&thing.lease.id).or_default();
        places.push(at);
        things.push(thing.clone());
    }
    groups.into_values().collect()
}

fn answered(tried: Tried) -> Result<Answer, Failure> {
    tried.map(|(said, asked_twice)| Answer {
        said: Several::Many(said),
        asked_twice,
    })
}

async fn call(
    mut wire: Wire,
    compat: Compat,
    things: &[Thing],
    all: bool,
    caller: Caller<'_>,
) -> Result<Vec<Said>, Failure> {
    let text = Text::of(compat);
    let plan = match compat {
        _ if all => Plan::all(things.len()),
        Compat::None => Plan::each(things),
        Compat::Medallion => Plan::as_it_is(things.len()),
    };
    let call = things::call(text, things, &plan, caller);
    let said = match wire.call(&call).await {
        // One that was restarted or told to forget.
        Err(error) if errors::is_unknown_script(&error) => {
            let said = wire.call(&things::with_text(text, &call)).await;
            // Nobody lacks what was sent along: that was the answer to something else.
            if said.as_ref().is_err_and(errors::is_unknown_script) {
                return Err(Failure::Unknown(errors::contradiction()));
            }
            said
        }
        said => said,
    };
    let said = said.map_err(errors::failure)?;
    things::read(said, caller.nonce, &plan).map_err(Failure::Unknown)
}
