//! What a batch means.

use super::value::{Type, Value};

pub(crate) use super::definition::{
    Act, ColumnDefinition, Definition, Right, Securable, SequenceOptions, TableStatement,
};

/// The name of an object, with what it is in: from the left server, database and schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) parts: Vec<String>,
}

impl Name {
    /// The name itself.
    pub(crate) fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// Its schema, if it has one.
    pub(crate) fn schema(&self) -> Option<&str> {
        self.before(1)
    }

    /// Its database, if it has one.
    pub(crate) fn database(&self) -> Option<&str> {
        self.before(2)
    }

    fn before(&self, count: usize) -> Option<&str> {
        let place = self.parts.len().checked_sub(count + 1)?;
        Some(self.parts[place].as_str()).filter(|part| !part.is_empty())
    }

    /// As an error message quotes it.
    pub(crate) fn written(&self) -> String {
        self.parts.join(".")
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Value(Value),
    Variable(String),
    /// `@@name`, in lower case.
    Global(String),
    Column(Vec<String>),
    Negative(Box<Self>),
    BitNot(Box<Self>),
    Binary(Box<Self>, &'static str, Box<Self>),
    Case {
        of: Option<Box<Self>>,
        whens: Vec<(When, Self)>,
        otherwise: Option<Box<Self>>,
    },
    Call(String, Vec<Self>),
    Convert {
        of: Box<Self>,
        to: Type,
        /// NULL instead of an error.
        tries: bool,
    },
    /// With a collation: whether it tells capitals and blanks at the end apart.
    Collated(Box<Self>, bool),
    NextValue(Name),
    /// A query with one value.
    Query(Box<Select>),
    /// `COUNT(*)`.
    CountAll,
}

/// What a branch of CASE is taken for.
#[derive(Clone, Debug)]
pub(crate) enum When {
    Equal(Expr),
    True(Cond),
}

/// What is true, false or unknown.
#[derive(Clone, Debug)]
pub(crate) enum Cond {
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Not(Box<Self>),
    Compare(Expr, &'static str, Expr),
    IsNull(Expr),
    In(Expr, Vec<Expr>),
    InQuery(Expr, Box<Select>),
    Like(Expr, Expr, Option<Expr>),
    Between(Expr, Expr, Expr),
    Exists(Box<Select>),
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// All columns, or those of one source.
    All(Option<String>),
    Expr(Expr, Option<String>),
    Assign(String, Expr),
}

#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: Name,
    pub(crate) alias: Option<String>,
    /// `None` for the first one and for a cross join.
    pub(crate) on: Option<Cond>,
    /// A row without a partner is kept.
    pub(crate) outer: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Select {
    pub(crate) distinct: bool,
    pub(crate) top: Option<Expr>,
    pub(crate) items: Vec<Item>,
    pub(crate) from: Vec<Source>,
    pub(crate) filter: Option<Cond>,
    pub(crate) groups: Vec<Expr>,
    /// Whether each is from the greatest to the least.
    pub(crate) order: Vec<(Expr, bool)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub(crate) name: Option<String>,
    /// `None` for DEFAULT.
    pub(crate) value: Option<Expr>,
    pub(crate) output: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Declare(Vec<(String, Type, Option<Expr>)>),
    Set(String, Expr),
    Switch(Switch, bool),
    LockTimeout(Expr),
    DeadlockPriority(i64),
    Select(Select),
    If(Cond, Box<Statement>, Option<Box<Statement>>),
    Block(Vec<Statement>),
    While(Cond, Box<Statement>),
    Break,
    Continue,
    Return(Option<Expr>),
    Try(Vec<Statement>, Vec<Statement>),
    Throw(Option<[Expr; 3]>),
    RaiseError(Expr, Expr, Expr, Vec<Expr>),
    Print(Expr),
    Execute {
        status: Option<String>,
        procedure: Name,
        arguments: Vec<Argument>,
    },
    ExecuteText(Expr),
    BeginTransaction,
    Commit,
    Rollback(Option<String>),
    Save(String),
    Wait(Expr),
    Use(String),
    Kill(i64),
    Shutdown,
    ExecuteAs(Expr, bool),
    Revert,
    Define(Definition),
    Table(TableStatement),
    /// A setting that changes nothing here.
    Nothing,
}

/// Settings of a session that are on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    NoCount,
    XactAbort,
}
