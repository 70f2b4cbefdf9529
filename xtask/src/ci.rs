//! `ci`: every check a change must pass, cheapest first, with the time each
//! one takes. It serves `.ci/run` and the contributor before a push.

mod beside;
mod stages;

use std::time::{Duration, Instant};

use crate::outcome::{Failure, Outcome};
use crate::paint;
use crate::repo::Repo;
use beside::Beside;
use stages::{Lane, STAGES, Stage};

/// What a stage was called, how long it took, and whether it succeeded.
type Timed = (&'static str, Duration, bool);

/// Runs the stages named one after another, or all that a change must pass, and stops at the first failure.
pub(crate) fn ci(repo: &Repo, names: &[String]) -> Outcome {
    let chosen = choose(names)?;
    let begun = Instant::now();
    let mut times = Vec::new();
    let outcome = match names.is_empty() {
        true => all(repo, &mut times),
        false => in_order(repo, &chosen, &mut times),
    };
    summary(&times, begun.elapsed());
    outcome
}

/// Every stage that a change must pass. What waits for the network runs beside the making of programs; nothing runs
/// beside the tests, whose limits are of time.
fn all(repo: &Repo, times: &mut Vec<Timed>) -> Outcome {
    in_order(repo, &of(Lane::First), times)?;
    let names: Vec<_> = of(Lane::Beside).iter().map(|stage| stage.name).collect();
    let beside = Beside::start(repo, &names)?;
    in_order(repo, &of(Lane::Build), times)?;
    let begun = Instant::now();
    let outcome = beside.join();
    times.push(("(beside)", begun.elapsed(), outcome.is_ok()));
    outcome?;
    in_order(repo, &of(Lane::Last), times)
}

fn of(lane: Lane) -> Vec<&'static Stage> {
    STAGES.iter().filter(|stage| stage.lane == lane).collect()
}

fn in_order(repo: &Repo, stages: &[&'static Stage], times: &mut Vec<Timed>) -> Outcome {
    stages.iter().try_for_each(|stage| {
        println!("{}", paint::stdout().bold(&format!("== {}", stage.name)));
        let begun = Instant::now();
        let outcome = (stage.run)(repo);
        times.push((stage.name, begun.elapsed(), outcome.is_ok()));
        println!(
            "   {} took {:.1} s",
            stage.name,
            begun.elapsed().as_secs_f64()
        );
        outcome.map_err(|failure| in_stage(stage, &failure))
    })
}

fn choose(names: &[String]) -> Outcome<Vec<&'static Stage>> {
    if let Some(unknown) = names
        .iter()
        .find(|name| STAGES.iter().all(|stage| stage.name != **name))
    {
        let known: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        return Err(Failure::usage(format!(
            "There is no stage `{unknown}`; the stages are {}.",
            known.join(", ")
        )));
    }
    let wanted = |stage: &&Stage| match names.is_empty() {
        true => stage.lane != Lane::Apart,
        false => names.iter().any(|name| name == stage.name),
    };
    Ok(STAGES.iter().filter(wanted).collect())
}

fn in_stage(stage: &Stage, failure: &Failure) -> Failure {
    Failure::failed(format!(
        "The stage `{name}` failed. {failure} `cargo xtask ci {name}` runs it alone.",
        name = stage.name
    ))
}

fn summary(times: &[Timed], all: Duration) {
    let paint = paint::stdout();
    println!("{}", paint.bold("== times"));
    for (name, time, passed) in times {
        let mark = if *passed {
            paint.green("ok")
        } else {
            paint.red("failed")
        };
        println!("   {name:<10}{:>8.1} s  {mark}", time.as_secs_f64());
    }
    println!("   {:<10}{:>8.1} s", "all", all.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_chooses_what_a_change_must_pass_in_order() {
        let names: Vec<&str> = choose(&[]).unwrap().iter().map(|s| s.name).collect();
        let order = [
            "fmt", "package", "patches", "tree", "services", "build", "doctests", "clippy", "test",
            "examples",
        ];
        assert_eq!(names, order);
    }

    #[test]
    fn what_is_left_out_is_run_by_a_job_of_its_own() {
        let jobs = Repo::find()
            .unwrap()
            .root()
            .join(".github/workflows/ci.yml");
        let jobs = std::fs::read_to_string(jobs).unwrap();
        let apart: Vec<&str> = of(Lane::Apart).iter().map(|stage| stage.name).collect();
        assert!(jobs.contains(&format!("cargo xtask ci {}", apart.join(" "))));
        assert!(jobs.contains("run: .ci/run"));
    }

    #[test]
    fn an_unknown_stage_is_a_usage_failure() {
        let failure = choose(&["lint".to_owned()]).err().unwrap();
        assert!(matches!(failure, Failure::Usage(_)));
        assert!(failure.to_string().contains("`lint`"));
    }
}
