//! `lockwork locks break`: taking a lock away from whoever holds it.

use crate::{args::Break, connect::connect, show};
use lockwork::{Registry, Result};

pub(crate) async fn run(registry: &Registry, args: Break) -> Result<u8> {
    let locks = connect(registry, &args.place).await?;
    let broken = match (args.kind.rw, args.kind.semaphore) {
        (true, _) => locks.rw_lock(&args.name).break_lock(&args.why).await?,
        (_, true) => {
            let semaphore = locks.semaphore(&args.name, 1);
            semaphore.break_lock(&args.why).await?
        }
        _ => locks.mutex(&args.name).break_lock(&args.why).await?,
    };
    if args.json {
        show::print(serde_json::json!({ "broken": broken }));
        return Ok(0);
    }
    let name = &args.name;
    match broken {
        0 => show::print(format_args!("nobody holds {name}")),
        1 => show::print(format_args!("{name} was taken away from its holder")),
        many => show::print(format_args!("{name} was taken away from {many} holders")),
    }
    Ok(0)
}
