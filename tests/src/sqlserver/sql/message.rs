//! What the server says: errors, and texts that are none.

use std::borrow::Cow;

/// A message with its number. Of class 11 and more it is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) number: i32,
    pub(crate) class: u8,
    pub(crate) state: u8,
    pub(crate) text: String,
    pub(crate) procedure: String,
    pub(crate) line: u32,
    /// Raised by RAISERROR, which never ends a batch by itself.
    pub(crate) raised: bool,
    /// Raised by THROW, which always does.
    pub(crate) thrown: bool,
}

impl Message {
    pub(crate) fn new(
        number: i32,
        class: u8,
        state: u8,
        text: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            number,
            class,
            state,
            text: text.into().into_owned(),
            procedure: String::new(),
            line: 0,
            raised: false,
            thrown: false,
        }
    }

    /// The same, said of a line of a batch unless it has one.
    pub(crate) fn at(mut self, line: u32) -> Self {
        if self.line == 0 {
            self.line = line;
        }
        self
    }

    /// The same, said of a procedure.
    pub(crate) fn of(mut self, procedure: &str) -> Self {
        procedure.clone_into(&mut self.procedure);
        self
    }

    /// Whether the rest of the batch is not run after it, whatever the options.
    pub(crate) const fn ends_batch(&self) -> bool {
        self.thrown
            || self.class >= 19
            || (!self.raised
                && (self.class == 15
                    || matches!(self.number, 137 | 208 | 241 | 245 | 248 | 529 | 1205 | 8114)))
    }

    pub(crate) fn syntax(near: &str) -> Self {
        Self::new(102, 15, 1, format!("Incorrect syntax near '{near}'."))
    }

    pub(crate) fn keyword(near: &str) -> Self {
        let near = near.to_lowercase();
        Self::new(
            156,
            15,
            1,
            format!("Incorrect syntax near the keyword '{near}'."),
        )
    }

    pub(crate) fn undeclared(name: &str) -> Self {
        Self::new(
            137,
            15,
            2,
            format!("Must declare the scalar variable \"{name}\"."),
        )
    }

    pub(crate) fn no_object(name: &str) -> Self {
        Self::new(208, 16, 1, format!("Invalid object name '{name}'."))
    }

    pub(crate) fn no_procedure(name: &str) -> Self {
        Self::new(
            2812,
            16,
            62,
            format!("Could not find stored procedure '{name}'."),
        )
    }
}
