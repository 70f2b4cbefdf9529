//! `lockwork keys new`: a key that nobody knows yet.

use crate::{args::Keys, show};
use lockwork::server;

pub(crate) fn run(args: Keys) -> u8 {
    let Keys::New { name, mut scopes } = args;
    scopes.sort();
    scopes.dedup();
    let (key, line) = server::Keys::draw(&name, &scopes);
    show::print(format_args!("key   {key}"));
    show::print(format_args!("line  {line}"));
    show::say(
        "give the key to whoever will use it, in LOCKWORK_KEY: it is shown once. The line is for the file of --keys",
    );
    0
}
