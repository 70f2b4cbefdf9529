//! The activities of this crate.

mod branches;
mod call;
mod children;
mod data;
mod events;
mod faults;
mod flowchart;
mod fork;
mod http;
mod jobs;
mod loops;
mod parallel_for_each;
mod sequence;
mod timers;

pub use call::Coded;
pub(crate) use call::{Call, Code};
pub(crate) use children::{CHILD, payload as child_payload};
pub use events::{EVENT, TASK, delivered};
pub(crate) use jobs::JOB;

use crate::registry::Registry;

/// Adds all of them.
pub(crate) fn standard(registry: Registry) -> Registry {
    let registry = registry
        .with(sequence::Sequence)
        .with(fork::Parallel)
        .with(fork::Fork)
        .with(branches::If)
        .with(branches::Switch)
        .with(branches::Decide)
        .with(branches::Choose)
        .with(loops::While)
        .with(loops::ForEach)
        .with(loops::Break)
        .with(parallel_for_each::ParallelForEach)
        .with(flowchart::Flowchart)
        .with(Call::new(Default::default()));
    let registry = registry
        .with(data::SetVariable)
        .with(data::SetOutput)
        .with(data::Correlate)
        .with(data::SetName)
        .with(data::Log)
        .with(data::Finish)
        .with(faults::Fault)
        .with(faults::Try);
    registry
        .with(events::Event)
        .with(events::PublishEvent)
        .with(events::RunTask)
        .with(http::HttpEndpoint)
        .with(http::HttpResponse)
        .with(timers::Delay)
        .with(timers::Timer)
        .with(timers::StartAt)
        .with(timers::CronTimer)
        .with(children::DispatchWorkflow)
        .with(children::ExecuteWorkflow)
        .with(children::BulkDispatch)
        .with(jobs::JobActivity)
        .with(jobs::HttpRequest)
        .with(jobs::Shell)
}
