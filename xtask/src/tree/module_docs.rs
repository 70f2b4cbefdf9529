//! Whether every module of a published crate opens by naming the task it
//! serves: its first line must be a `//!` line, or include a page as one.

use std::path::Path;

use crate::files;
use crate::metadata;
use crate::outcome::Outcome;
use crate::repo::Repo;

/// One sentence for each source file that opens with anything else.
pub(crate) fn faults(repo: &Repo) -> Outcome<Vec<String>> {
    let mut faults = Vec::new();
    for package in metadata::crates(repo)? {
        for file in files::under(&package.manifest.with_file_name("src"))? {
            if is_rust(&file) && !opens_with_docs(&files::read(&file)?) {
                faults.push(fault(file.strip_prefix(repo.root()).unwrap_or(&file)));
            }
        }
    }
    Ok(faults)
}

fn is_rust(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "rs")
}

fn opens_with_docs(text: &str) -> bool {
    ["//!", "#![doc = include_str!("]
        .iter()
        .any(|opening| text.starts_with(opening))
}

fn fault(file: &Path) -> String {
    format!(
        "{} does not open with a `//!` line; begin it with the task the module serves.",
        file.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_inner_doc_line_opens_a_module() {
        assert!(opens_with_docs("//! Waits.\n"));
        assert!(opens_with_docs(
            "#![doc = include_str!(\"../README.md\")]\n"
        ));
        assert!(!opens_with_docs("// Waits.\n"));
        assert!(!opens_with_docs("/// Waits.\nfn wait() {}\n"));
        assert!(!opens_with_docs("\n//! Waits.\n"));
    }
}
