//! The words of workflows: what they are made of, what can be asked of whoever runs them, and what is answered.
//! Nothing here does anything.
//!
//! A *definition* is a versioned workflow, an *instance* one run of it. A *burst* runs an instance until it waits
//! or is over, and then there is one commit. It waits at *bookmarks*; a *stimulus* is something that happened, and
//! resumes those whose bookmarks have its hash, or starts instances of definitions that have it as a *trigger*.
//!
//! ```
//! use lockwork_core::workflow::{Addressee, Stimulus};
//! use serde_json::json;
//!
//! let shipped = Stimulus::new("Event", &json!({"name": "OrderShipped"}))?.key("shipment-17");
//! assert_eq!(shipped.to, Addressee::default(), "for everybody who waits for it");
//! # Ok::<(), lockwork_core::workflow::Error>(())
//! ```

mod bookmark;
mod canonical;
mod definition;
mod error;
mod id;
mod incident;
mod request;
mod response;
mod runtime;
mod status;
mod stimulus;
mod time;

pub use bookmark::Bookmark;
pub use definition::{DefinitionHandle, VersionSelect};
pub use error::{Error, ErrorKind, Result};
pub use id::{ActivityId, BookmarkId, DefinitionId, ExecutionId, InstanceId, NodeId, VersionId};
pub use incident::{Failure, Incident, IncidentStrategy};
pub use request::{Create, CreateAndRun, Parent, Run, Target};
pub use response::{Cancelled, Created, Delivery, Ran};
pub use runtime::{Answer, Client, Runtime};
pub use status::{ActivityStatus, Status, SubStatus};
pub use stimulus::{Addressee, MAX_NAME_BYTES, MAX_PAYLOAD_BYTES, Stimulus, StimulusHash};
pub use time::Time;

/// Anything that can be written as JSON.
pub type Value = serde_json::Value;

/// Values by their names.
pub type Values = serde_json::Map<String, Value>;
