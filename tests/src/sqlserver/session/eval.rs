//! The values of expressions.

use super::{
    Session, arithmetic,
    sources::{Group, Row},
};
use crate::sqlserver::sql::{
    Message,
    ast::{Expr, Name, When},
    value::{Type, Value},
};
use crate::sqlserver::state::Object;

impl Session {
    pub(super) fn eval(&self, expr: &Expr, row: Option<&Row<'_>>) -> Result<Value, Message> {
        match expr {
            Expr::Value(value) => Ok(value.clone()),
            Expr::Variable(name) => self.variable(name),
            Expr::Global(name) => self.global(name),
            Expr::Column(parts) => column(parts, row),
            Expr::Negative(of) => {
                let value = self.eval(of, row)?;
                arithmetic::binary(&Value::int(0), "-", &value)
            }
            Expr::BitNot(of) => {
                let value = self.eval(of, row)?;
                arithmetic::binary(&value, "^", &Value::int(-1))
            }
            Expr::Binary(left, operator, right) => {
                let left = self.eval(left, row)?;
                arithmetic::binary(&left, operator, &self.eval(right, row)?)
            }
            Expr::Case {
                of,
                whens,
                otherwise,
            } => self.case(of.as_deref(), whens, otherwise.as_deref(), row),
            Expr::Call(name, arguments) => self.call(name, arguments, row),
            Expr::Convert { of, to, tries } => {
                let value = self.eval(of, row)?;
                match value.convert(*to) {
                    Err(_) if *tries => Ok(Value::null(*to)),
                    converted => converted,
                }
            }
            Expr::Collated(of, _) => self.eval(of, row),
            Expr::NextValue(name) => self.next_value(name),
            Expr::Query(select) => self.scalar(select, row),
            Expr::CountAll => {
                let group = row.and_then(|row| row.group);
                let group = group.ok_or_else(|| Message::syntax("COUNT"))?;
                Ok(Value::int(i32::try_from(group.len()).unwrap_or(i32::MAX)))
            }
        }
    }

    fn case(
        &self,
        of: Option<&Expr>,
        whens: &[(When, Expr)],
        otherwise: Option<&Expr>,
        row: Option<&Row<'_>>,
    ) -> Result<Value, Message> {
        let of = of.map(|of| self.eval(of, row)).transpose()?;
        for (when, then) in whens {
            let taken = match (when, &of) {
                (When::Equal(expr), Some(of)) => {
                    arithmetic::compare(of, &self.eval(expr, row)?)?.map(|it| it.is_eq())
                }
                (When::True(cond), _) => self.holds(cond, row)?,
                (When::Equal(_), None) => None,
            };
            if taken == Some(true) {
                return self.eval(then, row);
            }
        }
        match otherwise {
            Some(otherwise) => self.eval(otherwise, row),
            None => {
                let first = whens.first().map(|(_, then)| self.eval(then, row));
                let kind = first
                    .transpose()
                    .ok()
                    .flatten()
                    .map_or(Type::Int, |it| it.kind);
                Ok(Value::null(kind))
            }
        }
    }

    fn next_value(&self, name: &Name) -> Result<Value, Message> {
        let schema = name.schema().unwrap_or("dbo");
        let mut state = self.state();
        let database = match name.database() {
            Some(database) => state.database_named(database).map(|it| it.id),
            None => Some(self.database),
        };
        let user = self.identity.user;
        let database = database.and_then(|id| state.database_mut(id));
        let database = database.ok_or_else(|| Message::no_object(&name.written()))?;
        let object = Object::in_schema(schema, name.last());
        let (visible, allowed) = (
            database.sequence(schema, name.last()).is_some(),
            database.allows(user, "UPDATE", Some(&object)),
        );
        if visible && !allowed {
            return Err(denied("UPDATE", name.last(), &database.name, schema));
        }
        if database.read_only {
            return Err(read_only(&database.name));
        }
        let sequence = database.sequence_mut(schema, name.last());
        sequence
            .ok_or_else(|| Message::no_object(&name.written()))?
            .draw()
    }

    /// COUNT, MIN, MAX or SUM of the rows of a group.
    pub(super) fn aggregate(
        &self,
        name: &str,
        of: &Expr,
        row: Option<&Row<'_>>,
    ) -> Result<Value, Message> {
        let Some((row, group)) = row.and_then(|row| Some((row, row.group?))) else {
            let text = format!("'{name}' is not a recognized built-in function name.");
            return Err(Message::new(195, 15, 10, text));
        };
        let values = self.each(of, row, group)?;
        let kind = values.first().map_or(Type::Int, |it| it.kind);
        let present = values.into_iter().filter(|it| !it.is_null());
        if name == "count" {
            return Ok(Value::int(
                i32::try_from(present.count()).unwrap_or(i32::MAX),
            ));
        }
        let mut result = None;
        for value in present {
            result = Some(match result {
                None => value,
                Some(so_far) => arithmetic::chosen(name, so_far, value)?,
            });
        }
        Ok(result.unwrap_or(Value::null(kind)))
    }

    fn each(&self, of: &Expr, row: &Row<'_>, group: Group<'_>) -> Result<Vec<Value>, Message> {
        let rows = group.iter().map(|values| {
            let one = Row {
                columns: row.columns,
                values,
                group: None,
                outer: row.outer,
            };
            self.eval(of, Some(&one))
        });
        rows.collect()
    }
}

fn column(parts: &[String], row: Option<&Row<'_>>) -> Result<Value, Message> {
    let mut scope = row;
    while let Some(row) = scope {
        if let Some(value) = row.find(parts)? {
            return Ok(value);
        }
        scope = row.outer;
    }
    let name = parts.join(".");
    Err(match parts.len() {
        1 => Message::new(207, 16, 1, format!("Invalid column name '{name}'.")),
        _ => Message::new(
            4104,
            16,
            1,
            format!("The multi-part identifier \"{name}\" could not be bound."),
        ),
    })
}

/// A permission that is missing.
pub(super) fn denied(permission: &str, object: &str, database: &str, schema: &str) -> Message {
    let text = format!(
        "The {permission} permission was denied on the object '{object}', database '{database}', \
         schema '{schema}'."
    );
    Message::new(229, 14, 5, text)
}

/// A database that is only to be read.
pub(super) fn read_only(database: &str) -> Message {
    let text =
        format!("Failed to update database \"{database}\" because the database is read-only.");
    Message::new(3906, 16, 1, text)
}
