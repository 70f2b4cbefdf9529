//! What a backend finds when it looks at its own deployment.

use std::{borrow::Cow, fmt};

/// How bad a [`Finding`] is. Ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Good to know.
    Note,
    /// Works, and will surprise somebody.
    Warning,
    /// Breaks a promise: do not run like this.
    Unsafe,
}

/// One thing found, and what to do about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub what: Cow<'static, str>,
    /// What to do about it.
    pub remedy: Cow<'static, str>,
}

impl Finding {
    /// Something found, and what to do about it.
    pub fn new(
        severity: Severity,
        what: impl Into<Cow<'static, str>>,
        remedy: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            severity,
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Unsafe => "unsafe",
        };
        write!(f, "{severity}: {}; {}", self.what, self.remedy)
    }
}

/// All that was found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// In the order of the checks.
    pub findings: Vec<Finding>,
}

impl Report {
    /// A report of these findings.
    #[must_use]
    pub const fn new(findings: Vec<Finding>) -> Self {
        Self { findings }
    }

    /// Whether nothing found breaks a promise.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity < Severity::Unsafe)
    }
}
