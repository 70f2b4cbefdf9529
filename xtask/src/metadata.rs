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
    /// Feature names, `default` left out.
    pub(crate) features: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
    /// The names of its examples.
    pub(crate) examples: Vec<String>,
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

fn features(value: &Value) -> Vec<String> {
    let names = value.as_object().into_iter().flat_map(|map| map.keys());
    names.filter(|name| *name != "default").cloned().collect()
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
        "features": {"default": ["memory"], "memory": []},
        "dependencies": [{"name": "core", "kind": null}, {"name": "tests", "kind": "dev"}],
        "targets": [
            {"name": "lock", "kind": ["lib"]},
            {"name": "first", "kind": ["example"]}
        ]
    }, {"name": "chores", "manifest_path": "/r/chores/Cargo.toml", "publish": []}]}"#;

    #[test]
    fn features_and_examples_are_found() {
        let packages = parse(SAMPLE.as_bytes()).unwrap();
        assert_eq!(packages[0].features, ["memory"]);
        assert_eq!(packages[0].examples, ["first"]);
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
