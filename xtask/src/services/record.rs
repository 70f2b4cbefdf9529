//! What is remembered of a service that was started, and how that is written
//! as JSON. A record that makes no sense is no record: the service is then
//! started anew.

use std::path::PathBuf;

use serde_json::{Value, json};

use lockwork_servers::process::Process;

/// One service that was started.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) port: u16,
    /// None when Docker runs it.
    pub(crate) native: Option<Native>,
}

/// What there is to stop and to remove of a service that runs as a process.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Native {
    pub(crate) directory: PathBuf,
    /// None until it was started: the directory is noted before it is filled.
    pub(crate) process: Option<Process>,
}

impl Record {
    /// As it stands in the file.
    pub(crate) fn to_json(&self) -> Value {
        let native = self.native.as_ref();
        let process = native.and_then(|native| native.process.as_ref());
        json!({
            "port": self.port,
            "directory": native.map(|native| native.directory.to_string_lossy()),
            "pid": process.map(|process| process.pid),
            "birth": process.map(|process| &process.birth),
        })
    }

    /// What stands in the file, if it is a record.
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            port: u16::try_from(value["port"].as_u64()?).ok()?,
            native: value["directory"].as_str().map(|directory| Native {
                directory: PathBuf::from(directory),
                process: process(value),
            }),
        })
    }
}

fn process(value: &Value) -> Option<Process> {
    Some(Process {
        pid: u32::try_from(value["pid"].as_u64()?).ok()?,
        birth: value["birth"].as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(native: Option<Native>) -> Record {
        Record {
            port: 20001,
            native,
        }
    }

    #[test]
    fn a_record_read_back_is_the_one_written() {
        let process = Process {
            pid: 77,
            birth: "boot 12345".to_owned(),
        };
        for process in [None, Some(process)] {
            let directory = PathBuf::from("/tmp/a b");
            let written = record(Some(Native { directory, process }));
            assert_eq!(Record::from_json(&written.to_json()), Some(written));
        }
        let written = record(None);
        assert_eq!(Record::from_json(&written.to_json()), Some(written));
    }

    #[test]
    fn what_is_no_record_is_none() {
        for broken in [
            json!(null),
            json!({"directory": "x"}),
            json!({"port": 70000}),
        ] {
            assert_eq!(Record::from_json(&broken), None);
        }
    }
}
