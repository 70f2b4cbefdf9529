//! What is done outside of the instance: by other instances, by workers, by servers and programs.

use super::{Draft, activity};
use crate::definition::Input;

/// Starts an instance of another workflow with an `input`, and waits for its end if `wait` is true.
///
/// ```
/// use lockwork_flow::build::*;
/// use serde_json::json;
///
/// let bill = dispatch("bill", "billing").with("input", json!({ "order": expr("input.order") })).with("wait", true);
/// ```
pub fn dispatch(id: impl Into<String>, definition: impl Into<Input>) -> Draft {
    activity("DispatchWorkflow", id).with("definition", definition)
}

/// Runs another workflow with an `input` to its end, and fails if that does.
///
/// ```
/// use lockwork_flow::build::*;
/// use serde_json::json;
///
/// let price = execute_workflow("price", "price-one").with("input", json!({ "quantity": 3 })).into("price");
/// ```
pub fn execute_workflow(id: impl Into<String>, definition: impl Into<Input>) -> Draft {
    activity("ExecuteWorkflow", id).with("definition", definition)
}

/// Starts an instance of another workflow for each item, and waits for all of them if `wait` is true. `completed` and
/// `faulted` are run for each that ends so: there, `child` is known.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let prices = bulk_dispatch("prices", "price-one", expr("input.lines"))
///     .with("wait", true)
///     .activity("completed", set_variable("add", "total", expr("total + child.output.price")));
/// ```
pub fn bulk_dispatch(
    id: impl Into<String>,
    definition: impl Into<Input>,
    items: impl Into<Input>,
) -> Draft {
    activity("BulkDispatch", id)
        .with("definition", definition)
        .with("items", items)
}

/// Long work that the program has registered under `name`, in the background. It is given `args`.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let report = job("report", "make-report").with("args", expr("input")).into("report");
/// ```
pub fn job(id: impl Into<String>, name: impl Into<String>) -> Draft {
    activity("Job", id).with("name", name.into())
}

/// Asks a server by HTTP, in the background.
///
/// ```
/// use lockwork_flow::build::*;
/// use serde_json::json;
///
/// let ask = http("ask", "https://example.com/orders")
///     .with("method", "POST")
///     .with("body", json!({ "order": expr("input.order") }))
///     .into("answer");
/// ```
pub fn http(id: impl Into<String>, url: impl Into<Input>) -> Draft {
    activity("HttpRequest", id).with("url", url)
}

/// Runs a program of the machine with `args`, in the background, where the node allows it.
///
/// ```
/// use lockwork_flow::build::*;
/// use serde_json::json;
///
/// let disk = shell("disk", "df").with("args", json!(["-h"])).into("disk");
/// ```
pub fn shell(id: impl Into<String>, command: impl Into<Input>) -> Draft {
    activity("Shell", id).with("command", command)
}
