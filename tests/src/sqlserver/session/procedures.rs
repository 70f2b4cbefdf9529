//! The procedures of the system that there are.

use super::{Session, Stop, eval::denied, execute::too_many};
use crate::sqlserver::{
    sql::{
        Message,
        ast::Name,
        value::{Type, Value},
    },
    state::Object,
};

/// What a procedure is given.
#[derive(Debug)]
pub(crate) struct Given {
    /// In lower case.
    pub(crate) name: Option<String>,
    /// `None` for DEFAULT.
    pub(crate) value: Option<Value>,
    pub(crate) output: bool,
}

/// What it gives back, each by the place of the argument it goes to.
pub(crate) type Outputs = Vec<(usize, Value)>;

impl Session {
    pub(super) async fn call_procedure(
        &mut self,
        name: &Name,
        given: Vec<Given>,
    ) -> Result<(i32, Outputs), Stop> {
        let known = name.last().to_lowercase();
        let known = match known.as_str() {
            "sp_getapplock" | "sp_releaseapplock" | "sp_executesql" => known,
            _ => return Err(Message::no_procedure(&name.written()).into()),
        };
        if !self.finds_procedure(name) {
            return Err(Message::no_procedure(&name.written()).into());
        }
        let object = Object::in_schema("sys", &known);
        if !self.state().allows_call(&self.identity.login, &object) {
            return Err(denied("EXECUTE", &known, "mssqlsystemresource", "sys").into());
        }
        match known.as_str() {
            "sp_getapplock" => Ok((self.get_app_lock(given).await?, Vec::new())),
            "sp_releaseapplock" => Ok((self.release_app_lock(given)?, Vec::new())),
            _ => self.execute_sql(given).await,
        }
    }

    /// A procedure of the system is found in `sys` and in `dbo`, of any database.
    fn finds_procedure(&self, name: &Name) -> bool {
        let schema = name.schema().map(str::to_lowercase);
        let schema = match schema.as_deref() {
            None | Some("sys") => true,
            Some("dbo") => !self.is_babelfish(),
            Some(_) => false,
        };
        let database = name.database();
        schema && database.is_none_or(|it| self.state().database_named(it).is_some())
    }
}

/// A parameter of a procedure: its name, its type, and what it is if it is not given.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Type,
    pub(super) default: Option<Value>,
}

/// The values of a procedure's parameters, from what it is given by place or by name.
pub(super) fn bind<const N: usize>(
    procedure: &str,
    parameters: &[Parameter; N],
    given: Vec<Given>,
) -> Result<[Option<Value>; N], Message> {
    let mut values = [const { None }; N];
    if given.len() > parameters.len() {
        return Err(too_many(procedure).of(procedure));
    }
    let mut named = false;
    for (number, it) in given.into_iter().enumerate() {
        let place = match &it.name {
            None if named => {
                let text = format!(
                    "Must pass parameter number {} and subsequent parameters as '@name = value'. \
                     After the form '@name = value' has been used, all subsequent parameters must \
                     be passed in the form '@name = value'.",
                    number + 1
                );
                return Err(Message::new(119, 15, 1, text));
            }
            None => number,
            Some(name) => {
                named = true;
                let place = parameters
                    .iter()
                    .position(|it| it.name.eq_ignore_ascii_case(name));
                place.ok_or_else(|| {
                    let text = format!("{name} is not a parameter for procedure {procedure}.");
                    Message::new(8145, 16, 2, text).of(procedure)
                })?
            }
        };
        values[place] = it
            .value
            .map(|it| it.convert(parameters[place].kind))
            .transpose()?;
    }
    for (value, parameter) in values.iter_mut().zip(parameters) {
        if value.is_none() {
            value.clone_from(&parameter.default);
        }
    }
    Ok(values)
}

/// A parameter that has no value of its own and was given none.
pub(super) fn missing(procedure: &str, parameter: &str) -> Message {
    let text = format!(
        "Procedure or function '{procedure}' expects parameter '{parameter}', which was not \
         supplied."
    );
    Message::new(201, 16, 4, text).of(procedure)
}
