//! The arrows: whether they can be drawn, and where they lead.

use crate::{
    activity::{Child, Step, Wrong},
    burst::Cx,
};
use lockwork_core::workflow::{Failure, Value};
use serde::Deserialize;
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

/// What a definition says about the arrows. It is read again at each step, so nothing of it is copied.
#[derive(Debug)]
pub(super) struct Chart<'a> {
    pub(super) start: Cow<'a, str>,
    connections: Vec<Connection<'a>>,
    joins: BTreeMap<String, Join>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Connection<'a> {
    #[serde(borrow)]
    from: Cow<'a, str>,
    #[serde(borrow)]
    to: Cow<'a, str>,
    #[serde(borrow, default = "done")]
    on: Cow<'a, str>,
    #[serde(default)]
    back: bool,
}

const fn done() -> Cow<'static, str> {
    Cow::Borrowed(Step::DONE)
}

/// Where the arrows lead from each activity.
type Arrows<'a> = BTreeMap<&'a str, Vec<&'a str>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Join {
    All,
    Any,
}

/// What follows from the end of an activity.
pub(super) struct Next {
    /// Those that are not waited for any more.
    pub(super) late: Vec<usize>,
    /// Those whose turn it is.
    pub(super) ready: Vec<usize>,
    /// Those to which an arrow was followed, and that have to wait.
    pub(super) tokens: BTreeSet<String>,
}

impl<'a> Chart<'a> {
    pub(super) fn of(cx: &'a Cx<'_>) -> Result<Self, Failure> {
        let read = Self::read(|name| cx.plain(name));
        read.map_err(|wrong| Failure::new("flowchart", wrong.message))
    }

    pub(super) fn read(value: impl Fn(&str) -> Option<&'a Value>) -> Result<Self, Wrong> {
        fn field<'a, T: Deserialize<'a> + Default>(
            name: &str,
            value: Option<&'a Value>,
        ) -> Result<T, Wrong> {
            let read = value.map(T::deserialize).transpose();
            let read = read.map(Option::unwrap_or_default);
            read.map_err(|error| Wrong::new(format!("with.{name}"), error.to_string()))
        }
        Ok(Self {
            start: field("start", value("start"))?,
            connections: field("connections", value("connections"))?,
            joins: field("joins", value("joins"))?,
        })
    }

    pub(super) fn next(&self, cx: &Cx<'_>, child: &Child) -> Next {
        let names: Vec<_> = cx.children().map(Option::unwrap_or_default).collect();
        let over = names.get(child.index).copied().unwrap_or_default();
        let mut tokens: BTreeSet<String> = cx.data().as_array().map_or_else(BTreeSet::new, |all| {
            all.iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        });
        let followed = self.connections.iter();
        let followed = followed.filter(|one| one.from == over && one.on == child.outcome);
        let followed: BTreeSet<_> = followed.map(|one| one.to.as_ref()).collect();
        tokens.extend(followed.iter().map(|to| (*to).to_owned()));
        let mut active: BTreeSet<_> = cx
            .active_children()
            .filter_map(|at| names.get(at))
            .copied()
            .collect();
        // Only now, so that the order in which arrows were written does not matter.
        let first = followed
            .iter()
            .filter(|to| self.joins.get(**to) == Some(&Join::Any));
        let late: BTreeSet<_> = first.flat_map(|to| self.before(to)).collect();
        tokens.retain(|token| !late.contains(token.as_str()));
        active.retain(|name| !late.contains(name));
        let ready = self.ready(&tokens, &active);
        tokens.retain(|token| !ready.contains(token));
        let places = |some: &dyn Fn(&str) -> bool| {
            let places = names.iter().enumerate().filter(|(_, name)| some(name));
            places.map(|(at, _)| at).collect()
        };
        Next {
            late: places(&|name| late.contains(name)),
            ready: places(&|name| ready.contains(name)),
            tokens,
        }
    }

    /// Whether each arrow has a beginning and an end, each activity can be reached, and none is before itself.
    pub(super) fn check(&self, names: &BTreeSet<&str>) -> Result<(), Wrong> {
        let known = |field: &str, name: &str| match names.contains(name) {
            true => Ok(()),
            false => Err(Wrong::new(
                field,
                format!("there is no activity called `{name}` here"),
            )),
        };
        known("with.start", &self.start)?;
        for (at, connection) in self.connections.iter().enumerate() {
            known(&format!("with.connections.{at}.from"), &connection.from)?;
            known(&format!("with.connections.{at}.to"), &connection.to)?;
        }
        self.joins
            .keys()
            .try_for_each(|name| known("with.joins", name))?;
        if let Some(turns) = self.turning(names) {
            let message = format!(
                "`{turns}` comes before itself: say `\"back\": true` at the connection that goes back"
            );
            return Err(Wrong::new("with.connections", message));
        }
        let reached = reached(&self.arrows(|_| true), &self.start);
        match names
            .iter()
            .find(|name| **name != self.start && !reached.contains(*name))
        {
            None => Ok(()),
            Some(dangling) => {
                let message = format!("no way leads to `{dangling}`: connect it, or remove it");
                Err(Wrong::new("with.connections", message))
            }
        }
    }

    /// One that comes before itself, if there is any.
    fn turning<'n>(&'n self, names: &BTreeSet<&'n str>) -> Option<&'n str> {
        let (to, mut left) = (self.arrows(|one| !one.back), names.clone());
        let from = self.turned();
        // Those that nobody is before are not in a circle, and neither are those that only they are before.
        let mut look: Vec<_> = names
            .iter()
            .filter(|name| !from.contains_key(**name))
            .copied()
            .collect();
        let mut before: BTreeMap<_, _> = from
            .iter()
            .map(|(name, from)| (*name, from.len()))
            .collect();
        while let Some(name) = look.pop() {
            left.remove(name);
            for next in to.get(name).into_iter().flatten().copied() {
                let count = before.entry(next).or_default();
                *count -= 1;
                if *count == 0 {
                    look.push(next);
                }
            }
        }
        // Each that is left has another one before it: so often back, and one is in the circle.
        let mut at = left.first().copied()?;
        for _ in names {
            at = from
                .get(at)?
                .iter()
                .copied()
                .find(|name| left.contains(name))?;
        }
        Some(at)
    }

    fn arrows(&self, which: impl Fn(&Connection<'_>) -> bool) -> Arrows<'_> {
        let mut arrows = Arrows::new();
        for one in self.connections.iter().filter(|one| which(one)) {
            arrows.entry(&one.from).or_default().push(&one.to);
        }
        arrows
    }

    /// The arrows turned round, but for those that go back.
    fn turned(&self) -> Arrows<'_> {
        let mut arrows = Arrows::new();
        for one in self.connections.iter().filter(|one| !one.back) {
            arrows.entry(&one.to).or_default().push(&one.from);
        }
        arrows
    }

    /// Those from which `name` can be reached.
    fn before<'c>(&'c self, name: &str) -> BTreeSet<&'c str> {
        reached(&self.turned(), name)
    }

    /// Those with a token to which nothing that is under way could bring another.
    fn ready(&self, tokens: &BTreeSet<String>, active: &BTreeSet<&str>) -> BTreeSet<String> {
        let all: BTreeSet<_> = tokens
            .iter()
            .map(String::as_str)
            .chain(active.iter().copied())
            .collect();
        // Nobody else is under way: the usual case, and then there is no need to look at the arrows.
        if all.len() < 2 {
            return tokens.clone();
        }
        let arrows = self.arrows(|one| !one.back);
        let awaited: BTreeSet<_> = all
            .into_iter()
            .flat_map(|one| reached(&arrows, one))
            .collect();
        let free = tokens
            .iter()
            .filter(|token| !awaited.contains(token.as_str()));
        free.cloned().collect()
    }
}

/// Those that can be reached from `name`, by one arrow or more.
fn reached<'a>(arrows: &Arrows<'a>, name: &str) -> BTreeSet<&'a str> {
    let (mut found, mut look) = (BTreeSet::new(), vec![name]);
    while let Some(from) = look.pop() {
        for to in arrows.get(from).into_iter().flatten() {
            if found.insert(*to) {
                look.push(to);
            }
        }
    }
    found
}
