//! Events that a fake tells of and a test waits for, on whatever threads and runtimes they are.

use tokio::sync::watch;

/// How often something has happened.
#[derive(Clone, Debug)]
pub(crate) struct Count(watch::Sender<usize>);

impl Count {
    /// Once more.
    pub(crate) fn add(&self) {
        self.0.send_modify(|count| *count += 1);
    }

    pub(crate) fn get(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until it has happened `times`.
    pub(crate) async fn reached(&self, times: usize) {
        let mut counting = self.0.subscribe();
        let _ = counting.wait_for(|count| *count >= times).await;
    }
}

impl Default for Count {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

/// A point that a fake passes when the test lets it. Open at first.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    open: watch::Sender<bool>,
    arrived: Count,
}

impl Gate {
    /// A gate that is closed at first.
    pub(crate) fn closed() -> Self {
        let gate = Self::default();
        gate.close();
        gate
    }

    pub(crate) fn close(&self) {
        self.open.send_replace(false);
    }

    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    /// Arrives, and waits until the gate is open.
    pub(crate) async fn pass(&self) {
        self.arrived.add();
        let mut open = self.open.subscribe();
        let _ = open.wait_for(|open| *open).await;
    }

    /// How many have arrived, whether or not they were let through.
    pub(crate) fn arrived(&self) -> usize {
        self.arrived.get()
    }

    /// Waits until so many have arrived.
    pub(crate) async fn reached(&self, arrivals: usize) {
        self.arrived.reached(arrivals).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            open: watch::Sender::new(true),
            arrived: Count::default(),
        }
    }
}
