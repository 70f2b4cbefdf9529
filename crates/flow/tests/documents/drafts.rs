//! The definitions in the examples, as they are written in Rust.

use lockwork_flow::{Definition, Parameter, Result, build::*};

/// Those that are written here, with the names of their files.
pub(crate) fn written() -> [(&'static str, Definition); 3] {
    [
        ("fan_out.json", fan_out()),
        ("price_one.json", price_one()),
        ("cron.json", nightly()),
    ]
    .map(|(file, definition)| (file, definition.expect(file)))
}

/// Each of them.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Definition)> {
    let order = order_approval().expect("it is read");
    written()
        .into_iter()
        .chain([("order_approval.json", order)])
}

/// Written in Rust in the example itself, where a test compares the two.
pub(crate) fn order_approval() -> Result<Definition> {
    Definition::from_json(include_str!("order_approval.json"))
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
