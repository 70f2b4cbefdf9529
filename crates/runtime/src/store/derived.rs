//! Errands that follow from something: called by it, so that what is asked for twice is one.

use super::{Errand, ErrandKind, Sending, TakenJob, TriggerRow};
use lockwork_core::workflow::{
    BookmarkId, Create, DefinitionHandle, DefinitionId, InstanceId, Run, Stimulus, StimulusHash,
    Target, Time, Values, VersionId,
};
use lockwork_flow::Schedule;

/// Resumes a bookmark by a stimulus that is called `id`.
#[must_use]
pub fn delivery(
    id: &str,
    instance: &InstanceId,
    bookmark: &BookmarkId,
    stimulus: Stimulus,
    now: Time,
) -> Errand {
    let kind = ErrandKind::Deliver {
        instance: instance.clone(),
        bookmark: bookmark.clone(),
        input: stimulus.input.clone(),
        stimulus: Some(stimulus),
    };
    let id = format!("{id}/{bookmark}");
    Errand { id, kind, due: now }
}

/// Resumes a bookmark whose time has come.
#[must_use]
pub fn timer(instance: &InstanceId, bookmark: &BookmarkId, due: Time) -> Errand {
    resume(
        format!("timer/{bookmark}"),
        instance,
        bookmark,
        Values::new(),
        due,
    )
}

/// Resumes a bookmark with the result of long work.
#[must_use]
pub fn job_done(job: &TakenJob, result: Values, now: Time) -> Errand {
    resume(
        format!("job/{}", job.bookmark),
        &job.instance,
        &job.bookmark,
        result,
        now,
    )
}

fn resume(
    id: String,
    instance: &InstanceId,
    bookmark: &BookmarkId,
    input: Values,
    due: Time,
) -> Errand {
    let kind = ErrandKind::Deliver {
        instance: instance.clone(),
        bookmark: bookmark.clone(),
        input,
        stimulus: None,
    };
    Errand { id, kind, due }
}

/// Starts an instance by the trigger with this number of those a stimulus fits.
#[must_use]
pub fn triggered(
    sending: &Sending,
    number: usize,
    version: &VersionId,
    trigger: &TriggerRow,
) -> Errand {
    let mut create = Create::new(DefinitionHandle::Version(version.clone()));
    create
        .correlation
        .clone_from(&sending.stimulus.to.correlation);
    let run = Run::at(Target::Trigger(trigger.node.clone())).input(sending.stimulus.input.clone());
    let name = format!("{}-{number}", sending.id);
    Errand {
        kind: ErrandKind::Start {
            instance: short(&name),
            create,
            run,
        },
        id: format!("start/{name}"),
        due: sending.now,
    }
}

/// Starts an instance because it is time: of all nodes that see it come, one does.
#[must_use]
pub fn scheduled(
    definition: &DefinitionId,
    version: &VersionId,
    trigger: &TriggerRow,
    at: Time,
) -> Errand {
    let name = format!("{definition}@{}@{}", trigger.node, at.as_millis());
    Errand {
        kind: ErrandKind::Start {
            instance: InstanceId::new(&name).unwrap_or_else(|_| short(&name)),
            create: Create::new(DefinitionHandle::Version(version.clone())),
            run: Run::at(Target::Trigger(trigger.node.clone())),
        },
        id: format!("schedule/{name}"),
        due: at,
    }
}

/// When a schedule that was due `at` comes again. What was missed meanwhile is not made up for.
#[must_use]
pub fn next_after(schedule: &Schedule, at: Time, now: Time) -> Option<Time> {
    match schedule {
        Schedule::At(_) => None,
        Schedule::Cron(cron) => cron.after(now.max(at)),
        Schedule::Every(every) => {
            let length = i64::try_from(every.as_duration().as_millis()).ok()?.max(1);
            let missed = (now.as_millis() - at.as_millis()).max(0) / length;
            Some(Time::from_millis(at.as_millis() + (missed + 1) * length))
        }
    }
}

/// What starts an instance is called after another instance, and that after a third: so names are not strung together.
fn short(name: &str) -> InstanceId {
    let number = StimulusHash::of("instance", &name.into(), None).map(|hash| hash.number());
    InstanceId::drawn(number.unwrap_or_default())
}
