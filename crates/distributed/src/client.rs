//! What can be done with one instance, on whichever node.

use lockwork_core::workflow::{
    Answer, Cancelled, Client, Create, CreateAndRun, Created, InstanceId, Ran, Run, Value,
};
use std::sync::Arc;

/// What can be done with one instance, on whichever node. It does what the local one does, and that asks for the lock
/// `workflow-instance:{id}` where one is needed:
///
/// | request | lock |
/// |---|---|
/// | `create` | none: the store creates one of several |
/// | `run` | held for the burst |
/// | `create_and_run` | created without, run with it: a child may want to resume its parent before that has come to its wait |
/// | `delete` | held meanwhile, so that a burst under way ends first |
/// | `cancel` | a burst under way, on any node, ends at its next step; otherwise the lock is held and the end comes at once |
/// | `export`, `import`, `exists` | none: reading needs none, and importing fences off whoever works on it |
#[derive(Clone, Debug)]
pub struct DistributedClient(pub(crate) Arc<dyn Client>);

impl Client for DistributedClient {
    fn id(&self) -> &InstanceId {
        self.0.id()
    }

    fn create(&self, request: Create) -> Answer<'_, Created> {
        self.0.create(request)
    }

    fn run(&self, request: Run) -> Answer<'_, Ran> {
        self.0.run(request)
    }

    fn create_and_run(&self, request: CreateAndRun) -> Answer<'_, Ran> {
        self.0.create_and_run(request)
    }

    fn cancel(&self) -> Answer<'_, Cancelled> {
        self.0.cancel()
    }

    fn delete(&self) -> Answer<'_, bool> {
        self.0.delete()
    }

    fn export(&self) -> Answer<'_, Value> {
        self.0.export()
    }

    fn import(&self, export: Value) -> Answer<'_, ()> {
        self.0.import(export)
    }

    fn exists(&self) -> Answer<'_, bool> {
        self.0.exists()
    }
}
