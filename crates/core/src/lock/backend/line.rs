//! Questions to a server, gathered behind those that are on their way.
//!
//! A [`Line`] is a task that owns whatever leads to the server. A lone question goes at once; those
//! that come meanwhile go together when its answer is there, or earlier where a courier can have several
//! lots under way. So there are few calls however many ask, and nobody who stops waiting, or is not polled
//! for a while, is in anybody's way.
//!
//! Answers are given out in portions. Whoever is answered mostly asks again; so the server has something
//! to do while the others are answered, instead of waiting for all of them to ask at once.
//!
//! A line lives on one runtime. On the caller's own, a question costs no change of threads; on the
//! [keeper thread](super::keeper) it survives that runtime. [`Lines`] are one of each.

use super::keeper;
use crate::lock::{Error, ErrorKind};
use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    runtime::{Handle, Id},
    sync::{mpsc, oneshot},
    time::{Sleep, sleep},
};

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The server has not done it and will not.
    NotDone(Error),
    /// Perhaps it has, or will.
    Unknown(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotDone(error) | Failure::Unknown(error) => error,
        }
    }
}

/// Brings questions to a server.
pub trait Courier: Send + Sync + 'static {
    /// What is asked.
    type Question: Send + 'static;
    /// What is answered.
    type Answer: Send + 'static;

    /// How many questions go together at most.
    const MOST: usize;

    /// How many such lots may be under way at once. Those after the first are begun in order; so only
    /// where what is sent first arrives first.
    fn lots(&self) -> usize {
        1
    }

    /// Brings these to the server, and an answer to each in the same order. Takes a limited time.
    fn bring(
        &self,
        questions: Vec<Self::Question>,
    ) -> impl Future<Output = Vec<Result<Self::Answer, Failure>>> + Send + 'static;
}

/// Where questions stand in line. Clones are the same line.
pub struct Line<Q, A> {
    asked: mpsc::UnboundedSender<Asked<Q, A>>,
    home: Id,
}

struct Asked<Q, A> {
    question: Q,
    /// `None` if nobody ever wanted to hear it.
    answer: Asker<A>,
}

impl<Q, A> Asked<Q, A> {
    /// Whether whoever asked has turned away since: to another line, say, where the same was done.
    fn is_given_up(&self) -> bool {
        self.answer.as_ref().is_some_and(oneshot::Sender::is_closed)
    }
}

impl<Q: Send + 'static, A: Send + 'static> Line<Q, A> {
    /// A line on `runtime`, until nobody can ask any more or the runtime ends.
    pub fn on(runtime: &Handle, courier: impl Courier<Question = Q, Answer = A>) -> Self {
        let (asked, questions) = mpsc::unbounded_channel();
        runtime.spawn(run(courier, questions));
        let home = runtime.id();
        Self { asked, home }
    }

    /// A line on the keeper thread.
    pub fn on_keeper(courier: impl Courier<Question = Q, Answer = A>) -> Self {
        let _keeper = keeper::enter();
        Self::on(&Handle::current(), courier)
    }

    /// Whether whoever asks now is on the runtime of this line, and that has not ended.
    fn is_near(&self) -> bool {
        keeper::caller() == Some(self.home) && !self.asked.is_closed()
    }

    /// Asks. `None` if the runtime of this line ends before there is an answer; or has not brought one
    /// within `patience`, while nobody can say whether it runs.
    fn ask(&self, question: Q, patience: Option<Duration>) -> Reply<A> {
        let (answer, answered) = oneshot::channel();
        self.send(question, Some(answer));
        Reply {
            answered,
            home: self.home,
            patience,
            is_new: true,
            limit: None,
        }
    }

    fn send(&self, question: Q, answer: Asker<A>) {
        // Should nobody read it any more, the answer is missing.
        let _ = self.asked.send(Asked { question, answer });
    }
}

async fn run<C: Courier>(courier: C, asked: Questions<C>) {
    let mut desk = Desk {
        courier,
        asked,
        over: false,
        under_way: Vec::new(),
        answered: VecDeque::new(),
        has_let_pass: false,
    };
    std::future::poll_fn(|cx| desk.poll(cx)).await;
}

type Questions<C> =
    mpsc::UnboundedReceiver<Asked<<C as Courier>::Question, <C as Courier>::Answer>>;

/// So many are answered before others on the runtime have their turn: what those ask then is on its
/// way, and the server at work, while the rest are answered.
const PORTION: usize = 32;

/// What a line does.
struct Desk<C: Courier> {
    courier: C,
    asked: Questions<C>,
    /// Nobody will ask any more.
    over: bool,
    under_way: Vec<Lot<C::Answer>>,
    /// What is still to be told, the oldest first.
    answered: VecDeque<Answered<C::Answer>>,
    /// Those who are to be told have waited for what was just begun.
    has_let_pass: bool,
}

impl<C: Courier> Desk<C> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut begun = false;
        loop {
            self.hear(cx);
            if !self.begin(cx) {
                break;
            }
            begun = true;
        }
        if !self.answered.is_empty() {
            // Whoever sends what was begun is to be before all those whom an answer wakes.
            self.has_let_pass = begun && !self.has_let_pass;
            if !self.has_let_pass {
                self.tell();
            }
            if !self.answered.is_empty() {
                cx.waker().wake_by_ref();
            }
        }
        match self.over && self.under_way.is_empty() && self.answered.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Looks for answers; the oldest first, as they are given out in the order of the questions.
    fn hear(&mut self, cx: &mut Context<'_>) {
        let answered = &mut self.answered;
        self.under_way
            .retain_mut(|lot| match lot.bringing.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(said) => {
                    answered.push_back(Answered {
                        said: said.into_iter(),
                        askers: std::mem::take(&mut lot.askers).into_iter(),
                    });
                    false
                }
            });
    }

    /// Begins one more lot, if there is room for it and anybody asks.
    fn begin(&mut self, cx: &mut Context<'_>) -> bool {
        while !self.over && self.under_way.len() < self.courier.lots() {
            match self.asked.poll_recv(cx) {
                Poll::Pending => return false,
                Poll::Ready(None) => self.over = true,
                Poll::Ready(Some(first)) => {
                    if let Some(lot) = begin(&self.courier, first, &mut self.asked) {
                        self.under_way.push(lot);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Gives out a portion of the answers: all of a lot's where the server has other lots to do meanwhile.
    fn tell(&mut self) {
        let mut left = match self.under_way.len() {
            0 | 1 => PORTION,
            _ => PORTION.max(C::MOST),
        };
        while let Some(lot) = self.answered.front_mut() {
            for asker in lot.askers.by_ref().take(left) {
                left -= 1;
                let said = lot.said.next().unwrap_or_else(|| Err(missing()));
                // Whoever does not wait any more needs no answer.
                let _ = asker.map(|asker| asker.send(said));
            }
            if lot.askers.len() > 0 {
                return;
            }
            self.answered.pop_front();
        }
    }
}

type Asker<A> = Option<oneshot::Sender<Result<A, Failure>>>;

/// Questions on their way.
struct Lot<A> {
    bringing: Bringing<A>,
    askers: Vec<Asker<A>>,
}

type Bringing<A> = Pin<Box<dyn Future<Output = Vec<Result<A, Failure>>> + Send>>;

/// What was said to a lot.
struct Answered<A> {
    said: std::vec::IntoIter<Result<A, Failure>>,
    askers: std::vec::IntoIter<Asker<A>>,
}

/// Takes what stands in line behind `first`, except what nobody waits for any more.
fn begin<C: Courier>(
    courier: &C,
    first: Asked<C::Question, C::Answer>,
    asked: &mut Questions<C>,
) -> Option<Lot<C::Answer>> {
    let (mut questions, mut askers) = (Vec::new(), Vec::new());
    let mut next = Some(first);
    while let Some(asked_for) = next {
        if !asked_for.is_given_up() {
            questions.push(asked_for.question);
            askers.push(asked_for.answer);
        }
        next = match questions.len() < C::MOST {
            true => asked.try_recv().ok(),
            false => None,
        };
    }
    if questions.is_empty() {
        return None;
    }
    let bringing = Box::pin(courier.bring(questions));
    Some(Lot { bringing, askers })
}

fn missing() -> Failure {
    let message = "the server answered fewer questions than were asked";
    Failure::Unknown(Error::new(ErrorKind::Unexpected, message))
}

/// An answer that is to come.
struct Reply<A> {
    answered: oneshot::Receiver<Result<A, Failure>>,
    home: Id,
    patience: Option<Duration>,
    /// Nobody has polled it yet since it was asked.
    is_new: bool,
    limit: Option<Pin<Box<Sleep>>>,
}

impl<A> Future for Reply<A> {
    type Output = Option<Result<A, Failure>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(answered) = Pin::new(&mut self.answered).poll(cx) {
            return Poll::Ready(answered.ok());
        }
        // Whoever polls this on the line's own runtime drives it, as whoever has just asked does. Elsewhere,
        // nobody may: a runtime of one thread runs while somebody blocks on it, and no longer.
        let is_new = std::mem::replace(&mut self.is_new, false);
        let patience = match self.patience {
            Some(patience) if !is_new && keeper::caller() != Some(self.home) => patience,
            _ => return Poll::Pending,
        };
        let limit = self.limit.get_or_insert_with(|| {
            let _timer_is_the_keepers = keeper::enter();
            Box::pin(sleep(patience))
        });
        ready!(limit.as_mut().poll(cx));
        Poll::Ready(None)
    }
}

/// Two lines to one server: one on the runtime of whoever connected, for those who ask from there,
/// and one on the keeper thread for everybody else.
///
/// Whoever asks twice from one runtime is heard in that order.
pub struct Lines<Q, A> {
    near: Option<Line<Q, A>>,
    keeper: Line<Q, A>,
}

/// How long the near line is waited for by somebody whose caller went away: its runtime may have been
/// left as well. Asking twice does no harm.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the server said.
#[derive(Debug)]
pub struct Answer<A> {
    /// The answer.
    pub said: A,
    /// It was asked before, and what was said to that is not known.
    pub asked_twice: bool,
}

impl<Q: Clone + Send + 'static, A: Send + 'static> Lines<Q, A> {
    /// These two.
    pub const fn new(near: Option<Line<Q, A>>, keeper: Line<Q, A>) -> Self {
        Self { near, keeper }
    }

    /// The near line, if it is near.
    fn near(&self) -> Option<&Line<Q, A>> {
        self.near.as_ref().filter(|near| near.is_near())
    }

    /// Asks, once, or on the keeper's line once more if the near one's runtime ended meanwhile.
    ///
    /// # Errors
    /// What the courier says of the last try. If there was one before it, nothing is known of that.
    ///
    /// # Cancel safety
    /// Dropped, the question is asked nevertheless if it is on its way already, and nobody hears the
    /// answer; if it still stands in line it is not asked any more.
    // Not an `async fn`: that would carry the question twice (rust-lang/rust#62958).
    #[allow(clippy::manual_async_fn)]
    pub fn ask(&self, question: Q) -> impl Future<Output = Result<Answer<A>, Failure>> + Send {
        async move {
            let mut asked_twice = false;
            if let Some(near) = self.near() {
                if let Some(answered) = near.ask(question.clone(), Some(PATIENCE)).await {
                    return answered.map(|said| Answer { said, asked_twice });
                }
                asked_twice = true;
            }
            // The keeper always runs, and the courier has limits of its own.
            match self.keeper.ask(question, None).await {
                Some(Ok(said)) => Ok(Answer { said, asked_twice }),
                Some(Err(Failure::NotDone(error))) if asked_twice => Err(Failure::Unknown(error)),
                Some(Err(failure)) => Err(failure),
                None => {
                    let message = "lockwork's own thread has ended";
                    Err(Failure::Unknown(Error::new(ErrorKind::Unexpected, message)))
                }
            }
        }
    }

    /// Asks for something of which nobody waits for the answer.
    pub fn tell(&self, question: Q) {
        self.near().unwrap_or(&self.keeper).send(question, None);
    }
}

impl<Q, A> Clone for Line<Q, A> {
    fn clone(&self) -> Self {
        Self {
            asked: self.asked.clone(),
            home: self.home,
        }
    }
}

impl<Q, A> fmt::Debug for Line<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("home", &self.home).finish()
    }
}

impl<Q, A> fmt::Debug for Lines<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("near", &self.near)
            .field("keeper", &self.keeper)
            .finish_non_exhaustive()
    }
}
