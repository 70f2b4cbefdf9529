//! Functions of the program, called by their names.

use crate::{
    activity::{Activity, Descriptor, Doing, Given, Step, Wrong},
    burst::Cx,
    definition::{Input, Node},
    outside::Told,
};
use lockwork_core::workflow::{Failure, InstanceId, Time, Value};
use std::{collections::BTreeMap, fmt, future::Future, sync::Arc};

/// What a function of the program is given.
pub struct Coded {
    /// What the definition gives it.
    pub args: Value,
    /// The instance for which it is called.
    pub instance: InstanceId,
    /// The same when it is called again because a node died half way, another when it is tried again on purpose.
    pub key: String,
    /// A number that rises with each burst of the instance, for foreign systems that can compare.
    pub fence: Option<u64>,
    /// What time it is.
    pub now: Time,
    /// Ends when nothing that it does counts any more.
    pub lost: Told<'static, ()>,
}

impl fmt::Debug for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coded")
            .field("instance", &self.instance)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

type Function = dyn Fn(Coded) -> Told<'static, Result<Value, Failure>> + Send + Sync;

/// A function of the program.
#[derive(Clone)]
pub(crate) struct Code(Arc<Function>);

impl Code {
    pub(crate) fn new<F, D>(code: F) -> Self
    where
        F: Fn(Coded) -> D + Send + Sync + 'static,
        D: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        Self(Arc::new(move |coded| Box::pin(code(coded))))
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

/// Calls one of them.
#[derive(Debug)]
pub(crate) struct Call {
    codes: BTreeMap<String, Code>,
}

impl Call {
    pub(crate) const fn new(codes: BTreeMap<String, Code>) -> Self {
        Self { codes }
    }
}

const CALL: [Given; 2] = [
    Given::new("name", "under which the program has registered it")
        .required()
        .fixed()
        .shown(),
    Given::new("args", "what it is given"),
];

impl Activity for Call {
    fn describe(&self) -> Descriptor {
        Descriptor::new("Call", "Calls a function of the program.")
            .given(&CALL)
            .gives("what the function gives")
    }

    fn check(&self, node: &Node) -> Result<(), Wrong> {
        let name = match node.with.get("name") {
            Some(Input::Value(Value::String(name))) => name,
            _ => return Err(Wrong::new("with.name", "a name is a text")),
        };
        match self.codes.contains_key(name) {
            true => Ok(()),
            false => {
                let message = format!("this program has registered no function called `{name}`");
                Err(Wrong::new("with.name", message))
            }
        }
    }

    fn execute<'a>(&'a self, cx: &'a mut Cx<'_>) -> Doing<'a> {
        Box::pin(async move {
            let name = cx.required_text("name")?;
            let args = cx.value("args")?.unwrap_or_default();
            let missing = || Failure::new("call.missing", format!("there is no function `{name}`"));
            let code = self.codes.get(&name).ok_or_else(missing)?;
            let coded = Coded {
                args,
                instance: cx.instance().clone(),
                key: cx.key(),
                fence: cx.fence(),
                now: cx.now(),
                lost: cx.lost(),
            };
            let given = (code.0)(coded).await?;
            cx.give(given);
            Ok(Step::done())
        })
    }
}
