//! Whether a step begins although its node may not work on the instance any more.

use futures_util::FutureExt;
use lockwork::flow::{Around, Calling, Cx, Doing, Registry};
use std::{fs::File, io::Write, path::PathBuf};

/// The same activities, and steps of them that begin although the turn of their instance is over are written to a file, one
/// in a line.
#[must_use]
pub fn watched(registry: Registry, file: PathBuf) -> Registry {
    registry.around(Watching { file })
}

#[derive(Debug)]
struct Watching {
    file: PathBuf,
}

impl Around for Watching {
    /// Asks anew, and not whoever should have asked before the call.
    fn around<'a>(&'a self, cx: &'a mut Cx<'_>, calling: Calling<'a>) -> Doing<'a> {
        if cx.lost().now_or_never().is_some() {
            let file = File::options().append(true).create(true).open(&self.file);
            let line = format!("{} {}\n", calling.kind(), cx.key());
            let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
            written.expect("the file can be written");
        }
        calling.call(cx)
    }
}
