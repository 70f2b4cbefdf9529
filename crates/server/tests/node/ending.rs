//! How a node ends.

use crate::{client::soon, place::Place};
use lockwork_runtime::Drained;
use serde_json::json;
use tokio::net::TcpStream;

#[tokio::test]
async fn a_node_that_is_told_to_end_answers_what_was_asked_and_nobody_else() {
    let mut place = Place::new().await;
    let id = place.waiting().await;
    let slow = place.slow(&id);
    soon(async {
        while place
            .reader
            .get("/metrics")
            .await
            .is(200)
            .text
            .contains("lockwork_http_connections 1")
        {}
    })
    .await;
    place.end();
    assert_eq!(soon(&mut place.ended).await.unwrap(), Drained::Done);
    let answer = soon(slow).await.unwrap().is(200).json();
    assert_eq!(answer["entries"], json!([]));
    assert!(TcpStream::connect(place.all.address).await.is_err());
    let shown = place
        .runtime
        .store()
        .load(&id.parse().unwrap())
        .await
        .unwrap();
    assert_eq!(
        shown.unwrap().state.waiting().len(),
        1,
        "what waits goes on waiting"
    );
}

#[tokio::test]
async fn a_node_can_be_asked_to_end() {
    let mut place = Place::new().await;
    let ends = place
        .all
        .post("/v1/node/drain", json!({}))
        .await
        .is(202)
        .json();
    assert_eq!(ends["ready"], false);
    assert_eq!(soon(&mut place.ended).await.unwrap(), Drained::Done);
}
