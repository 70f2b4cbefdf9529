//! Which crates from elsewhere a crate must not even reach through others. That
//! it has no arrow to them is not enough: a feature of something in between
//! brings them in without anybody noticing.

use crate::outcome::Outcome;
use crate::repo::Repo;
use crate::run;

/// A crate of ours, with these features alone, and whom it must not meet.
const TABLE: &[(&str, &str, &[&str])] = &[
    // Whoever drives it brings the executor, the clock and the chance.
    ("lockwork-flow", "", &["tokio", "rand", "tracing"]),
    // Whoever keeps workflows in one kind of database does not compile the driver of another.
    (
        "lockwork",
        "store-sqlite",
        &[
            "sqlx-postgres",
            "rustls",
            "tokio-rustls",
            "redis",
            "tiberius",
        ],
    ),
    (
        "lockwork",
        "store-postgres",
        &["sqlx-sqlite", "libsqlite3-sys", "redis", "tiberius"],
    ),
    // Only some have a collector.
    ("lockwork", "full", &["opentelemetry", "prost"]),
];

/// One sentence for each crate that is reached and must not be.
pub(crate) fn faults(repo: &Repo) -> Outcome<Vec<String>> {
    let mut faults = Vec::new();
    for (package, features, strangers) in TABLE {
        let mut cargo = repo.cargo();
        cargo
            .args(["tree", "--locked", "-p", package])
            .args(["--no-default-features", "--features", features])
            .args(["--edges", "normal", "--prefix", "none"])
            .args(["--format", "{p}"]);
        let reached = String::from_utf8_lossy(&run::output(&mut cargo)?).into_owned();
        faults.extend(met(&reached, strangers).map(|stranger| {
            format!(
                "{package} must not reach {stranger} with the features `{features}`; `cargo tree -p {package} \
                 --no-default-features --features '{features}' -i {stranger}` says by whom it does."
            )
        }));
    }
    Ok(faults)
}

/// Those of `strangers` in a list with a name and a version in each line.
fn met<'a>(reached: &str, strangers: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let is_in = |stranger: &&str| {
        let mut names = reached.lines().filter_map(|line| line.split(' ').next());
        names.any(|name| name == *stranger)
    };
    strangers.iter().copied().filter(is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_is_met_by_its_whole_name() {
        let reached = "lockwork-flow v0.1.0 (/r/crates/flow)\ntokio-util v0.7.0\nrand v0.10.0\n";
        let met: Vec<_> = met(reached, &["tokio", "rand"]).collect();
        assert_eq!(met, ["rand"]);
    }
}
