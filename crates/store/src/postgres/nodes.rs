//! Who shares the store, and what they agree on.

use super::{
    PostgresStore,
    errors::Trouble,
    pool::Operation,
    statements::{Statements, ask, ask_as},
    text::{millis, name},
};
use lockwork_core::workflow::{Answer, InstanceId, Result, Time};
use lockwork_runtime::store::{NodeRow, NodeStore};
use sqlx::PgConnection;
use std::borrow::Cow;

type Row = (String, i64, i64, i64, i64, Vec<String>);

fn node((name, since, beat, until, bursts, running): Row) -> Result<NodeRow> {
    Ok(NodeRow {
        name,
        since: Time::from_millis(since),
        beat: Time::from_millis(beat),
        until: Time::from_millis(until),
        bursts: bursts.try_into().unwrap_or_default(),
        running: running
            .iter()
            .map(|id| InstanceId::new(id))
            .collect::<Result<_>>()?,
    })
}

struct Beating(Row);

impl Operation for Beating {
    type Out = ();

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<(), Trouble> {
        let Self((name, since, beat, until, bursts, running)) = self;
        let ask = ask(&sql.beat).bind(name).bind(since).bind(beat);
        let ask = ask.bind(until).bind(bursts).bind(running);
        ask.execute(at).await?;
        Ok(())
    }
}

struct Listing;

impl Operation for Listing {
    type Out = Vec<NodeRow>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let rows = ask_as::<Row>(&sql.nodes).fetch_all(at).await?;
        Ok(rows.into_iter().map(node).collect::<Result<_>>()?)
    }
}

struct Forgetting(i64);

impl Operation for Forgetting {
    type Out = usize;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<usize, Trouble> {
        let forgotten = ask(&sql.forget_nodes).bind(self.0).execute(at).await?;
        Ok(forgotten.rows_affected().try_into().unwrap_or(usize::MAX))
    }
}

struct Agreeing(i64);

impl Operation for Agreeing {
    type Out = u32;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<u32, Trouble> {
        let agreed = ask_as::<(i64,)>(&sql.parts).bind(self.0).fetch_one(at);
        Ok(agreed.await?.0.try_into().unwrap_or(u32::MAX))
    }
}

struct Ending(Vec<String>);

impl Operation for Ending {
    type Out = Vec<String>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let rows = ask_as::<(String,)>(&sql.to_be_ended).bind(&self.0);
        Ok(rows
            .fetch_all(at)
            .await?
            .into_iter()
            .map(|(id,)| id)
            .collect())
    }
}

impl NodeStore for PostgresStore {
    fn beat(&self, node: NodeRow) -> Answer<'_, ()> {
        let (since, beat, until) = (millis(node.since), millis(node.beat), millis(node.until));
        let name = name(&node.name).map(Cow::into_owned);
        let running = node.running.iter().map(ToString::to_string).collect();
        let row = |name| Beating((name, since, beat, until, node.bursts.into(), running));
        self.answer(name.map(row))
    }

    fn nodes(&self) -> Answer<'_, Vec<NodeRow>> {
        self.answer(Ok(Listing))
    }

    fn forget_nodes(&self, before: Time) -> Answer<'_, usize> {
        self.answer(Ok(Forgetting(millis(before))))
    }

    fn parts(&self, first: u32) -> Answer<'_, u32> {
        self.answer(Ok(Agreeing(first.into())))
    }

    fn to_be_ended<'a>(&'a self, instances: &'a [InstanceId]) -> Answer<'a, Vec<InstanceId>> {
        let ids = instances.iter().map(ToString::to_string).collect();
        Box::pin(async move {
            let ids = self.answer(Ok(Ending(ids))).await?;
            ids.iter().map(|id| InstanceId::new(id)).collect()
        })
    }
}
