//! An order that waits for an approval, written in Rust. `order_approval.json` beside it is the same value, which a
//! test checks.

use lockwork::{
    flow::{Definition, Parameter, Retry, build::*},
    workflow::Result,
};
use serde_json::json;
use std::time::Duration;

pub(crate) fn order_approval() -> Result<Definition> {
    workflow("order-approval")
        .name("Approval of an order")
        .description(
            "Waits three days for somebody to approve an order, and charges or refunds it.",
        )
        .input(Parameter::new("order").required())
        .input(Parameter::new("amount").required())
        .output("result")
        .variable("decision", json!({ "approved": false }))
        .root(sequence(
            "main",
            [
                correlate("order", expr("input.order")),
                race(
                    "answer",
                    [
                        event("approval", "OrderApproved").into("decision"),
                        delay("patience", "3d"),
                    ],
                ),
                try_("settle", settle()).catch(compensate()),
            ],
        ))
        .build()
}

fn settle() -> Draft {
    let busy = Retry::new(3, Duration::from_secs(10))
        .factor(2.0)
        .on("bank.busy");
    let charge = sequence(
        "yes",
        [
            call("charge", "charge").with("args", order()).retry(busy),
            set_output("charged", "result", "charged"),
        ],
    );
    let refuse = text("nobody approved {{ input.order }}");
    if_("approved", expr("decision.approved"))
        .then(charge)
        .otherwise(fault("no", "order.refused", refuse))
}

fn compensate() -> Draft {
    sequence(
        "compensate",
        [
            log("why", text("{{ error.code }}: {{ error.message }}")),
            call("refund", "refund").with("args", order()),
            set_output("refunded", "result", "refunded"),
        ],
    )
}

fn order() -> serde_json::Value {
    json!({ "amount": expr("input.amount"), "order": expr("input.order") })
}
