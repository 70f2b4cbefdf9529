//! Which crate may depend on which. The table below is the rule; `cargo
//! metadata` is what is compared with it.

use crate::metadata::Package;

/// Where the table lives, for the messages.
const HERE: &str = "xtask/src/tree/arrows.rs";

/// Whom a package may depend on outside its tests and examples.
enum Allowed {
    Only(&'static [&'static str]),
    Anything,
}

/// One row for each package of the workspace.
const TABLE: &[(&str, Allowed)] = &[
    ("lockwork-core", Allowed::Only(&[])),
    ("lockwork-azure", Allowed::Only(&["lockwork-core"])),
    (
        "lockwork-distributed",
        Allowed::Only(&["lockwork-core", "lockwork-runtime"]),
    ),
    ("lockwork-file", Allowed::Only(&["lockwork-core"])),
    ("lockwork-flow", Allowed::Only(&["lockwork-core"])),
    ("lockwork-postgres", Allowed::Only(&["lockwork-core"])),
    ("lockwork-redis", Allowed::Only(&["lockwork-core"])),
    (
        "lockwork-runtime",
        Allowed::Only(&["lockwork-core", "lockwork-flow"]),
    ),
    (
        "lockwork-server",
        Allowed::Only(&["lockwork-core", "lockwork-flow", "lockwork-runtime"]),
    ),
    ("lockwork-sqlserver", Allowed::Only(&["lockwork-core"])),
    (
        "lockwork-store",
        Allowed::Only(&["lockwork-core", "lockwork-flow", "lockwork-runtime"]),
    ),
    (
        "lockwork",
        Allowed::Only(&[
            "lockwork-azure",
            "lockwork-core",
            "lockwork-distributed",
            "lockwork-file",
            "lockwork-flow",
            "lockwork-postgres",
            "lockwork-redis",
            "lockwork-runtime",
            "lockwork-server",
            "lockwork-sqlserver",
            "lockwork-store",
        ]),
    ),
    ("lockwork-cli", Allowed::Only(&["lockwork"])),
    ("lockwork-conformance", Allowed::Anything),
    ("lockwork-servers", Allowed::Only(&[])),
    ("xtask", Allowed::Only(&["lockwork-servers"])),
];

/// One sentence for each arrow, or package, that the table does not allow.
pub(crate) fn faults(packages: &[Package]) -> Vec<String> {
    let faults_of = |package| match row(package) {
        Some(allowed) => forbidden(package, allowed, packages),
        None => vec![format!(
            "The package {} has no row in the table of {HERE}; add one that says whom it may depend on.",
            package.name
        )],
    };
    packages.iter().flat_map(faults_of).collect()
}

fn row(package: &Package) -> Option<&'static Allowed> {
    TABLE
        .iter()
        .find(|(name, _)| *name == package.name)
        .map(|(_, allowed)| allowed)
}

fn forbidden(from: &Package, allowed: &Allowed, packages: &[Package]) -> Vec<String> {
    let Allowed::Only(allowed) = allowed else {
        return Vec::new();
    };
    from.dependencies
        .iter()
        .filter(|to| !to.dev && packages.iter().any(|package| package.name == to.name))
        .filter(|to| !allowed.contains(&to.name.as_str()))
        .map(|to| {
            format!(
                "{} must not depend on {}; remove the dependency, or allow it in the table of {HERE}.",
                from.name, to.name
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    fn package(name: &str, dependencies: &[(&str, bool)]) -> Package {
        let dependency = |(name, dev): &(&str, bool)| Dependency {
            name: (*name).to_owned(),
            dev: *dev,
        };
        Package {
            name: name.to_owned(),
            manifest: "Cargo.toml".into(),
            publishable: true,
            features: Vec::new(),
            dependencies: dependencies.iter().map(dependency).collect(),
            examples: Vec::new(),
        }
    }

    #[test]
    fn an_arrow_of_the_table_is_allowed() {
        let core = package("lockwork-core", &[("tokio", false)]);
        let front = package("lockwork", &[("lockwork-core", false)]);
        assert!(faults(&[core, front]).is_empty());
    }

    #[test]
    fn a_forbidden_arrow_names_both_crates_and_the_table() {
        let core = package("lockwork-core", &[("lockwork", false)]);
        let found = faults(&[core, package("lockwork", &[])]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("lockwork-core must not depend on lockwork;"));
        assert!(found[0].contains(HERE));
    }

    #[test]
    fn a_dev_dependency_is_no_arrow() {
        let core = package("lockwork-core", &[("lockwork", true)]);
        assert!(faults(&[core, package("lockwork", &[])]).is_empty());
    }

    #[test]
    fn a_package_without_a_row_is_a_fault() {
        let found = faults(&[package("lockwork-new", &[])]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("lockwork-new has no row"));
    }
}
