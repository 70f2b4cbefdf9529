//! Everything that can be asked: one list, of which the router, the check of keys and the description of the API are made.

use crate::{admit::admit, api, endpoints::BASE, keys::Scope, state::Node};
use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    handler::Handler,
    http::StatusCode,
    middleware::{Next, from_fn},
    routing::{MethodFilter, MethodRouter, delete, get, on, post, put},
};
use std::sync::Arc;

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody, also while the node has much to do: whether it lives.
    Always,
    /// Whoever has a link that was signed.
    Signed,
    /// Whoever has a key that is good for asking workflows, or everybody if a workflow says so.
    Declared,
    /// Whoever has a key that is good for this.
    Needs(Scope),
    /// Whoever has a key that is good for looking, also while the node has much to do.
    Watches,
}

impl Access {
    /// What a key must be good for.
    pub(crate) const fn scope(self) -> Option<Scope> {
        match self {
            Self::Always | Self::Signed => None,
            Self::Declared => Some(Scope::Call),
            Self::Needs(scope) => Some(scope),
            Self::Watches => Some(Scope::Read),
        }
    }

    /// Whether it is answered while the node has much to do.
    pub(crate) const fn is_urgent(self) -> bool {
        matches!(self, Self::Always | Self::Watches)
    }
}

/// Something that can be asked.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// As programs call it.
    pub(crate) name: &'static str,
    /// As people call it.
    pub(crate) says: &'static str,
    pub(crate) access: Access,
    /// What may follow the question mark.
    pub(crate) asks: &'static [Parameter],
    /// The schema of what it takes.
    pub(crate) takes: Option<&'static str>,
    /// What it answers when all is well.
    pub(crate) gives: &'static [Given],
    /// What it answers when something that was named is not as it was believed to be.
    pub(crate) refuses: &'static [u16],
    route: fn() -> MethodRouter<Node>,
}

/// Something that may follow the question mark: its name, its schema, what it is.
#[derive(Debug)]
pub(crate) struct Parameter(
    pub(crate) &'static str,
    pub(crate) &'static str,
    pub(crate) &'static str,
);

/// An answer: its status, its schema if it has a body, what it means.
#[derive(Debug)]
pub(crate) struct Given(
    pub(crate) u16,
    pub(crate) Option<&'static str>,
    pub(crate) &'static str,
);

const READ: Access = Access::Needs(Scope::Read);
const RUN: Access = Access::Needs(Scope::Run);
const DEFINE: Access = Access::Needs(Scope::Define);
const ADMIN: Access = Access::Needs(Scope::Admin);

/// Which page of a list that may be long.
const PAGES: &[Parameter] = &[
    Parameter(
        "limit",
        "LongLimit",
        "so many at most: 100, unless said otherwise",
    ),
    Parameter("after", "String", "where the last page ended: its `next`"),
];

const KIND: Parameter = Parameter("kind", "LockKind", "of which kind the lock is");

macro_rules! operations {
    ($($method:ident $path:literal $access:expr, $name:literal, $says:literal, $handler:path
        $(, asks $asks:expr)? $(, takes $takes:literal)? , gives $gives:expr $(, refuses $refuses:expr)? ;)*) => {
        /// Everything that can be asked.
        pub(crate) static OPERATIONS: &[Operation] = &[$(Operation {
            method: stringify!($method),
            path: $path,
            name: $name,
            says: $says,
            access: $access,
            asks: operations!(@list $($asks)?),
            takes: operations!(@option $($takes)?),
            gives: $gives,
            refuses: operations!(@list $($refuses)?),
            route: || $method($handler),
        }),*];
    };
    (@list) => { &[] };
    (@list $list:expr) => { $list };
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
}

/// By each method that a workflow can name.
fn any<T: 'static>(handler: impl Handler<T, Node>) -> MethodRouter<Node> {
    let reads = MethodFilter::GET;
    let writes = [
        MethodFilter::POST,
        MethodFilter::PUT,
        MethodFilter::PATCH,
        MethodFilter::DELETE,
    ];
    on(writes.into_iter().fold(reads, MethodFilter::or), handler)
}

operations! {
    get "/healthz" Access::Always, "isAlive", "Whether the process lives", api::health::alive,
        gives &[Given(200, Some("Health"), "It does.")];
    get "/readyz" Access::Always, "isReady", "Whether the node can do what it is asked: store and locks answer, and it does not end",
        api::health::ready,
        gives &[Given(200, Some("Health"), "It can."), Given(503, Some("Health"), "It cannot, and why.")];
    get "/openapi.json" Access::Always, "describe", "What can be asked", api::health::describe,
        gives &[Given(200, Some("Anything"), "This document.")];
    get "/metrics" Access::Watches, "measure", "What was counted, in the words of Prometheus", api::health::measure,
        gives &[Given(200, Some("Text"), "One number in each line.")];

    get "/v1/definitions" READ, "listDefinitions", "Each workflow, in the version that counts or else the last one",
        api::definitions::list,
        asks PAGES, gives &[Given(200, Some("Definitions"), "In the order of their ids.")];
    get "/v1/definitions/{id}" READ, "getDefinition", "One version of a workflow", api::definitions::get,
        asks &[Parameter("version", "VersionSelect", "`published`, `latest`, `draft`, `publishedOrLatest` or a number")],
        gives &[Given(200, Some("Version"), "The version.")], refuses &[404, 422];
    put "/v1/definitions/{id}" DEFINE, "putDefinition", "Adds a version of a workflow; the same as the last one is no new one",
        api::definitions::put,
        asks &[Parameter("publish", "Boolean", "whether it is the one that counts from now on: yes, unless said otherwise")],
        takes "Definition",
        gives &[Given(200, Some("Version"), "The version.")], refuses &[409, 422];
    get "/v1/definitions/{id}/versions" READ, "listVersions", "All versions of a workflow", api::definitions::versions,
        asks PAGES, gives &[Given(200, Some("Definitions"), "In the order of their numbers.")], refuses &[404, 422];
    post "/v1/definitions/{id}/publish" DEFINE, "publishDefinition", "Makes a version the one that counts", api::definitions::publish,
        takes "Publish",
        gives &[Given(200, Some("Version"), "The version that counts now.")], refuses &[404, 409, 422];
    post "/v1/definitions/{id}/retract" DEFINE, "retractDefinition", "No version counts any more; what runs goes on",
        api::definitions::retract,
        gives &[Given(200, Some("Retracted"), "Whether one did.")], refuses &[404, 422];
    post "/v1/definitions/{id}/start" RUN, "startInstance", "Creates an instance and runs it until it waits or is over",
        api::starting::start,
        asks &[Parameter("wait", "Boolean", "whether to wait for that: yes, unless said otherwise")],
        takes "Start",
        gives &[
            Given(200, Some("Ran"), "How far it got."),
            Given(202, Some("Created"), "It exists, and will be run whatever becomes of this node."),
        ],
        refuses &[404, 409, 422];

    post "/v1/events/{name}" RUN, "sendEvent", "Tells whoever waits for an event", api::stimuli::event,
        takes "EventSent", gives &[Given(200, Some("Reached"), "What it has done.")], refuses &[422];
    post "/v1/stimuli" RUN, "sendStimulus", "Tells whoever waits for a stimulus, by name and payload or by its hash",
        api::stimuli::send,
        takes "StimulusSent", gives &[Given(200, Some("Reached"), "What it has done.")], refuses &[422];
    get "/v1/tasks" READ, "listTasks", "What somebody outside shall do", api::stimuli::tasks,
        asks PAGES, gives &[Given(200, Some("Tasks"), "The tasks that are not done.")];
    post "/v1/tasks/{id}/complete" RUN, "completeTask", "A task is done", api::stimuli::task_done,
        takes "TaskDone", gives &[Given(200, Some("Reached"), "What it has done.")], refuses &[422];
    post "/v1/links/{link}" Access::Signed, "followLink", "Resumes the bookmark that a signed link names", api::links::follow,
        takes "Input", gives &[Given(200, Some("Delivered"), "Whether somebody waited there.")], refuses &[403, 404, 409, 422];

    get "/v1/instances" READ, "listInstances", "Instances, page by page", api::instances::list,
        asks &[
            Parameter("definition", "Id", "of this workflow"),
            Parameter("subStatus", "SubStatus", "as far as this"),
            Parameter("correlation", "String", "with this correlation"),
            Parameter("limit", "Limit", "so many at most: 50, unless said otherwise"),
            Parameter("after", "String", "where the last page ended: its `next`"),
        ],
        gives &[Given(200, Some("Instances"), "A page.")];
    get "/v1/instances/{id}" READ, "getInstance", "What is known of an instance, without what is secret", api::instances::get,
        gives &[Given(200, Some("Instance"), "All of it.")], refuses &[404, 422];
    get "/v1/instances/{id}/journal" READ, "getJournal", "What happened in an instance", api::instances::journal,
        asks &[
            Parameter("from", "Count", "from this entry on"),
            Parameter("wait", "Seconds", "for so many seconds at most, until there is one"),
            Parameter("limit", "LongLimit", "so many at most: 1000, unless said otherwise"),
        ],
        gives &[Given(200, Some("Journal"), "In the order in which it happened.")], refuses &[404, 422];
    get "/v1/instances/{id}/variables" READ, "getVariables", "What an instance remembers, without what is secret",
        api::instances::variables,
        gives &[Given(200, Some("Input"), "Values by their names.")], refuses &[404, 422];
    post "/v1/instances/{id}/cancel" RUN, "cancelInstance", "Ends an instance, at its next step if it runs", api::instances::cancel,
        gives &[Given(200, Some("Cancelled"), "Whether it is over.")], refuses &[404, 409, 422];
    post "/v1/instances/{id}/retry" RUN, "retryInstance", "Begins again what failed in an instance", api::instances::retry,
        takes "Retry", gives &[Given(200, Some("Ran"), "How far it got.")], refuses &[404, 409, 422];
    post "/v1/instances/{id}/links" RUN, "makeLink", "A link by which somebody without a key can resume a bookmark",
        api::links::make,
        takes "LinkWanted", gives &[Given(200, Some("Link"), "Where to send a POST.")], refuses &[404, 422];
    delete "/v1/instances/{id}" ADMIN, "deleteInstance", "Removes an instance and all that belongs to it, running or not",
        api::instances::remove,
        gives &[Given(204, None, "It is gone.")], refuses &[404, 409, 422];
    post "/v1/bulk/instances" ADMIN, "changeInstances", "Ends, retries or removes many instances", api::instances::bulk,
        takes "Bulk", gives &[Given(200, Some("BulkDone"), "What became of each.")], refuses &[422];

    get "/v1/queue" READ, "listQueue", "Stimuli for which nobody waits yet", api::queue::waiting,
        asks PAGES, gives &[Given(200, Some("Queue"), "A page, the oldest first.")];
    get "/v1/dead-letters" READ, "listDeadLetters", "What was not done", api::queue::dead,
        asks PAGES, gives &[Given(200, Some("DeadLetters"), "A page, the oldest first.")];
    post "/v1/dead-letters/{id}/replay" RUN, "replayDeadLetter", "Tries once more what was not done", api::queue::replay,
        gives &[Given(200, Some("Replayed"), "Under which name.")], refuses &[404, 409];
    get "/v1/timers" READ, "listTimers", "What happens by itself, the soonest first", api::queue::timers,
        asks &[Parameter("limit", "Limit", "so many at most: 50, unless said otherwise")],
        gives &[Given(200, Some("Timers"), "The next ones.")];

    get "/v1/nodes" READ, "listNodes", "The nodes that share the store", api::node::list,
        gives &[Given(200, Some("Nodes"), "By name.")];
    get "/v1/node" READ, "getNode", "This node", api::node::get,
        gives &[Given(200, Some("ThisNode"), "What it is, and what it stands on.")];
    post "/v1/node/pause" ADMIN, "pauseNode", "Takes no more work until it is resumed", api::node::pause,
        gives &[Given(200, Some("Health"), "How it is now.")];
    post "/v1/node/resume" ADMIN, "resumeNode", "Takes work again", api::node::resume,
        gives &[Given(200, Some("Health"), "How it is now.")];
    post "/v1/node/drain" ADMIN, "drainNode", "Ends this node: others go on with what it has in hand", api::node::drain,
        gives &[Given(202, Some("Health"), "It ends.")];
    post "/v1/refresh" DEFINE, "refresh", "Finds out again what starts instances", api::node::refresh,
        takes "Refresh",
        gives &[Given(200, Some("Refreshed"), "It was done."), Given(202, Some("Refreshed"), "Another node is at it.")];
    post "/v1/reload" DEFINE, "reload", "Publishes again what the program and its folders define", api::node::reload,
        gives &[Given(200, Some("Reloaded"), "It was done."), Given(202, Some("Reloaded"), "Another node is at it.")],
        refuses &[422];

    get "/v1/locks/{name}" READ, "getLock", "Who holds a lock, and who waits for it", api::locks::get,
        asks &[KIND], gives &[Given(200, Some("Lock"), "A moment that has already passed.")], refuses &[404, 422, 501];
    post "/v1/locks/{name}/break" ADMIN, "breakLock", "Takes a lock away from whoever holds it; logged, with who and why",
        api::locks::break_lock,
        asks &[KIND], takes "BreakLock", gives &[Given(200, Some("Broken"), "From how many.")], refuses &[404, 422, 501];

    get "/v1/live" READ, "listen", "What happens on this node from now on, as server-sent events", api::live::listen,
        asks &[Parameter("instance", "Id", "to this instance alone")],
        gives &[Given(200, Some("Stream"), "An event for each thing that was written down.")];

    any "/workflows/{path}" Access::Declared, "callWorkflow",
        "Asks a workflow on a route that it names, by the method that it names: starts an instance, or resumes those who wait",
        api::endpoints::call,
        takes "Anything",
        gives &[Given(202, Some("Accepted"), "It is written down, and done whatever becomes of this node.")],
        refuses &[404, 405, 409, 422];
}

impl Operation {
    /// Where it is on a node that has routes of workflows below `base`.
    pub(crate) fn place(&self, base: &str) -> String {
        match (self.access, self.path.strip_prefix(BASE)) {
            (Access::Declared, Some(rest)) => format!("{base}{rest}"),
            _ => self.path.to_owned(),
        }
    }
}

/// The router of all that.
pub(crate) fn router(node: &Node) -> Router {
    let mut router = Router::new();
    for operation in OPERATIONS {
        let around = Arc::clone(node);
        let admit = from_fn(move |request: Request, next: Next| {
            admit(Arc::clone(&around), operation, request, next)
        });
        let route = (operation.route)().route_layer(admit);
        let place = operation.place(&node.base).replace("{path}", "{*path}");
        router = router.route(&place, route);
    }
    router
        .fallback(api::nothing)
        .method_not_allowed_fallback(api::not_so)
        // What a request brings was read, and measured, before it came here.
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::clone(node))
}

/// Whether a status means that all is well.
pub(crate) fn is_well(status: u16) -> bool {
    StatusCode::from_u16(status).is_ok_and(|status| status.is_success())
}
