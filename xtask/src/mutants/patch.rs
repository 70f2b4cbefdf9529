//! A breakage as it is kept: a file in `tests/mutants` that opens with two
//! header lines, `# what:` and `# red:`, and goes on as `git diff` writes it.
//! `git apply` skips the header.

use std::path::{Path, PathBuf};

use crate::files;
use crate::outcome::{Failure, Outcome};
use crate::repo::Repo;

/// Where the patches are kept, from the root of the tree.
const HOME: &str = "tests/mutants";

/// One deliberate breakage.
#[derive(Debug)]
pub(crate) struct Patch {
    /// The file name without `.patch`.
    pub(crate) name: String,
    /// The file, from the root of the tree.
    pub(crate) file: PathBuf,
    /// What it breaks, as a sentence.
    pub(crate) what: String,
    /// The `cargo test` arguments that run the one test that must turn red.
    pub(crate) red: Vec<String>,
}

/// All patches, sorted by name.
pub(crate) fn all(repo: &Repo) -> Outcome<Vec<Patch>> {
    files::under(&repo.root().join(HOME))?
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "patch"))
        .map(|file| {
            let text = files::read(file)?;
            parse(file.strip_prefix(repo.root()).unwrap_or(file), &text)
        })
        .collect()
}

/// The patches named, or all of them when no name is given.
pub(crate) fn choose(patches: Vec<Patch>, names: &[&String]) -> Outcome<Vec<Patch>> {
    if patches.is_empty() {
        return Err(Failure::failed(format!(
            "There is no patch in {HOME}, so nothing shows that the tests can fail; add one."
        )));
    }
    if let Some(unknown) = names
        .iter()
        .find(|name| patches.iter().all(|patch| patch.name != ***name))
    {
        let known: Vec<&str> = patches.iter().map(|patch| patch.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "There is no {HOME}/{unknown}.patch; those there are: {}.",
            known.join(", ")
        )));
    }
    let wanted = |patch: &Patch| names.is_empty() || names.contains(&&patch.name);
    Ok(patches.into_iter().filter(wanted).collect())
}

fn parse(file: &Path, text: &str) -> Outcome<Patch> {
    let stem = file.file_stem().unwrap_or_default();
    Ok(Patch {
        name: stem.to_string_lossy().into_owned(),
        file: file.to_owned(),
        what: header(file, text, "# what:")?.to_owned(),
        // Test names hold no blanks, so nothing here needs quoting.
        red: header(file, text, "# red:")?
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
    })
}

/// The header ends where the diff begins: a `# red:` inside the diff is code.
fn header<'text>(file: &Path, text: &'text str, key: &str) -> Outcome<&'text str> {
    text.lines()
        .take_while(|line| line.starts_with('#'))
        .find_map(|line| line.strip_prefix(key))
        .map(str::trim)
        .filter(|value| !value.is_empty())
        .ok_or_else(|| {
            Failure::failed(format!(
                "{} has no `{key}` line before its diff; add one.",
                file.display()
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(text: &str) -> Outcome<Patch> {
        parse(Path::new("tests/mutants/deaf-waiter.patch"), text)
    }

    #[test]
    fn a_header_names_the_breakage_and_its_test() {
        let text = "# what: A waiter is never woken.\n# red: -p core --test queue woken\ndiff --git a/x b/x\n";
        let patch = patch(text).unwrap();
        assert_eq!(patch.name, "deaf-waiter");
        assert_eq!(patch.what, "A waiter is never woken.");
        assert_eq!(patch.red, ["-p", "core", "--test", "queue", "woken"]);
    }

    #[test]
    fn a_missing_or_empty_line_is_named() {
        let failure = patch("# what: It breaks.\ndiff --git a/x b/x\n").unwrap_err();
        assert!(failure.to_string().contains("no `# red:` line"));
        let failure = patch("# what:\n# red: x\ndiff --git a/x b/x\n").unwrap_err();
        assert!(failure.to_string().contains("no `# what:` line"));
    }

    #[test]
    fn a_header_line_inside_the_diff_does_not_count() {
        assert!(patch("# what: It breaks.\ndiff --git a/x b/x\n# red: x\n").is_err());
    }

    #[test]
    fn an_unknown_name_is_a_usage_failure() {
        let known = patch("# what: It breaks.\n# red: x\n").unwrap();
        let failure = choose(vec![known], &[&"deaf".to_owned()]).unwrap_err();
        assert!(matches!(failure, Failure::Usage(_)));
        assert!(failure.to_string().contains("deaf-waiter"));
    }
}
