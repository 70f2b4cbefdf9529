//! Locks that end with the caller's transaction.

use crate::{SOON, client, server, within};
use lockwork::postgres::{lock_in, try_lock_in};
use sqlx::{Connection, PgConnection};

#[tokio::test]
async fn a_lock_in_a_transaction_excludes_guards_and_ends_with_it() {
    let server = server(&[]);
    let locks = client(&server.url()).await;
    let mut connection = PgConnection::connect(&server.url()).await.unwrap();
    let mut transaction = connection.begin().await.unwrap();
    lock_in(&mut transaction, "x").await.unwrap();
    assert!(locks.mutex("x").try_lock().await.unwrap().is_none());
    assert!(locks.mutex("y").try_lock().await.unwrap().is_some());
    transaction.commit().await.unwrap();
    let guard = within(SOON, "a lock", locks.mutex("x").lock())
        .await
        .unwrap();
    let mut transaction = connection.begin().await.unwrap();
    assert!(!try_lock_in(&mut transaction, "x").await.unwrap());
    let waiting = async {
        lock_in(&mut transaction, "x").await.unwrap();
        transaction.rollback().await.unwrap();
    };
    let releasing = async {
        tokio::task::yield_now().await;
        guard.release().await.unwrap();
    };
    within(SOON, "both", async { tokio::join!(waiting, releasing) }).await;
    drop(
        within(SOON, "a lock", locks.mutex("x").lock())
            .await
            .unwrap(),
    );
}
