//! What a shell completes and what `man` shows, for each verb.

use crate::common::{code, done, lockwork, text};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// What `lockwork --help` lists.
fn verbs() -> Vec<String> {
    let help = text(&done(&mut lockwork(&["--help"])).stdout);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs = listed.take_while(|line| !line.is_empty());
    let verbs = verbs.filter_map(|line| line.split_whitespace().next());
    let verbs: Vec<_> = verbs
        .filter(|verb| *verb != "help")
        .map(str::to_owned)
        .collect();
    assert!(verbs.len() > 10, "{help}");
    verbs
}

fn is_there(program: &str) -> bool {
    let mut asked = Command::new(program);
    asked.arg("--version").stdout(Stdio::null());
    asked.stderr(Stdio::null()).status().is_ok()
}

#[test]
fn every_shell_is_told_all_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = done(&mut lockwork(&["completions", shell]));
        assert_eq!(code(output.status), 0, "{shell}");
        let script = text(&output.stdout);
        for verb in verbs() {
            assert!(script.contains(&verb), "{shell} is not told of {verb}");
        }
    }
    let output = done(&mut lockwork(&["completions", "tcsh"]));
    assert_eq!(code(output.status), 2);
    assert!(
        text(&output.stderr).contains("zsh"),
        "what there is is said"
    );
}

#[test]
fn bash_completes_what_was_begun() {
    let script = text(&done(&mut lockwork(&["completions", "bash"])).stdout);
    let ask = "COMP_WORDS=(lockwork inst); COMP_CWORD=1; _lockwork lockwork inst lockwork; echo ${COMPREPLY[@]}";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &format!("{script}\n{ask}")]);
    let output = done(bash.stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(text(&output.stdout), "instances\n");
}

#[test]
fn there_is_a_page_for_each_verb_with_its_exit_codes() {
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("new/man1");
    let output = done(&mut lockwork(&["man", "--to", to.to_str().unwrap()]));
    assert_eq!(code(output.status), 0, "{}", text(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(to.join(format!("{name}.1"))).unwrap();
    for verb in verbs() {
        assert!(read(&format!("lockwork-{verb}")).contains(".SH \"EXIT STATUS\""));
    }
    assert!(read("lockwork-locks-gc").contains("idle"));
    let whole = text(&done(&mut lockwork(&["man"])).stdout);
    assert_eq!(whole, read("lockwork"));
    for (page, codes) in [
        ("lockwork", ["0", "2", "69", "76"]),
        ("lockwork-exec", ["126", "128+n", "75", "76"]),
    ] {
        shows(&to.join(format!("{page}.1")), &codes);
    }
}

/// Whether a page has these exit codes, as who reads it sees it.
fn shows(page: &Path, codes: &[&str]) {
    if !is_there("groff") {
        return;
    }
    let mut groff = Command::new("groff");
    groff.args(["-man", "-Tascii", "-P-c", "-ww"]).arg(page);
    let output = done(groff.stdout(Stdio::piped()).stderr(Stdio::piped()));
    assert_eq!(text(&output.stderr), "", "{}", page.display());
    let plain = unstruck(&text(&output.stdout));
    let (_, status) = plain.split_once("EXIT STATUS").expect("a section");
    for code in codes {
        let tag = |line: &str| line.split_whitespace().next() == Some(code);
        assert!(status.lines().any(tag), "{code}: {status}");
    }
    assert!(plain.contains("EXAMPLES"), "{plain}");
}

/// Bold is a letter struck twice: `a`, a step back, `a`.
fn unstruck(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.chars() {
        match letter {
            '\u{8}' => drop(plain.pop()),
            letter => plain.push(letter),
        }
    }
    plain
}

#[test]
fn a_place_where_no_page_can_be_written_is_said() {
    let output = done(&mut lockwork(&["man", "--to", "/dev/null/pages"]));
    assert_eq!(code(output.status), 71);
    assert!(text(&output.stderr).contains("cannot be written to /dev/null/pages"));
}

#[test]
fn help_does_not_list_what_is_installed_once() {
    let verbs = verbs();
    for hidden in ["completions", "man"] {
        assert!(!verbs.iter().any(|verb| verb == hidden), "{hidden}");
    }
    let help = text(&done(&mut lockwork(&["--help"])).stdout);
    assert!(help.contains("lockwork completions") && help.contains("lockwork man"));
}
