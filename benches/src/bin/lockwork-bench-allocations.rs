//! Counts what an uncontended acquire and drop allocates: `lockwork-bench-allocations OPERATIONS`.
//!
//! A process of its own, because an allocator that counts costs time, also while it looks away;
//! what is timed should not pay for it. Prints allocations and bytes, for all operations together.

use lockwork::{Locks, Memory};
use tokio::runtime::Builder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let operations: u32 = std::env::args()
        .nth(1)
        .ok_or("say how many operations")?
        .parse()?;
    let runtime = Builder::new_current_thread().build()?;
    let locks = Locks::new(Memory::new());
    let acquire = |times: u32| {
        runtime.block_on(async {
            for turn in 0..times {
                let name = NAMES[turn as usize % NAMES.len()];
                drop(locks.mutex(name).lock().await?);
            }
            Ok::<_, lockwork::Error>(())
        })
    };
    acquire(1_000)?;
    let mut done = Ok(());
    let count = allocation_counter::measure(|| done = acquire(operations));
    done?;
    println!("{} {}", count.count_total, count.bytes_total);
    Ok(())
}

const NAMES: [&str; 4] = [
    "invoices/2026/0001",
    "invoices/2026/0002",
    "invoices/2026/0003",
    "invoices/2026/0004",
];
