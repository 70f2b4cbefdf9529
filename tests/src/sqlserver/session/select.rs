//! SELECT.

use super::{
    Session, Stop,
    arithmetic::compare,
    columns::{is_aggregate, is_of, nulls, plain},
    run::SELECT,
    sources::{Row, Rows},
};
use crate::sqlserver::{
    sql::{
        Message,
        ast::{Expr, Item, Select},
        value::{Type, Value},
    },
    state::same,
    wire::tokens::Column,
};
use std::cmp::Ordering;

/// A row, and what it is sorted by.
type Sortable = (Vec<Value>, Vec<Value>);

/// What a query gave.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Value>>,
}

impl Session {
    /// SELECT as a statement: to the client, or into variables.
    pub(super) fn select(&mut self, select: &Select) -> Result<(), Stop> {
        let assigned: Vec<&String> = select.items.iter().filter_map(assignment).collect();
        if assigned.is_empty() {
            let answer = self.query(select, None)?;
            self.out.columns(&answer.columns);
            for row in &answer.rows {
                self.out.row(&answer.columns, row);
            }
            self.row_count = i64::try_from(answer.rows.len()).unwrap_or(i64::MAX);
            self.done(SELECT, Some(answer.rows.len() as u64));
            return Ok(());
        }
        if assigned.len() < select.items.len() {
            let text = "A SELECT statement that assigns a value to a variable must not be combined \
                        with data-retrieval operations.";
            return Err(Message::new(141, 15, 1, text).into());
        }
        let answer = self.query(select, None)?;
        self.row_count = i64::try_from(answer.rows.len()).unwrap_or(i64::MAX);
        // Each row in turn: the last one stays.
        for (name, place) in assigned.into_iter().zip(0..) {
            for row in &answer.rows {
                self.assign(name, &row[place as usize])?;
            }
        }
        Ok(())
    }

    /// The one value of a query; NULL if it has no row.
    pub(super) fn scalar(
        &self,
        select: &Select,
        outer: Option<&Row<'_>>,
    ) -> Result<Value, Message> {
        let answer = self.query(select, outer)?;
        let kind = answer.columns.first().map_or(Type::Int, |it| it.kind);
        let mut rows = answer.rows.into_iter();
        let value = rows.next().and_then(|row| row.into_iter().next());
        if rows.next().is_some() {
            let text = "Subquery returned more than 1 value. This is not permitted when the \
                        subquery follows =, !=, <, <= , >, >= or when the subquery is used as an \
                        expression.";
            return Err(Message::new(512, 16, 1, text));
        }
        Ok(value.unwrap_or(Value::null(kind)))
    }

    pub(super) fn query(
        &self,
        select: &Select,
        outer: Option<&Row<'_>>,
    ) -> Result<Answer, Message> {
        let mut source = self.joined(select, outer)?;
        if let Some(filter) = &select.filter {
            let mut kept = Vec::new();
            for values in std::mem::take(&mut source.rows) {
                let row = plain(&source.columns, &values, outer);
                if self.holds(filter, Some(&row))? == Some(true) {
                    kept.push(values);
                }
            }
            source.rows = kept;
        }
        let top = self.top(select)?;
        let grouped = !select.groups.is_empty() || select.items.iter().any(is_aggregate);
        let mut rows = match grouped {
            true => self.grouped(select, &source, outer)?,
            false => self.each_row(select, &source, outer)?,
        };
        if !select.order.is_empty() {
            sort(&mut rows, &select.order)?;
        }
        let mut rows: Vec<Vec<Value>> = rows.into_iter().map(|(row, _)| row).collect();
        if select.distinct {
            let all = std::mem::take(&mut rows);
            for row in all {
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
        rows.truncate(top);
        let columns = self.columns(select, &source, &rows, outer, grouped);
        Ok(Answer { columns, rows })
    }

    fn top(&self, select: &Select) -> Result<usize, Message> {
        let Some(top) = &select.top else {
            return Ok(usize::MAX);
        };
        let top = self.eval(top, None)?.integer()?.unwrap_or(0);
        usize::try_from(top).map_err(|_| {
            let text = "A TOP or FETCH clause contains an invalid value.";
            Message::new(1060, 15, 1, text)
        })
    }

    fn each_row(
        &self,
        select: &Select,
        source: &Rows,
        outer: Option<&Row<'_>>,
    ) -> Result<Vec<Sortable>, Message> {
        let rows = source.rows.iter().map(|values| {
            let row = plain(&source.columns, values, outer);
            Ok((self.items(select, &row)?, self.sort_keys(select, &row)?))
        });
        rows.collect()
    }

    fn grouped(
        &self,
        select: &Select,
        source: &Rows,
        outer: Option<&Row<'_>>,
    ) -> Result<Vec<Sortable>, Message> {
        let mut groups: Vec<(Vec<Value>, Vec<Vec<Value>>)> = Vec::new();
        for values in &source.rows {
            let row = plain(&source.columns, values, outer);
            let key = select.groups.iter().map(|it| self.eval(it, Some(&row)));
            let key = key.collect::<Result<Vec<_>, _>>()?;
            match groups.iter_mut().find(|(other, _)| *other == key) {
                Some((_, rows)) => rows.push(values.clone()),
                None => groups.push((key, vec![values.clone()])),
            }
        }
        if groups.is_empty() && select.groups.is_empty() {
            groups.push((Vec::new(), Vec::new()));
        }
        let nulls = nulls(&source.columns);
        let rows = groups.iter().map(|(_, rows)| {
            let row = Row {
                columns: &source.columns,
                values: rows.first().unwrap_or(&nulls),
                group: Some(rows),
                outer,
            };
            Ok((self.items(select, &row)?, self.sort_keys(select, &row)?))
        });
        rows.collect()
    }

    pub(super) fn items(&self, select: &Select, row: &Row<'_>) -> Result<Vec<Value>, Message> {
        let mut values = Vec::new();
        for item in &select.items {
            match item {
                Item::All(source) => {
                    let own = row.columns.iter().zip(row.values);
                    let own = own.filter(|(column, _)| is_of(column, source.as_deref()));
                    values.extend(own.map(|(_, value)| value.clone()));
                }
                Item::Expr(expr, _) | Item::Assign(_, expr) => {
                    values.push(self.eval(expr, Some(row))?);
                }
            }
        }
        Ok(values)
    }

    /// What a row is sorted by: an expression, the alias of an item, or its place.
    fn sort_keys(&self, select: &Select, row: &Row<'_>) -> Result<Vec<Value>, Message> {
        let keys = select.order.iter().map(|(expr, _)| {
            let item = match expr {
                Expr::Column(parts) => select.items.iter().find_map(|item| match item {
                    Item::Expr(of, Some(alias)) if parts.len() == 1 && same(alias, &parts[0]) => {
                        Some(of)
                    }
                    _ => None,
                }),
                Expr::Value(place) => {
                    let place = place.integer()?.and_then(|it| usize::try_from(it - 1).ok());
                    place
                        .and_then(|it| select.items.get(it))
                        .and_then(|item| match item {
                            Item::Expr(of, _) => Some(of),
                            _ => None,
                        })
                }
                _ => None,
            };
            self.eval(item.unwrap_or(expr), Some(row))
        });
        keys.collect()
    }
}

const fn assignment(item: &Item) -> Option<&String> {
    match item {
        Item::Assign(name, _) => Some(name),
        _ => None,
    }
}

fn sort(rows: &mut [Sortable], order: &[(Expr, bool)]) -> Result<(), Message> {
    let mut problem = None;
    rows.sort_by(|(_, one), (_, two)| {
        for ((one, two), (_, down)) in one.iter().zip(two).zip(order) {
            let order = match (one.is_null(), two.is_null()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => match compare(one, two) {
                    Ok(order) => order.unwrap_or(Ordering::Equal),
                    Err(message) => {
                        problem = Some(message);
                        Ordering::Equal
                    }
                },
            };
            let order = if *down { order.reverse() } else { order };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    });
    problem.map_or(Ok(()), Err)
}
