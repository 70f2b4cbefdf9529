//! Activities with arrows between them.

use super::{Draft, activity};
use crate::definition::{Input, read::wrong};
use lockwork_core::workflow::{Error, Value, Values};

/// Where the arrows are.
const CONNECTIONS: &str = "connections";

/// Activities with arrows between them.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let chart = flowchart("chart")
///     .start("ask")
///     .activity("ask", event("ask", "Answered").into("answer"))
///     .activity("enough", decide("enough", expr("answer.enough")))
///     .activity("bye", log("bye", "that will do"))
///     .connect("ask", "enough")
///     .connect("enough", "bye").on("True")
///     .connect("enough", "ask").on("False").back();
/// ```
pub fn flowchart(id: impl Into<String>) -> Draft {
    activity("Flowchart", id)
}

impl Draft {
    /// The activity that a [`flowchart`] begins with, by its name.
    pub fn start(self, name: impl Into<String>) -> Self {
        self.with("start", name.into())
    }

    /// An arrow of a [`flowchart`], by the names of its activities. It is followed when the one at its beginning is
    /// done as usual.
    pub fn connect(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        let arrow = Values::from_iter([
            ("from".to_owned(), from.into().into()),
            ("to".to_owned(), to.into().into()),
        ]);
        let arrows = self.with.entry(CONNECTIONS.to_owned());
        match arrows.or_insert_with(|| Vec::<Value>::new().into()) {
            Input::Value(Value::Array(arrows)) => {
                arrows.push(arrow.into());
                self
            }
            _ => self.wrong(at_connections("the arrows of a flowchart are a list")),
        }
    }

    /// The last arrow is followed when the activity at its beginning has this outcome.
    pub fn on(self, outcome: impl Into<String>) -> Self {
        self.last_arrow("on", outcome.into().into())
    }

    /// The last arrow goes back to where the flowchart was before.
    pub fn back(self) -> Self {
        self.last_arrow("back", true.into())
    }

    fn last_arrow(mut self, field: &str, value: Value) -> Self {
        let last = match self.with.get_mut(CONNECTIONS) {
            Some(Input::Value(Value::Array(arrows))) => arrows.last_mut(),
            _ => None,
        };
        match last.and_then(Value::as_object_mut) {
            Some(arrow) => {
                arrow.insert(field.to_owned(), value);
                self
            }
            None => self.wrong(at_connections(
                "there is no arrow yet of which this could be said: connect two activities first",
            )),
        }
    }
}

fn at_connections(message: &'static str) -> Error {
    wrong(message).with("field", "with.connections")
}
