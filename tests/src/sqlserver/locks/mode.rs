//! Modes of locks: which go together, and what two of one owner make.

/// A mode. The last two come of two requests, and cannot be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    IntentShared,
    Shared,
    Update,
    IntentExclusive,
    SharedIntentExclusive,
    UpdateIntentExclusive,
    Exclusive,
}

use Mode::{
    Exclusive, IntentExclusive, IntentShared, Shared, SharedIntentExclusive, Update,
    UpdateIntentExclusive,
};

impl Mode {
    /// One that can be asked for, by its name in any case.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let mut modes = [IntentShared, Shared, Update, IntentExclusive, Exclusive].into_iter();
        modes.find(|mode| mode.name().eq_ignore_ascii_case(name))
    }

    /// What `APPLOCK_MODE` calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            IntentShared => "IntentShared",
            Shared => "Shared",
            Update => "Update",
            IntentExclusive => "IntentExclusive",
            SharedIntentExclusive => "SharedIntentExclusive",
            UpdateIntentExclusive => "UpdateIntentExclusive",
            Exclusive => "Exclusive",
        }
    }

    /// What `sys.dm_tran_locks` calls it.
    pub(crate) const fn short(self) -> &'static str {
        match self {
            IntentShared => "IS",
            Shared => "S",
            Update => "U",
            IntentExclusive => "IX",
            SharedIntentExclusive => "SIX",
            UpdateIntentExclusive => "UIX",
            Exclusive => "X",
        }
    }

    /// What a wait for it is called.
    pub(crate) const fn wait_type(self) -> &'static str {
        match self {
            IntentShared => "LCK_M_IS",
            Shared => "LCK_M_S",
            Update => "LCK_M_U",
            IntentExclusive => "LCK_M_IX",
            SharedIntentExclusive => "LCK_M_SIX",
            UpdateIntentExclusive => "LCK_M_UIX",
            Exclusive => "LCK_M_X",
        }
    }

    /// Whether another owner may have `other` at the same time.
    pub(crate) const fn goes_with(self, other: Self) -> bool {
        match (self, other) {
            (Exclusive, _) | (_, Exclusive) => false,
            (IntentShared, _) | (_, IntentShared) => true,
            (Shared, Shared | Update) | (Update, Shared) => true,
            (IntentExclusive, IntentExclusive) => true,
            _ => false,
        }
    }

    /// What an owner of this has who is granted `other` too.
    pub(crate) fn with(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Exclusive, _) | (_, Exclusive) => Exclusive,
            (IntentShared, mode) | (mode, IntentShared) => mode,
            (Shared, Update) | (Update, Shared) => Update,
            (Shared | SharedIntentExclusive, IntentExclusive | SharedIntentExclusive | Shared)
            | (IntentExclusive, Shared | SharedIntentExclusive) => SharedIntentExclusive,
            _ => UpdateIntentExclusive,
        }
    }
}
