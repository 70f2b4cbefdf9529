//! Several locks at once, for servers that have no statement for it.

use super::{Backend, Hold, Owned};
use crate::lock::{Deadline, Request, Result};

/// Tries each of `requests` in order and gives everything back at the first refusal.
///
/// Not atomic, and does not need to be: nobody waits while holding, so nobody can deadlock.
///
/// # Errors
/// What a try fails with; or a release, and then it is none to try again after, as the same owner would.
///
/// # Cancel safety
/// Dropping this gives back what was granted so far.
pub async fn try_each<B: Backend>(
    backend: &B,
    requests: Vec<Request>,
) -> Result<Option<Vec<B::Hold>>> {
    let mut granted: Vec<Owned<B::Hold>> = Vec::with_capacity(requests.len());
    for mut request in requests {
        request.deadline = Deadline::Now;
        let releases = request.releases.clone();
        match backend.acquire(request).await? {
            Some(hold) => granted.push(Owned::new(hold, releases)),
            None => return give_back(granted.into_iter().rev()).await.map(|()| None),
        }
    }
    Ok(Some(granted.into_iter().map(Owned::into_inner).collect()))
}

/// Gives back what was granted and nobody is told of, and waits for that.
///
/// # Errors
/// Of a release of which nobody knows whether it arrived. Nothing to try again after, though the server may be back:
/// the next try has the same owner, and a release that comes late would hit what that is granted.
pub(in crate::lock) async fn give_back<H: Hold>(
    holds: impl IntoIterator<Item = Owned<H>, IntoIter: Send> + Send,
) -> Result<()> {
    for hold in holds {
        let released = hold.release().await;
        released.map_err(|error| error.transient(false))?;
    }
    Ok(())
}
