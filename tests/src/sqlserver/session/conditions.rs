//! Conditions, which are unknown where they depend on NULL.

use super::{Session, arithmetic::compare, like::matches, sources::Row};
use crate::sqlserver::sql::{
    Message,
    ast::{Cond, Expr},
    value::Value,
};

impl Session {
    /// Whether a condition holds; `None` if that is unknown.
    pub(super) fn holds(
        &self,
        cond: &Cond,
        row: Option<&Row<'_>>,
    ) -> Result<Option<bool>, Message> {
        match cond {
            Cond::And(left, right) => Ok(match self.holds(left, row)? {
                Some(false) => Some(false),
                Some(true) => self.holds(right, row)?,
                None => self.holds(right, row)?.filter(|right| !right),
            }),
            Cond::Or(left, right) => Ok(match self.holds(left, row)? {
                Some(true) => Some(true),
                Some(false) => self.holds(right, row)?,
                None => self.holds(right, row)?.filter(|right| *right),
            }),
            Cond::Not(of) => Ok(self.holds(of, row)?.map(|it| !it)),
            Cond::Compare(left, operator, right) => {
                let exact = is_exact(left) || is_exact(right);
                let (left, right) = (self.eval(left, row)?, self.eval(right, row)?);
                let order = match exact {
                    true => left
                        .to_units()
                        .zip(right.to_units())
                        .map(|(one, two)| one.cmp(&two)),
                    false => compare(&left, &right)?,
                };
                Ok(order.map(|order| match *operator {
                    "=" => order.is_eq(),
                    "<" => order.is_lt(),
                    ">" => order.is_gt(),
                    "<=" => order.is_le(),
                    ">=" => order.is_ge(),
                    _ => order.is_ne(),
                }))
            }
            Cond::IsNull(of) => Ok(Some(self.eval(of, row)?.is_null())),
            Cond::In(of, items) => {
                let items = items.iter().map(|item| self.eval(item, row));
                let items = items.collect::<Result<Vec<_>, _>>()?;
                is_among(&self.eval(of, row)?, &items)
            }
            Cond::InQuery(of, query) => {
                let rows = self.query(query, row)?.rows;
                let items: Vec<Value> = rows
                    .into_iter()
                    .filter_map(|it| it.into_iter().next())
                    .collect();
                is_among(&self.eval(of, row)?, &items)
            }
            Cond::Like(of, pattern, escape) => self.is_like(of, pattern, escape.as_ref(), row),
            Cond::Between(of, low, high) => {
                let of = self.eval(of, row)?;
                let low = compare(&of, &self.eval(low, row)?)?.map(|it| it.is_ge());
                let high = compare(&of, &self.eval(high, row)?)?.map(|it| it.is_le());
                Ok(match (low, high) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                })
            }
            Cond::Exists(query) => Ok(Some(!self.query(query, row)?.rows.is_empty())),
        }
    }

    fn is_like(
        &self,
        of: &Expr,
        pattern: &Expr,
        escape: Option<&Expr>,
        row: Option<&Row<'_>>,
    ) -> Result<Option<bool>, Message> {
        let exact = is_exact(of) || is_exact(pattern);
        let escape = escape.map(|escape| self.eval(escape, row)).transpose()?;
        let escape = escape
            .and_then(|it| it.to_text())
            .and_then(|it| it.chars().next());
        let (of, pattern) = (
            self.eval(of, row)?.to_text(),
            self.eval(pattern, row)?.to_text(),
        );
        let both = of.zip(pattern);
        Ok(both.map(|(of, pattern)| matches(&of, &pattern, escape, exact)))
    }
}

/// Whether a collation says that each unit counts.
const fn is_exact(expr: &Expr) -> bool {
    matches!(expr, Expr::Collated(_, true))
}

fn is_among(of: &Value, items: &[Value]) -> Result<Option<bool>, Message> {
    let mut unknown = false;
    for item in items {
        match compare(of, item)? {
            Some(order) if order.is_eq() => return Ok(Some(true)),
            None => unknown = true,
            Some(_) => {}
        }
    }
    Ok((!unknown).then_some(false))
}
