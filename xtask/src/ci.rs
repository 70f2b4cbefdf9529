//! `ci`: every check a change must pass, cheapest first, with the time each
//! one takes. It serves `.ci/run` and the contributor before a push.

mod beside;
mod processors;
mod stages;

use std::time::{Duration, Instant};

use crate::outcome::{Failure, Outcome};
use crate::paint;
use crate::repo::Repo;
use beside::Beside;
use processors::Processors;
use stages::{Lane, STAGES, Stage};

/// Something that takes its time.
struct Begun {
    at: Instant,
    processors: Option<Processors>,
}

/// What became of it.
struct Timed {
    name: &'static str,
    time: Duration,
    /// How many per cent of the processors' time were given to others who share the machine, where that can be told.
    taken: Option<u64>,
    passed: bool,
}

impl Begun {
    fn now() -> Self {
        Self {
            at: Instant::now(),
            processors: Processors::now(),
        }
    }

    fn over(&self, name: &'static str, passed: bool) -> Timed {
        let taken = Processors::now().zip(self.processors);
        Timed {
            name,
            time: self.at.elapsed(),
            taken: taken.and_then(|(now, before)| now.taken_since(before)),
            passed,
        }
    }
}

/// Runs the stages named one after another, or all that a change must pass, and stops at the first failure.
pub(crate) fn ci(repo: &Repo, names: &[String]) -> Outcome {
    let chosen = choose(names)?;
    let begun = Begun::now();
    let mut times = Vec::new();
    let outcome = match names.is_empty() {
        true => all(repo, &mut times),
        false => in_order(repo, &chosen, &mut times),
    };
    times.push(begun.over("all", outcome.is_ok()));
    summary(&times);
    outcome
}

/// Every stage that a change must pass. What waits for the network runs beside the making of programs; nothing runs
/// beside the tests, whose limits are of time. What is made is linted at once.
fn all(repo: &Repo, times: &mut Vec<Timed>) -> Outcome {
    let repo = &repo.linting();
    in_order(repo, &of(Lane::First), times)?;
    let names: Vec<_> = of(Lane::Beside).iter().map(|stage| stage.name).collect();
    let beside = Beside::start(repo, &names)?;
    in_order(repo, &of(Lane::Build), times)?;
    let begun = Begun::now();
    let outcome = beside.join();
    times.push(begun.over("(beside)", outcome.is_ok()));
    outcome?;
    in_order(repo, &of(Lane::Last), times)
}

fn of(lane: Lane) -> Vec<&'static Stage> {
    STAGES.iter().filter(|stage| stage.lane == lane).collect()
}

fn in_order(repo: &Repo, stages: &[&'static Stage], times: &mut Vec<Timed>) -> Outcome {
    stages.iter().try_for_each(|stage| {
        println!("{}", paint::stdout().bold(&format!("== {}", stage.name)));
        let begun = Begun::now();
        let outcome = (stage.run)(repo);
        let timed = begun.over(stage.name, outcome.is_ok());
        println!("   {} took {:.1} s", timed.name, timed.time.as_secs_f64());
        times.push(timed);
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

fn summary(times: &[Timed]) {
    let paint = paint::stdout();
    println!("{}", paint.bold("== times"));
    for timed in times {
        let mark = match timed.passed {
            true => paint.green("ok"),
            false => paint.red("failed"),
        };
        println!(
            "   {:<10}{:>8.1} s  {mark}{}",
            timed.name,
            timed.time.as_secs_f64(),
            of_others(timed.taken)
        );
    }
}

/// Less than this makes no difference.
const NOTICED: u64 = 2;

fn of_others(taken: Option<u64>) -> String {
    match taken.filter(|taken| *taken >= NOTICED) {
        Some(taken) => format!("  ({taken} % of the processors' time went to other machines)"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_chooses_what_a_change_must_pass_in_order() {
        let names: Vec<&str> = choose(&[]).unwrap().iter().map(|s| s.name).collect();
        let order = [
            "fmt", "package", "patches", "tree", "services", "build", "doctests", "test",
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
