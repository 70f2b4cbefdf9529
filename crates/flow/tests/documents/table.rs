//! The table of activities for people, out of what each says of itself.

use lockwork_flow::{Contains, Descriptor, Given, Registry};

const HEAD: &str = "\
# Activities

**What can a workflow do, and what does each activity need?** This is what the activities say of themselves; a test
keeps it so. What stands in **bold** does not go without. What is *known beforehand* is a plain value; everything
else that an activity is given may be an expression, `{ \"$expr\": \"input.total > 100\" }`, or a text with expressions
in it, `{ \"$text\": \"Hello {{ input.who }}\" }`.

What an activity is given stands in `with`, what it contains in `do`, and `into` names the variable for what it
gives. Those that can start instances do so with `\"starts\": true`. Every activity may have a `retry`.
The schema in [schema/definition.json](schema/definition.json) says the same to editors.

| Activity | What it is for | What it is given | What it contains | What it gives | Can start |
|---|---|---|---|---|---|
";

/// The whole page.
pub(crate) fn page(registry: &Registry) -> String {
    let rows = registry.activities().map(|one| row(&one.describe()));
    HEAD.to_owned() + &rows.collect::<String>()
}

fn row(activity: &Descriptor) -> String {
    let given: Vec<_> = activity.inputs.iter().map(given).collect();
    let cells = [
        format!("`{}`", activity.kind),
        activity.about.to_owned(),
        given.join("<br>"),
        contains(activity.contains),
        activity.gives.unwrap_or_default().to_owned(),
        if activity.can_start { "yes" } else { "" }.to_owned(),
    ];
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    format!("| {} |\n", cells.join(" | "))
}

fn given(given: &Given) -> String {
    let beforehand = if given.fixed {
        " (*known beforehand*)"
    } else {
        ""
    };
    let name = name(given.name, given.required);
    format!("{name}: {}{beforehand}", given.about)
}

fn name(name: &str, required: bool) -> String {
    match required {
        true => format!("**`{name}`**"),
        false => format!("`{name}`"),
    }
}

fn contains(contains: Contains) -> String {
    match contains {
        Contains::Nothing => String::new(),
        Contains::List => "a list of activities".to_owned(),
        Contains::Any => "activities by names of your own".to_owned(),
        Contains::Ports { required, optional } => {
            let required = required.iter().map(|port| name(port, true));
            let optional = optional.iter().map(|port| name(port, false));
            required.chain(optional).collect::<Vec<_>>().join(", ")
        }
    }
}
