//! `lockwork man` and `lockwork completions`: what the system around the command knows of it.
//!
//! Both are written from the description of the arguments, so that they say what the command takes.

use crate::{
    args::{After, Cli, Man, after},
    exit::{self, End, Ended},
    show,
};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use std::path::Path;

/// Prints what makes `shell` complete the command's words.
pub(crate) fn completions(shell: Shell) -> u8 {
    let mut script = Vec::new();
    let mut command = command();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut script);
    show::bytes(&script);
    0
}

/// Prints the page of the command, or writes those of all verbs into a directory.
pub(crate) fn man(args: Man) -> Ended {
    let command = command();
    match args.to {
        None => show::bytes(&page(&command)),
        Some(directory) => {
            std::fs::create_dir_all(&directory)
                .and_then(|()| write(&command, &directory))
                .map_err(|error| {
                    let at = directory.display();
                    let sentence = format!("the pages cannot be written to {at}: {error}");
                    End::new(exit::SYSTEM, sentence)
                })?;
        }
    }
    Ok(0)
}

/// The whole command, with what its verbs have from it.
fn command() -> Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// Writes the page of `command` and of each verb below it.
fn write(command: &Command, directory: &Path) -> std::io::Result<()> {
    let file = directory.join(format!("{}.1", title(command)));
    std::fs::write(file, page(command))?;
    shown(command).try_for_each(|verb| write(verb, directory))
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set())
}

/// What its page is called: `lockwork-locks-gc`.
fn title(command: &Command) -> &str {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> Vec<u8> {
    // Writing to memory does not fail.
    sections(command).unwrap_or_default()
}

fn sections(command: &Command) -> std::io::Result<Vec<u8>> {
    let man = clap_mangen::Man::new(command.clone())
        .title(title(command))
        .source(concat!("lockwork ", env!("CARGO_PKG_VERSION")))
        .manual("lockwork");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if shown(command).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    what_follows(command).to_writer(&mut page)?;
    Ok(page)
}

/// What the help has after the options, as sections.
fn what_follows(command: &Command) -> Roff {
    let after = of(command);
    let mut roff = Roff::new();
    if !after.examples.is_empty() {
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        roff.text(after.examples.lines().flat_map(line).collect::<Vec<_>>());
        roff.control("fi", []);
    }
    roff.control("SH", ["EXIT STATUS"]);
    let codes = match after.codes {
        [] => after::LOCKWORK.codes,
        codes => codes,
    };
    for (code, meaning) in codes {
        roff.control("TP", []).text([bold(*code)]);
        roff.text([roman(*meaning)]);
    }
    if !after.notes.is_empty() {
        roff.control("SH", ["NOTES"]).text([roman(after.notes)]);
    }
    if title(command) != "lockwork" {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([bold("lockwork"), roman("(1)")]);
    }
    roff
}

fn line(text: &str) -> [Inline; 2] {
    [roman(text), Inline::LineBreak]
}

/// What follows the options of this verb.
fn of(command: &Command) -> &'static After {
    match title(command) {
        "lockwork" => &after::LOCKWORK,
        "lockwork-exec" => &after::EXEC,
        "lockwork-serve" => &after::SERVE,
        _ => &After {
            examples: "",
            codes: &[],
            notes: "",
        },
    }
}
