//! Errors that a batch raises itself, and those that procedures raise.

use super::{Session, Stop};
use crate::sqlserver::sql::{Message, ast::Expr, value::Value};

impl Session {
    /// An error in a procedure that goes on after it, unless somebody catches it.
    pub(super) fn raise(&mut self, message: Message) -> Result<(), Stop> {
        self.last_error = message.number;
        if self.tries > 0 || self.xact_abort {
            return Err(message.into());
        }
        self.say(&message);
        Ok(())
    }

    pub(super) fn throw(&self, parts: Option<&[Expr; 3]>) -> Result<(), Stop> {
        let Some([number, text, state]) = parts else {
            let caught = self.caught.last().cloned();
            let mut message = caught.unwrap_or_else(|| Message::syntax("THROW"));
            message.thrown = true;
            return Err(message.into());
        };
        let number = self.eval(number, None)?.integer()?.unwrap_or(0);
        let text = self.eval(text, None)?.to_text().unwrap_or_default();
        let state = self.eval(state, None)?.integer()?.unwrap_or(1);
        let number = i32::try_from(number).ok().filter(|it| *it >= 50_000);
        let Some(number) = number else {
            let text = "Error number in the THROW statement is outside the valid range. Specify an \
                        error number in the valid range of 50000 to 2147483647.";
            return Err(Message::new(35100, 16, 10, text).into());
        };
        let mut message = Message::new(number, 16, u8::try_from(state).unwrap_or(1), text);
        message.thrown = true;
        Err(message.into())
    }

    pub(super) fn raise_error(
        &mut self,
        text: &Expr,
        class: &Expr,
        state: &Expr,
        arguments: &[Expr],
    ) -> Result<(), Stop> {
        let text = self.eval(text, None)?;
        let number = match text.kind.is_integer() {
            true => text.integer()?.unwrap_or(50_000),
            false => 50_000,
        };
        let class = self
            .eval(class, None)?
            .integer()?
            .unwrap_or(16)
            .clamp(0, 25);
        let state = self.eval(state, None)?.integer()?.unwrap_or(1);
        let arguments = arguments.iter().map(|it| self.eval(it, None));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let text = formatted(&text.to_text().unwrap_or_default(), &arguments);
        let mut message = Message::new(
            i32::try_from(number).unwrap_or(50_000),
            u8::try_from(class).unwrap_or(16),
            u8::try_from(state).unwrap_or(1),
            text,
        );
        message.raised = true;
        if message.class > 18 && !self.server_allows("CONTROL SERVER") {
            let text = "Error severity levels greater than 18 can only be specified by members of \
                        the sysadmin role, using the WITH LOG option.";
            return Err(Message::new(2754, 16, 1, text).into());
        }
        if message.class > 10 {
            return Err(message.into());
        }
        self.say(&message);
        Ok(())
    }
}

/// A text with `%s` and `%d` in it, and what to put there.
fn formatted(text: &str, arguments: &[Value]) -> String {
    let mut result = String::new();
    let mut arguments = arguments.iter();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '%' {
            result.push(char);
            continue;
        }
        match chars.find(|it| !(it.is_ascii_digit() || matches!(it, '.' | '*' | 'l' | 'I' | '-'))) {
            Some('%') | None => result.push('%'),
            Some(_) => {
                let value = arguments.next().and_then(Value::to_text);
                result.push_str(&value.unwrap_or_else(|| "(null)".into()));
            }
        }
    }
    result
}
