//! A small table, all of it in memory and none of it undone by a rollback.

use crate::sqlserver::sql::{ast::ColumnDefinition, value::Value};

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) id: i32,
    pub(crate) schema: i32,
    pub(crate) name: String,
    pub(crate) columns: Vec<ColumnDefinition>,
    pub(crate) rows: Vec<Vec<Value>>,
}
