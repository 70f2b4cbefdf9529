//! Definitions from a folder, read again whenever somebody asks for them.

use lockwork::{
    flow::Definition,
    runtime::DefinitionProvider,
    workflow::{Answer, Error, ErrorKind, Result},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Every `*.json` of a folder.
#[derive(Debug)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl DefinitionProvider for Folder {
    fn definitions(&self) -> Answer<'_, Vec<Definition>> {
        Box::pin(std::future::ready(read(&self.0)))
    }
}

fn read(folder: &Path) -> Result<Vec<Definition>> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| {
        let message = "this folder of definitions cannot be read";
        Error::new(ErrorKind::Invalid, message)
            .with("folder", folder.display())
            .because(error)
    })?;
    let mut files: Vec<_> = entries.iter().map(fs::DirEntry::path).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    // Whatever the file system's order is.
    files.sort();
    files.iter().map(|file| definition(file)).collect()
}

fn definition(file: &Path) -> Result<Definition> {
    let text = fs::read_to_string(file).map_err(|error| {
        let message = "this definition cannot be read";
        Error::new(ErrorKind::Invalid, message).because(error)
    });
    text.and_then(|text| Definition::from_json(&text))
        .map_err(|error| error.with("file", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{ "lockwork": 1, "id": "one", "root": { "type": "Log", "id": "a", "with": { "text": "b" } } }"#;

    #[test]
    fn every_json_file_of_a_folder_is_a_definition() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("one.json"), ONE).unwrap();
        fs::write(dir.path().join("README.md"), "no definition").unwrap();
        let found = read(dir.path()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].id.as_str(), "one");
        let two = ONE.replace("one", "two");
        fs::write(dir.path().join("two.json"), two).unwrap();
        assert_eq!(read(dir.path()).unwrap().len(), 2, "it is read again");
    }

    #[test]
    fn a_file_that_is_no_definition_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("bad.json"), "{").unwrap();
        let error = read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("bad.json"), "{error}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = read(Path::new("/no/such/folder")).unwrap_err().to_string();
        assert!(error.contains("/no/such/folder"), "{error}");
    }
}
