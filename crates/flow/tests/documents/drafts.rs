//! The definitions in the examples, as they are written in Rust.

use lockwork_flow::{Definition, Length, Parameter, Result, Retry, build::*};
use serde_json::json;
use std::time::Duration;

/// Each of them, with the name of its file.
pub(crate) fn all() -> [(&'static str, Definition); 4] {
    [
        ("order_approval.json", order_approval()),
        ("fan_out.json", fan_out()),
        ("price_one.json", price_one()),
        ("cron.json", nightly()),
    ]
    .map(|(file, definition)| (file, definition.expect(file)))
}

pub(crate) fn order_approval() -> Result<Definition> {
    let patience = Duration::from_secs(3 * 24 * 60 * 60);
    let busy = Retry::new(3, Duration::from_secs(10))
        .factor(2.0)
        .on("bank.busy");
    let order = || json!({ "amount": expr("input.amount"), "order": expr("input.order") });
    let approved = if_("approved", expr("decision.approved"))
        .then(sequence(
            "yes",
            [
                call("charge", "charge").with("args", order()).retry(busy),
                set_output("charged", "result", "charged"),
            ],
        ))
        .otherwise(fault(
            "no",
            "order.refused",
            text("nobody approved {{ input.order }}"),
        ));
    let compensate = sequence(
        "compensate",
        [
            log("why", text("{{ error.code }}: {{ error.message }}")),
            call("refund", "refund").with("args", order()),
            set_output("refunded", "result", "refunded"),
        ],
    );
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
                        delay("patience", Length::from(patience)),
                    ],
                ),
                try_("settle", approved).catch(compensate),
            ],
        ))
        .build()
}

pub(crate) fn fan_out() -> Result<Definition> {
    let lines =
        Parameter::new("lines").description("A list of objects with `quantity` and `unit`.");
    workflow("fan-out")
        .name("The price of many lines")
        .description("Has each line priced by an instance of its own, side by side, and adds up what they give.")
        .input(lines.required())
        .output("total")
        .variable("total", 0)
        .root(sequence(
            "main",
            [
                bulk_dispatch("prices", "price-one", expr("input.lines"))
                    .with("wait", true)
                    .activity("completed", set_variable("add", "total", expr("total + child.output.price")))
                    .activity("faulted", fault("missing", "price.missing", text("{{ child.instance }} has no price"))),
                set_output("sum", "total", expr("total")),
            ],
        ))
        .build()
}

pub(crate) fn price_one() -> Result<Definition> {
    workflow("price-one")
        .name("The price of one line")
        .input(Parameter::new("quantity").required())
        .input(
            Parameter::new("unit")
                .required()
                .description("What one of them costs."),
        )
        .output("price")
        .root(set_output(
            "price",
            "price",
            expr("input.quantity * input.unit"),
        ))
        .build()
}

fn nightly() -> Result<Definition> {
    workflow("nightly")
        .name("Every night")
        .root(sequence(
            "main",
            [
                cron("at-three", "0 3 * * *")
                    .with("zone", "Europe/Berlin")
                    .starts(),
                log("hello", text("{{ instance.id }} runs while people sleep")),
            ],
        ))
        .build()
}
