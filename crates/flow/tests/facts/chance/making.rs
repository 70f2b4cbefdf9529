//! Definitions by chance: small, nested, and with everything that can go wrong in them.

use super::random::Random;
use crate::support::{count, expr, log, say, sequence, set};
use lockwork_core::workflow::Value;
use serde_json::json;

/// What is made.
pub(super) const KINDS: [&str; 19] = [
    "Sequence",
    "Parallel",
    "Fork",
    "If",
    "While",
    "ForEach",
    "ParallelForEach",
    "Try",
    "Flowchart",
    "Decide",
    "Fault",
    "Event",
    "Delay",
    "SetVariable",
    "Log",
    "Break",
    "Finish",
    "RunTask",
    "ExecuteWorkflow",
];

pub(super) fn definition(random: &mut Random) -> Value {
    let mut making = Making {
        random,
        ids: 0,
        counters: Vec::new(),
        left: 14,
        loops: 0,
    };
    let root = making.node(0);
    let names = making.counters.into_iter();
    let counters = names.map(|name| json!({ "name": name, "value": 0 }));
    let mut variables: Vec<_> = counters.collect();
    variables.push(json!({ "name": "n", "value": 0 }));
    variables.push(json!({ "name": "got" }));
    let incidents = *random.one_of(&["fault", "continue"]);
    json!({
        "lockwork": 1, "id": "chance", "variables": variables, "options": { "incidents": incidents }, "root": root,
    })
}

struct Making<'r> {
    random: &'r mut Random,
    ids: usize,
    counters: Vec<String>,
    /// How many more, more or less.
    left: usize,
    /// How many loops are around.
    loops: usize,
}

impl Making<'_> {
    fn id(&mut self) -> String {
        self.ids += 1;
        format!("x{}", self.ids)
    }

    fn node(&mut self, depth: usize) -> Value {
        self.left = self.left.saturating_sub(1);
        let mut node = match depth > 4 || self.left == 0 || (depth > 0 && self.random.once_in(3)) {
            true => self.leaf(),
            false => self.around(depth + 1),
        };
        if self.random.once_in(12) {
            node["retry"] = self.retry();
        }
        node
    }

    fn retry(&mut self) -> Value {
        let mut retry = json!({
            "times": self.random.below(3), "after": self.random.one_of(&["0s", "1s", "3s"]), "factor": 2,
        });
        if self.random.once_in(2) {
            retry["on"] = json!(["a"]);
        }
        retry
    }

    fn leaf(&mut self) -> Value {
        let id = self.id();
        let event = *self.random.one_of(&["e0", "e1"]);
        match self.random.below(22) {
            0..5 => log(&id),
            5..7 => say(&id, json!({ "$text": "{{ n }} {{ got }}" })),
            7..9 => count(&id, "n"),
            9..11 => json!({ "type": "Event", "id": id, "with": { "name": event } }),
            11..13 => {
                json!({ "type": "Event", "id": id, "with": { "name": event }, "into": "got" })
            }
            13..15 => {
                json!({ "type": "Delay", "id": id, "with": { "for": self.random.one_of(&["1s", "2s"]) } })
            }
            15..17 => {
                json!({ "type": "Fault", "id": id, "with": { "code": self.random.one_of(&["a", "b"]) } })
            }
            17 => set(&id, "n", expr("1 // n")),
            18 => json!({ "type": "RunTask", "id": id, "with": { "name": "task" }, "into": "got" }),
            19 => json!({ "type": "ExecuteWorkflow", "id": id, "with": { "definition": "child" } }),
            20 if self.random.once_in(2) => json!({ "type": "Finish", "id": id }),
            _ if self.loops > 0 || self.random.once_in(4) => json!({ "type": "Break", "id": id }),
            _ => log(&id),
        }
    }

    fn around(&mut self, depth: usize) -> Value {
        let id = self.id();
        match self.random.below(11) {
            0..3 => sequence(&id, self.several(depth, 1)),
            3 => json!({ "type": "Parallel", "id": id, "do": self.several(depth, 0) }),
            4 => {
                let join = *self.random.one_of(&["all", "any"]);
                json!({ "type": "Fork", "id": id, "with": { "join": join }, "do": self.several(depth, 2) })
            }
            5 => {
                let (then, other) = (self.node(depth), self.node(depth));
                let condition = expr("n % 2 == 0");
                json!({
                    "type": "If", "id": id, "with": { "condition": condition }, "do": { "then": then, "else": other },
                })
            }
            6 => self.counted(&id, depth),
            7 => self.each("ForEach", &id, depth),
            8 => self.each("ParallelForEach", &id, depth),
            9 => self.attempt(&id, depth),
            _ => self.chart(&id, depth),
        }
    }

    fn several(&mut self, depth: usize, least: usize) -> Vec<Value> {
        let many = least + self.random.below(3);
        (0..many).map(|_| self.node(depth)).collect()
    }

    fn inside(&mut self, depth: usize) -> Value {
        self.loops += 1;
        let body = self.node(depth);
        self.loops -= 1;
        body
    }

    fn counted(&mut self, id: &str, depth: usize) -> Value {
        let name = format!("c{id}");
        self.counters.push(name.clone());
        let more = count(&self.id(), &name);
        let body = sequence(&self.id(), [more, self.inside(depth)]);
        let condition = expr(&format!("{name} < 2"));
        json!({ "type": "While", "id": id, "with": { "condition": condition }, "do": { "body": body } })
    }

    fn each(&mut self, kind: &str, id: &str, depth: usize) -> Value {
        let items: Vec<_> = (0..self.random.below(4)).collect();
        let said = say(&self.id(), json!({ "$text": "{{ index }}: {{ item }}" }));
        let body = sequence(&self.id(), [said, self.inside(depth)]);
        let mut each =
            json!({ "type": kind, "id": id, "with": { "items": items }, "do": { "body": body } });
        if kind == "ParallelForEach" && self.random.once_in(2) {
            each["with"]["atMost"] = json!(1 + self.random.below(2));
        }
        each
    }

    fn attempt(&mut self, id: &str, depth: usize) -> Value {
        let (body, catch) = (self.node(depth), self.node(depth));
        let codes = *self.random.one_of(&["[]", "[\"a\"]"]);
        let codes: Value = serde_json::from_str(codes).unwrap();
        json!({ "type": "Try", "id": id, "with": { "codes": codes }, "do": { "body": body, "catch": catch } })
    }

    /// A fork, a decision on one of its sides, a join, and sometimes a way back.
    fn chart(&mut self, id: &str, depth: usize) -> Value {
        let name = format!("c{id}");
        self.counters.push(name.clone());
        let start = count("s", &name);
        let again = json!({ "type": "Decide", "id": "again", "with": { "condition": expr(&format!("{name} < 2")) } });
        let decide =
            json!({ "type": "Decide", "id": "d", "with": { "condition": expr("n % 2 == 0") } });
        let connections = json!([
            { "from": "s", "to": "a" }, { "from": "s", "to": "d" }, { "from": "a", "to": "j" },
            { "from": "d", "to": "b", "on": "True" }, { "from": "b", "to": "j" }, { "from": "j", "to": "again" },
            { "from": "again", "to": "s", "on": "True", "back": true },
        ]);
        let joins = match self.random.once_in(3) {
            true => json!({ "j": "any" }),
            false => json!({}),
        };
        let (a, b, j) = (self.node(depth), self.node(depth), log("j"));
        json!({
            "type": "Flowchart", "id": id, "with": { "start": "s", "connections": connections, "joins": joins },
            "do": { "s": start, "a": a, "b": b, "d": decide, "j": j, "again": again },
        })
    }
}
