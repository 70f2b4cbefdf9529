//! `lockwork locks gc`: removing what names left behind.

use crate::{args::Gc, connect::connect, show};
use lockwork::{Registry, Result};

pub(crate) async fn run(registry: &Registry, args: Gc) -> Result<u8> {
    let locks = connect(registry, &args.place).await?;
    let removed = locks.collect(args.idle).await?;
    if args.json {
        show::print(serde_json::json!({ "removed": removed }));
    } else {
        let names = if removed == 1 { "name" } else { "names" };
        show::print(format_args!("removed what {removed} {names} left behind"));
    }
    Ok(0)
}
