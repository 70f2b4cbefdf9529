//! What `cargo metadata` knows about the workspace, reduced to what the chores
//! ask: which packages there are, what they offer, and whom they depend on.

use std::path::PathBuf;

use serde_json::Value;

use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;
use crate::run;

/// One package of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest: PathBuf,
    pub(crate) publishable: bool,
    /// Its features, `default` left out.
    pub(crate) features: Vec<Feature>,
    pub(crate) dependencies: Vec<Dependency>,
    /// The names of its examples.
    pub(crate) examples: Vec<String>,
}

/// One feature of a package.
#[derive(Debug)]
pub(crate) struct Feature {
    pub(crate) name: String,
    /// What it enables, as in the manifest: `other`, `dep:package`, `package/feature`.
    pub(crate) enables: Vec<String>,
}

/// One entry of a package's dependency tables.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether only tests and examples see it.
    pub(crate) dev: bool,
}

/// All packages of the workspace, in cargo's order.
pub(crate) fn packages(repo: &Repo) -> Outcome<Vec<Package>> {
    let mut cargo = repo.cargo();
    cargo.args(["metadata", "--no-deps", "--locked", "--format-version=1"]);
    parse(&run::output(&mut cargo)?)
}

/// The packages under `crates/`: those that users get.
pub(crate) fn crates(repo: &Repo) -> Outcome<Vec<Package>> {
    let home = repo.root().join("crates");
    let mut packages = packages(repo)?;
    packages.retain(|package| package.manifest.starts_with(&home));
    Ok(packages)
}

/// The packages without features and with each of them alone, but for what is the same as another of these: a package
/// without features that another one has a feature for, a feature that another one hands on, and one that is only the
/// sum of others, which every build of everything has.
pub(crate) fn alone(packages: &[Package]) -> Vec<(&str, Option<&str>)> {
    let all = packages.iter().flat_map(|package| &package.features);
    let handed_on: Vec<_> = all.flat_map(|feature| &feature.enables).collect();
    let is_handed_on = |what: String| handed_on.contains(&&what);
    let is_sum = |feature: &Feature| {
        let mut enables = feature.enables.iter();
        feature.enables.len() > 1 && !enables.any(|one| one.contains([':', '/']))
    };
    let mut alone = Vec::new();
    for package in packages {
        let name = &*package.name;
        if !(package.features.is_empty() && is_handed_on(format!("dep:{name}"))) {
            alone.push((name, None));
        }
        let features = package.features.iter();
        let features =
            features.filter(|one| !is_sum(one) && !is_handed_on(format!("{name}/{}", one.name)));
        alone.extend(features.map(|one| (name, Some(&*one.name))));
    }
    alone
}

fn parse(json: &[u8]) -> Outcome<Vec<Package>> {
    let metadata: Value = serde_json::from_slice(json).map_err(|error| {
        Failure::failed(format!(
            "`cargo metadata` printed something that is not JSON ({error}); run it by hand and look."
        ))
    })?;
    Ok(list(&metadata["packages"]).map(package).collect())
}

fn package(value: &Value) -> Package {
    Package {
        name: text(&value["name"]),
        manifest: PathBuf::from(text(&value["manifest_path"])),
        // `publish = false` arrives as an empty list of registries.
        publishable: value["publish"] != Value::Array(Vec::new()),
        features: features(&value["features"]),
        dependencies: list(&value["dependencies"]).map(dependency).collect(),
        examples: list(&value["targets"])
            .filter(|target| list(&target["kind"]).any(|kind| kind == "example"))
            .map(|target| text(&target["name"]))
            .collect(),
    }
}

fn features(value: &Value) -> Vec<Feature> {
    let all = value.as_object().into_iter().flatten();
    all.filter(|(name, _)| *name != "default")
        .map(|(name, enables)| Feature {
            name: name.clone(),
            enables: list(enables).map(text).collect(),
        })
        .collect()
}

fn dependency(value: &Value) -> Dependency {
    Dependency {
        name: text(&value["name"]),
        dev: value["kind"] == "dev",
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"{"packages": [{
        "name": "lock", "manifest_path": "/r/crates/lock/Cargo.toml", "publish": null,
        "features": {"default": ["memory"], "memory": ["dep:cells"]},
        "dependencies": [{"name": "core", "kind": null}, {"name": "tests", "kind": "dev"}],
        "targets": [
            {"name": "lock", "kind": ["lib"]},
            {"name": "first", "kind": ["example"]}
        ]
    }, {"name": "chores", "manifest_path": "/r/chores/Cargo.toml", "publish": []}]}"#;

    #[test]
    fn features_and_examples_are_found() {
        let packages = parse(SAMPLE.as_bytes()).unwrap();
        let features = packages[0].features.iter();
        let features: Vec<_> = features.map(|one| (&*one.name, &one.enables)).collect();
        assert_eq!(features, [("memory", &vec!["dep:cells".to_owned()])]);
        assert_eq!(packages[0].examples, ["first"]);
    }

    #[test]
    fn what_is_the_same_is_checked_once() {
        let packages = r#"{"packages": [
            {"name": "all", "features": {"a": ["dep:a"], "b": ["dep:b", "b/fast"], "full": ["a", "b"]}},
            {"name": "a"},
            {"name": "b", "features": {"fast": [], "small": []}}
        ]}"#;
        let packages = parse(packages.as_bytes()).unwrap();
        let wanted = [
            ("all", None),
            ("all", Some("a")),
            ("all", Some("b")),
            ("b", None),
            ("b", Some("small")),
        ];
        assert_eq!(alone(&packages), wanted);
    }

    #[test]
    fn dev_dependencies_are_told_apart() {
        let packages = parse(SAMPLE.as_bytes()).unwrap();
        let dev: Vec<bool> = packages[0].dependencies.iter().map(|d| d.dev).collect();
        assert_eq!(dev, [false, true]);
    }

    #[test]
    fn an_empty_registry_list_means_not_publishable() {
        let packages = parse(SAMPLE.as_bytes()).unwrap();
        assert!(packages[0].publishable);
        assert!(!packages[1].publishable);
    }
}
