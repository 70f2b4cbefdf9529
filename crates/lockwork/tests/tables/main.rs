//! Whether the documents say of each backend what it says of itself.
//!
//! The table of backends stands in several documents between two marks. This writes it anew:
//!
//! ```sh
//! LOCKWORK_RENEW=1 cargo test -p lockwork --features full --test tables
//! ```

#![cfg(feature = "full")]

mod table;

use std::{collections::BTreeSet, env, fs, path::Path};
use table::{ROWS, table};

/// Where the table stands, seen from this crate. Its README is that of the repository.
const DOCUMENTS: [&str; 2] = ["README.md", "../../docs/choosing-a-backend.md"];

/// What cargo leaves beside the manifest when it makes a package, in which nothing from above is.
const PACKAGED: &str = "Cargo.toml.orig";

/// The marks are comments, which nobody sees who reads the document on a page.
const BEGIN: &str = "<!-- The table of backends, written by crates/lockwork/tests/tables. -->";
const END: &str = "<!-- The end of the table of backends. -->";

#[test]
fn the_tables_in_the_documents_say_what_the_backends_say() {
    let table = format!("\n\n{}\n", table());
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packaged = home.join(PACKAGED).exists();
    for document in DOCUMENTS {
        if packaged && document.starts_with("..") {
            continue;
        }
        let path = home.join(document);
        let text = fs::read_to_string(&path).expect(document);
        let (before, there, after) = around_the_table(&text).unwrap_or_else(|| {
            panic!("{document} needs these two lines where the table goes:\n{BEGIN}\n{END}")
        });
        if env::var_os("LOCKWORK_RENEW").is_some() {
            let text = format!("{before}{BEGIN}{table}{END}{after}");
            fs::write(&path, text).expect(document);
            continue;
        }
        assert!(
            there == table,
            "The table of backends in {document} is not what the backends say of themselves. \
             Write it anew: LOCKWORK_RENEW=1 cargo test -p lockwork --features full \
             --test tables. They say:{table}and it says:{there}"
        );
    }
}

/// What stands before the marks of the table, between them, and after.
fn around_the_table(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (there, after) = rest.split_once(END)?;
    Some((before, there, after))
}

#[tokio::test]
async fn every_backend_that_a_url_can_name_has_a_row_in_the_table() {
    let refusal = lockwork::connect("nobody:")
        .await
        .expect_err("no such scheme");
    let refusal = refusal.to_string();
    let (_, known) = refusal.split_once("known=").expect("those that are known");
    let known: BTreeSet<_> = known.trim_end_matches(')').split(", ").collect();
    let rows: BTreeSet<_> = ROWS
        .iter()
        .flat_map(|row| row.driver.schemes)
        .copied()
        .collect();
    assert_eq!(
        rows, known,
        "the rows are in crates/lockwork/tests/tables/table.rs"
    );
}

#[test]
fn every_url_of_the_table_leads_to_the_backend_of_its_row() {
    for row in ROWS {
        let (scheme, _) = row.url.split_once(':').expect(row.url);
        assert_eq!(scheme, row.info.scheme);
        assert!(row.driver.schemes.contains(&scheme), "{scheme}");
    }
}
