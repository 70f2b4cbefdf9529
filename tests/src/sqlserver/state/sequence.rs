//! Sequences: numbers that are given out once, transaction or not.

use crate::sqlserver::sql::{
    Message,
    ast::SequenceOptions,
    value::{Data, Type, Value},
};

#[derive(Clone, Debug)]
pub(crate) struct Sequence {
    pub(crate) id: i32,
    pub(crate) schema: i32,
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) start: i64,
    pub(crate) increment: i64,
    pub(crate) minimum: i64,
    pub(crate) maximum: i64,
    pub(crate) cycle: bool,
    /// The last one given out, or the first before any was.
    pub(crate) current: i64,
    /// What comes next; `None` at the end.
    next: Option<i64>,
}

const fn limits(kind: Type) -> (i64, i64) {
    match kind {
        Type::TinyInt => (0, u8::MAX as i64),
        Type::SmallInt => (i16::MIN as i64, i16::MAX as i64),
        Type::Int => (i32::MIN as i64, i32::MAX as i64),
        _ => (i64::MIN, i64::MAX),
    }
}

impl Sequence {
    pub(crate) fn new(
        id: i32,
        schema: i32,
        name: &str,
        options: &SequenceOptions,
    ) -> Result<Self, Message> {
        let kind = options.kind.unwrap_or(Type::BigInt);
        if !kind.is_integer() || kind == Type::Bit {
            let text = format!(
                "The sequence object '{name}' must be of data type int, bigint, smallint, tinyint, \
                 or decimal or numeric with a scale of 0, or any user-defined data type that is \
                 based on one of the above integer data types."
            );
            return Err(Message::new(11702, 16, 2, text));
        }
        let (least, greatest) = limits(kind);
        let increment = options.increment.unwrap_or(1);
        let minimum = options.minimum.flatten().unwrap_or(least);
        let maximum = options.maximum.flatten().unwrap_or(greatest);
        let first = if increment < 0 { maximum } else { minimum };
        let start = options.start.unwrap_or(first);
        let sequence = Self {
            id,
            schema,
            name: name.into(),
            kind,
            start,
            increment,
            minimum,
            maximum,
            cycle: options.cycle.unwrap_or(false),
            current: start,
            next: Some(start),
        };
        sequence.check().map(|()| sequence)
    }

    /// The same with other settings, if they are sound.
    pub(crate) fn altered(&self, options: &SequenceOptions) -> Result<Self, Message> {
        let mut changed = self.clone();
        let (least, greatest) = limits(self.kind);
        changed.increment = options.increment.unwrap_or(self.increment);
        changed.cycle = options.cycle.unwrap_or(self.cycle);
        if let Some(minimum) = options.minimum {
            changed.minimum = minimum.unwrap_or(least);
        }
        if let Some(maximum) = options.maximum {
            changed.maximum = maximum.unwrap_or(greatest);
        }
        if let Some(restart) = options.restart {
            changed.start = restart.unwrap_or(self.start);
            changed.current = changed.start;
            changed.next = Some(changed.start);
        }
        changed.check().map(|()| changed)
    }

    fn check(&self) -> Result<(), Message> {
        let name = &self.name;
        if self.increment == 0 {
            let text = format!("The increment for sequence object '{name}' cannot be zero.");
            return Err(Message::new(11700, 16, 1, text));
        }
        if self.minimum >= self.maximum {
            let text = format!(
                "The minimum value for sequence object '{name}' must be less than its maximum value."
            );
            return Err(Message::new(11705, 16, 1, text));
        }
        if !(self.minimum..=self.maximum).contains(&self.start) {
            let text = format!(
                "The start value for sequence object '{name}' must be between the minimum and \
                 maximum value of the sequence object."
            );
            return Err(Message::new(11703, 16, 1, text));
        }
        Ok(())
    }

    /// The next number.
    pub(crate) fn draw(&mut self) -> Result<Value, Message> {
        let value = self.next.or_else(|| self.cycle.then(|| self.wrapped()));
        let Some(value) = value else {
            let text = format!(
                "The sequence object '{}' has reached its minimum or maximum value. Restart the \
                 sequence object to allow new values to be generated.",
                self.name
            );
            return Err(Message::new(11728, 16, 1, text));
        };
        self.current = value;
        let next = value.checked_add(self.increment);
        self.next = next.filter(|it| (self.minimum..=self.maximum).contains(it));
        Ok(Value::new(self.kind, Data::Integer(value)))
    }

    const fn wrapped(&self) -> i64 {
        if self.increment < 0 {
            self.maximum
        } else {
            self.minimum
        }
    }

    pub(crate) const fn is_exhausted(&self) -> bool {
        self.next.is_none() && !self.cycle
    }
}
