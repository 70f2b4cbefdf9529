//! In which order things are done, whether, and how often.

use super::{Draft, activity};
use crate::definition::Input;

/// Activities one after another.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let main = sequence("main", [log("a", "first"), log("b", "then")]);
/// ```
pub fn sequence(id: impl Into<String>, list: impl IntoIterator<Item = Draft>) -> Draft {
    activity("Sequence", id).activities(list)
}

/// Activities side by side, until all of them are done.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let both = parallel("both", [event("paid", "OrderPaid"), event("packed", "OrderPacked")]);
/// ```
pub fn parallel(id: impl Into<String>, list: impl IntoIterator<Item = Draft>) -> Draft {
    activity("Parallel", id).activities(list)
}

/// Activities side by side, until all of them are done. A [`race`] is the same with another `join`.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let both = fork("both", [event("paid", "OrderPaid"), event("packed", "OrderPacked")]);
/// ```
pub fn fork(id: impl Into<String>, list: impl IntoIterator<Item = Draft>) -> Draft {
    activity("Fork", id).activities(list)
}

/// Activities side by side, until the first of them is done: that ends the others.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let answer = race("answer", [event("approval", "OrderApproved"), delay("patience", "3d")]);
/// ```
pub fn race(id: impl Into<String>, list: impl IntoIterator<Item = Draft>) -> Draft {
    fork(id, list).with("join", "any")
}

/// One activity if a condition is true, another if not; each may be missing.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let large = if_("large", expr("input.total > 100")).then(log("yes", "large")).otherwise(log("no", "small"));
/// ```
pub fn if_(id: impl Into<String>, condition: impl Into<Input>) -> Draft {
    activity("If", id).with("condition", condition)
}

impl Draft {
    /// What to do if the condition of an [`if_`] is true.
    pub fn then(self, activity: Self) -> Self {
        self.activity("then", activity)
    }

    /// What to do if the condition of an [`if_`] is not true.
    pub fn otherwise(self, activity: Self) -> Self {
        self.activity("else", activity)
    }

    /// What to do if something in a [`try_`] fails.
    pub fn catch(self, activity: Self) -> Self {
        self.activity("catch", activity)
    }
}

/// The activity that is named as `value` is, otherwise the one named `default`.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let level = switch("level", expr("input.level"))
///     .activity("gold", log("gold", "hurry"))
///     .activity("default", log("usual", "as usual"));
/// ```
pub fn switch(id: impl Into<String>, value: impl Into<Input>) -> Draft {
    activity("Switch", id).with("value", value)
}

/// A fork in the way of a [`flowchart`](super::flowchart): its outcome is `True` or `False`.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let large = decide("large", expr("input.total > 100"));
/// ```
pub fn decide(id: impl Into<String>, condition: impl Into<Input>) -> Draft {
    activity("Decide", id).with("condition", condition)
}

/// Many ways on in a [`flowchart`](super::flowchart): its outcome is `value`, as text.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let level = choose("level", expr("input.level"));
/// ```
pub fn choose(id: impl Into<String>, value: impl Into<Input>) -> Draft {
    activity("Choose", id).with("value", value)
}

/// `body` again and again while a condition is true.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let up = while_("up", expr("count < 10"), set_variable("one-more", "count", expr("count + 1")));
/// ```
pub fn while_(id: impl Into<String>, condition: impl Into<Input>, body: Draft) -> Draft {
    activity("While", id)
        .with("condition", condition)
        .activity("body", body)
}

/// `body` once for each item, one after another. Inside of it, `item` and `index` are known.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let each = for_each("each", expr("input.lines"), log("line", text("{{ index }}: {{ item }}")));
/// let named = for_each("each", expr("input.lines"), log("line", expr("line"))).with("as", "line");
/// ```
pub fn for_each(id: impl Into<String>, items: impl Into<Input>, body: Draft) -> Draft {
    activity("ForEach", id)
        .with("items", items)
        .activity("body", body)
}

/// `body` for all items side by side, or for so many. Inside of it, `item` and `index` are known.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let ask = http("ask", expr("item"));
/// let four_at_once = parallel_for_each("all", expr("input.urls"), ask).with("atMost", 4);
/// ```
pub fn parallel_for_each(id: impl Into<String>, items: impl Into<Input>, body: Draft) -> Draft {
    activity("ParallelForEach", id)
        .with("items", items)
        .activity("body", body)
}

/// The end of the innermost loop around it.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let enough = if_("enough", expr("total > 100")).then(break_("stop"));
/// ```
pub fn break_(id: impl Into<String>) -> Draft {
    activity("Break", id)
}

/// `body`, and what to do if something in it fails: there, `error.code` and `error.message` are known.
///
/// ```
/// use lockwork_flow::build::*;
/// use serde_json::json;
///
/// let any = try_("charge", call("pay", "charge")).catch(log("no", text("{{ error.message }}")));
/// let some = try_("charge", call("pay", "charge")).with("codes", json!(["card.expired"])).catch(log("no", "expired"));
/// ```
pub fn try_(id: impl Into<String>, body: Draft) -> Draft {
    activity("Try", id).activity("body", body)
}

/// A failure, on purpose.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let refused = fault("refused", "order.refused", text("nobody approved {{ input.order }}"));
/// ```
pub fn fault(id: impl Into<String>, code: impl Into<Input>, message: impl Into<Input>) -> Draft {
    activity("Fault", id)
        .with("code", code)
        .with("message", message)
}

/// The end of the instance, whatever is still under way in it.
///
/// ```
/// use lockwork_flow::build::*;
///
/// let enough = finish("enough");
/// ```
pub fn finish(id: impl Into<String>) -> Draft {
    activity("Finish", id)
}
