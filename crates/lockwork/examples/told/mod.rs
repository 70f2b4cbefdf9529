//! What an example prints: what happened in an instance, a line for each thing.

use lockwork::{
    flow::{Happened, Length, Step},
    runtime::LocalRuntime,
    workflow::{InstanceId, Result},
};

/// Prints the journal of `instance`, with the time since its beginning. That an activity began is left out: it is
/// told when it is over.
pub(crate) async fn journal(runtime: &LocalRuntime, instance: &InstanceId) -> Result<()> {
    let entries = runtime.store().journal(instance, 0).await?;
    let begun = entries.first().map(|entry| entry.at).unwrap_or_default();
    for entry in entries {
        if entry.happened == Happened::Started {
            continue;
        }
        let after = Length::from(entry.at.since(begun)).to_string();
        let happened = format!("{:?}", entry.happened);
        let place = entry.node.as_ref().map_or("", |node| node.as_str());
        let note = entry.note.filter(|note| note != Step::DONE);
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        let line = format!("  {after:>5}  {happened:<18} {place}{note}");
        println!("{}", line.trim_end());
    }
    Ok(())
}
