//! What errors are made of, for locks and for workflows alike.

use std::{borrow::Cow, error::Error as StdError, fmt, sync::Arc};

/// A sentence, its kind, whether trying again could help, and details.
#[derive(Clone)]
pub(crate) struct Fault<K> {
    pub(crate) kind: K,
    pub(crate) transient: bool,
    message: Cow<'static, str>,
    context: Vec<(&'static str, String)>,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl<K> Fault<K> {
    pub(crate) fn new(kind: K, transient: bool, message: Cow<'static, str>) -> Self {
        Self {
            kind,
            transient,
            message,
            context: Vec::new(),
            source: None,
        }
    }

    pub(crate) fn with(&mut self, key: &'static str, value: &dyn fmt::Display) {
        self.context.push((key, value.to_string()));
    }

    pub(crate) fn because(&mut self, source: Box<dyn StdError + Send + Sync>) {
        self.source = Some(source.into());
    }

    pub(crate) fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// One line, without the cause.
impl<K> fmt::Display for Fault<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let mut before = " (";
        for (key, value) in &self.context {
            write!(f, "{before}{key}={value}")?;
            before = ", ";
        }
        if self.context.is_empty() {
            Ok(())
        } else {
            f.write_str(")")
        }
    }
}

impl<K: fmt::Debug> fmt::Debug for Fault<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind)
            .field("transient", &self.transient)
            .field("message", &self.message)
            .field("context", &self.context)
            .field("source", &self.source)
            .finish()
    }
}
