//! Locks that several tasks, processes or machines respect.
//!
//! Begin with [`Locks`]: it gives a [`Mutex`], a [`RwLock`] or a [`Semaphore`] by name, and each
//! of those gives a [`Guard`].
//!
//! ```
//! use lockwork_core::lock::{Locks, Memory};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
//! let locks = Locks::new(Memory::new());
//! let guard = locks.mutex("invoices/2026-08").lock().await?;
//! let closed = guard.run(async { "the books are closed" }).await?; // stops if the lock is lost
//! guard.release().await?;                                         // or drop it
//! # assert_eq!(closed, "the books are closed"); Ok(()) }
//! ```
//!
//! # What a grant is worth
//!
//! A lock keeps two honest holders apart while the backend keeps its state and clocks run at
//! about the same speed. No lock can stop a process that was frozen in the middle of a write; two
//! things help with that:
//!
//! * a [`Guard`] **turns itself off**: at [`Guard::valid_until`], which is before the server would
//!   give the lock to anybody else by itself, [`Guard::is_valid`] is false and [`Guard::lost`] has
//!   fired, without waiting for anybody to tell us;
//! * a [`Token`] rises with each grant of a name, so that whatever the lock protects can refuse a
//!   holder that comes back from the dead.
//!
//! [`Info`] says for each backend how far its locks reach and what they rest on.
//!
//! # Layers
//!
//! What is the same for every backend and not everybody wants goes around it: [`layers`].
//!
//! # Dropping
//!
//! Every acquire future may be dropped at any await: nothing stays locked and nobody stays queued.
//! Dropping a guard releases the lock in the background; [`Guard::release`] does so and reports,
//! and [`Locks::close`] waits for all of them.

mod all;
pub mod backend;
mod clock;
mod compat;
mod doctor;
mod door;
mod error;
mod guard;
mod guards;
mod holder;
mod id;
mod in_line;
mod info;
pub mod layers;
mod locks;
mod lost;
mod max_hold;
mod memory;
mod mode;
mod mutex;
mod name;
mod options;
mod owner;
mod registry;
mod request;
mod rw_lock;
mod semaphore;
mod table;
mod timed;
mod token;
mod urls;

pub use all::All;
pub use backend::{AnyBackend, AnyHold, Backend, Hold};
pub use clock::Instant;
pub use compat::Compat;
pub use doctor::{Finding, Report, Severity};
pub use error::{BoxError, Error, ErrorKind, Result};
pub use guard::Guard;
pub use guards::Guards;
pub use holder::{Held, Holder, Holders, Waiting};
pub use id::{LockId, Space};
pub use info::{Capability, Guarantee, Info, Scope};
pub use locks::Locks;
pub use lost::{Loss, LossSignal, Lost};
pub use memory::{MEMORY, MEMORY_INFO, Memory, MemoryHold};
pub use mode::Mode;
pub use mutex::Mutex;
pub use name::Name;
pub use options::LockOptions;
pub use owner::OwnerId;
pub use registry::{Connecting, Driver, Query, Registry};
pub use request::{Deadline, Request, Wait};
pub use rw_lock::RwLock;
pub use semaphore::Semaphore;
pub use token::Token;
pub use urls::{hosts, is_torn, unescaped};
