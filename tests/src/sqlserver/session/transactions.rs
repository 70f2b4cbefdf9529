//! Transactions. They own locks; what they change is not undone here.

use super::{Session, Stop};
use crate::sqlserver::sql::Message;

#[derive(Debug)]
pub(super) struct Transaction {
    id: u64,
    /// `@@TRANCOUNT`.
    count: i32,
    savepoints: Vec<String>,
    /// It can only be rolled back.
    doomed: bool,
}

/// Kinds of changes a client is told of.
const BEGAN: u8 = 8;
const COMMITTED: u8 = 9;
const ROLLED_BACK: u8 = 10;

impl Session {
    pub(super) fn transaction_id(&self) -> Option<u64> {
        self.transaction.as_ref().map(|it| it.id)
    }

    pub(super) fn transaction_count(&self) -> i32 {
        self.transaction.as_ref().map_or(0, |it| it.count)
    }

    /// `XACT_STATE()`.
    pub(super) fn transaction_state(&self) -> i16 {
        match &self.transaction {
            None => 0,
            Some(transaction) if transaction.doomed => -1,
            Some(_) => 1,
        }
    }

    pub(super) fn begin(&mut self) {
        match &mut self.transaction {
            Some(transaction) => transaction.count += 1,
            None => {
                let id = self.state().new_transaction();
                self.transaction = Some(Transaction {
                    id,
                    count: 1,
                    savepoints: Vec::new(),
                    doomed: false,
                });
                self.out.transaction(BEGAN, Some(id), None);
            }
        }
        self.show_transaction();
    }

    pub(super) fn commit(&mut self) -> Result<(), Stop> {
        let Some(transaction) = &mut self.transaction else {
            let text = "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.";
            return Err(Message::new(3902, 16, 1, text).into());
        };
        if transaction.doomed {
            let text = "The current transaction cannot be committed and cannot support operations \
                        that write to the log file. Roll back the transaction.";
            return Err(Message::new(3930, 16, 1, text).into());
        }
        transaction.count -= 1;
        if transaction.count == 0 {
            self.end_transaction(COMMITTED);
        }
        self.show_transaction();
        Ok(())
    }

    pub(super) fn rollback(&mut self, name: Option<&str>) -> Result<(), Stop> {
        let Some(transaction) = &self.transaction else {
            let text = "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.";
            return Err(Message::new(3903, 16, 1, text).into());
        };
        let to_savepoint = name.is_some_and(|name| {
            transaction
                .savepoints
                .iter()
                .any(|it| it.eq_ignore_ascii_case(name))
        });
        // To a savepoint, a transaction keeps its locks.
        if !to_savepoint {
            self.end_transaction(ROLLED_BACK);
        }
        self.show_transaction();
        Ok(())
    }

    pub(super) fn save(&mut self, name: &str) -> Result<(), Stop> {
        let Some(transaction) = &mut self.transaction else {
            let text = "Cannot issue SAVE TRANSACTION when there is no active transaction.";
            return Err(Message::new(628, 16, 0, text).into());
        };
        transaction.savepoints.push(name.into());
        Ok(())
    }

    /// After an error under XACT_ABORT: nothing but a rollback is left.
    pub(super) fn doom(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.doomed = true;
        }
    }

    /// Rolls back without being asked to.
    pub(crate) fn abandon_transaction(&mut self) {
        if self.transaction.is_some() {
            self.end_transaction(ROLLED_BACK);
        }
        self.show_transaction();
    }

    fn end_transaction(&mut self, kind: u8) {
        let Some(transaction) = self.transaction.take() else {
            return;
        };
        let id = Some(transaction.id);
        self.state()
            .locks
            .release_all(|owner| owner.transaction == id);
        self.out.transaction(kind, None, id);
    }

    fn show_transaction(&self) {
        let count = self.transaction_count();
        if let Some(info) = self.state().sessions.get_mut(&self.id) {
            info.transactions = count;
        }
    }
}
