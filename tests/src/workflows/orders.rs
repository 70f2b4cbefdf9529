//! What nodes are told to do: one line each, and the same if it is told again.

use lockwork::{
    flow::{EVENT, TASK, delivered},
    runtime::{LocalRuntime, Readiness},
    workflow::{
        Addressee, Create, CreateAndRun, DefinitionHandle, DefinitionId, Error, ErrorKind,
        InstanceId, Result, Runtime, Stimulus, Value, Values,
    },
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Something a node is told to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// An instance shall exist, and run.
    Create {
        /// Its id.
        instance: InstanceId,
        /// Of what.
        definition: DefinitionId,
        /// What it is given.
        input: Values,
    },
    /// An event has happened, for whoever has this correlation.
    Tell {
        /// Its name.
        event: String,
        /// For whom.
        correlation: String,
    },
    /// A task is done.
    Done {
        /// The task.
        task: String,
    },
    /// It shall say whether it can work: an error says why not.
    Ready,
}

impl Order {
    /// Does it on `runtime`. Done twice, it is done once.
    ///
    /// # Errors
    /// Those of the runtime.
    pub async fn obey(&self, runtime: &LocalRuntime) -> Result<()> {
        match self {
            Self::Create {
                instance,
                definition,
                input,
            } => {
                let handle = DefinitionHandle::published(definition.clone());
                let create = Create::new(handle).input(input.clone());
                let create = create.key(format!("create {instance}"));
                let client = runtime.client(Some(instance.clone()));
                client.create_and_run(CreateAndRun::new(create)).await?;
            }
            Self::Tell { event, correlation } => {
                let mut to = Addressee::default();
                to.correlation = Some(correlation.clone());
                let told = Stimulus::new(EVENT, &json!({ "name": event }))?;
                let told = told.to(to).input(delivered(Some(json!({ "by": "us" }))));
                let told = told.key(format!("{event} {correlation}"));
                runtime.sender().send(told).await?;
            }
            Self::Done { task } => {
                let done = Stimulus::new(TASK, &json!({ "task": task }))?;
                let done = done.input(delivered(Some(json!({ "signed": true }))));
                runtime
                    .sender()
                    .send(done.key(format!("done {task}")))
                    .await?;
            }
            Self::Ready => {
                if let Readiness::NotReady(why) = runtime.readiness() {
                    return Err(Error::new(ErrorKind::Unavailable, why));
                }
            }
        }
        Ok(())
    }

    /// As a line.
    #[must_use]
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap()
    }

    /// From a line.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(line: &str) -> Result<Self> {
        serde_json::from_str(line)
            .map_err(|error| Error::new(ErrorKind::Invalid, "this is no order").because(error))
    }
}

/// Everything that nodes are told in one run, but for tasks, which nobody knows beforehand.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The instances that are created; their children are not among them.
    pub instances: Vec<InstanceId>,
    /// What nodes are told, in this order.
    pub orders: Vec<Order>,
}

impl Plan {
    /// The one with this seed, of so many instances.
    ///
    /// # Errors
    /// None: ids are made of numbers.
    pub fn new(seed: u64, count: u64) -> Result<Self> {
        let mut chance = StdRng::seed_from_u64(seed);
        let (mut instances, mut orders) = (Vec::new(), Vec::new());
        for order in 0..count {
            let instance = InstanceId::new(&format!("order-{order}"))?;
            let kind = ["order", "order-by-steps"][chance.random_range(0..2)];
            orders.push(Order::Create {
                instance: instance.clone(),
                definition: DefinitionId::new(kind)?,
                input: input(order, &mut chance),
            });
            orders.extend(["Paid", "Shipped"].map(|event| Order::Tell {
                event: event.to_owned(),
                correlation: instance.to_string(),
            }));
            instances.push(instance);
        }
        shuffle(&mut orders, &mut chance);
        Ok(Self { instances, orders })
    }
}

fn input(order: u64, chance: &mut StdRng) -> Values {
    let given: [(&str, Value); 4] = [
        ("order", order.into()),
        ("pause", chance.random_range(1..40).into()),
        ("failures", chance.random_range(0..6).into()),
        ("bad", order.is_multiple_of(11).into()),
    ];
    Values::from_iter(given.map(|(name, value)| (name.to_owned(), value)))
}

/// Signals come before and after those they are for, but not long before or after.
fn shuffle(orders: &mut [Order], chance: &mut StdRng) {
    orders.chunks_mut(30).for_each(|some| some.shuffle(chance));
}
