//! Where the container is, and how locks live there.

use crate::{
    Azure, Identity, connection_string,
    credential::{AZURITE_KEY, Credential},
    names, transport,
};
use azure_core::{
    credentials::{Secret, TokenCredential},
    http::{ClientOptions, RetryOptions, policies::Policy},
};
use azure_storage_blob::{BlobContainerClient, BlobContainerClientOptions};
use lockwork_core::lock::{Error, ErrorKind, LockId, Locks, Name, Result, Space};
use std::{fmt, sync::Arc, time::Duration};
use url::{Host, Url};

/// How to reach a container, and how to use it otherwise than usual.
///
/// ```no_run
/// use lockwork_azure::{Identity, Options};
/// use lockwork_core::lock::Locks;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork_core::lock::Result<()> {
/// let options = Options::new("orders", "locks")?.identity(Identity::Managed);
/// let locks = Locks::new(options.connect().await?);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Options {
    pub(crate) container: Url,
    account: String,
    pub(crate) credential: Credential,
    pub(crate) lease: Duration,
    pub(crate) prefix: String,
    pub(crate) tokens: Tokens,
    pub(crate) wake: Option<Locks>,
    policies: Vec<Arc<dyn Policy>>,
}

/// What counts the tokens of a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tokens {
    /// The lock's metadata, which says who holds it as well.
    #[default]
    Metadata,
    /// The sequence number of a page blob: the server counts, and nothing says who holds the lock. All
    /// processes must choose the same. Not every kind of storage account has page blobs.
    Sequence,
}

/// For so long a lock is granted unless it is renewed.
const LEASE: Duration = Duration::from_secs(30);

/// The shortest that the server grants.
pub(crate) const SHORTEST_LEASE: Duration = Duration::from_secs(15);

/// The longest that ends.
pub(crate) const LONGEST_LEASE: Duration = Duration::from_secs(60);

impl Options {
    /// A container of an account in the public cloud, as whoever [`Identity::Auto`] finds.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if these are no such names.
    pub fn new(account: &str, container: &str) -> Result<Self> {
        let endpoint = format!("https://{account}.blob.core.windows.net");
        Self::at(&endpoint, account, container)
    }

    /// A container elsewhere: `endpoint` is that of the account, with the account's name in its path where
    /// that is not in its host.
    ///
    /// # Errors
    /// As [`Options::new`].
    pub fn at(endpoint: &str, account: &str, container: &str) -> Result<Self> {
        let wrong = || {
            let message = "this is not where a storage account is: write https://ACCOUNT.blob.core.windows.net, \
                           or for Azurite http://127.0.0.1:10000/devstoreaccount1";
            Error::new(ErrorKind::Invalid, message)
        };
        let mut url = Url::parse(endpoint).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https")
            || url.host().is_none()
            || url.query().is_some()
        {
            return Err(wrong());
        }
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !(3..=63).contains(&container.len()) || !container.chars().all(plain) {
            let message =
                "the name of a container has 3 to 63 lower-case letters, digits and hyphens";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        url.path_segments_mut()
            .map_err(|()| wrong())?
            .pop_if_empty()
            .push(container);
        Ok(Self {
            container: url,
            account: account.to_owned(),
            credential: Credential::Identity(Identity::Auto),
            lease: LEASE,
            prefix: "lockwork".to_owned(),
            tokens: Tokens::Metadata,
            wake: None,
            policies: Vec::new(),
        })
    }

    /// What a connection string of a storage account says.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if it lacks something; the sentence names that, and repeats nothing.
    pub fn from_connection_string(text: &str, container: &str) -> Result<Self> {
        connection_string::read(text, container)
    }

    /// With the account's key, in base 64. That may do everything with the account: a role of Entra ID or a
    /// signature is better.
    #[must_use]
    pub fn shared_key(mut self, key: impl Into<String>) -> Self {
        self.credential = Credential::Key(Secret::new(key.into()));
        self
    }

    /// With a shared access signature for the container: `sv=…&sig=…`.
    #[must_use]
    pub fn sas(mut self, signature: impl Into<String>) -> Self {
        self.credential = Credential::Sas(Secret::new(signature.into()));
        self
    }

    /// As whoever this is to Entra ID.
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.credential = Credential::Identity(identity);
        self
    }

    /// With tokens of Entra ID from a source of your own.
    #[must_use]
    pub fn credential(mut self, credential: Arc<dyn TokenCredential>) -> Self {
        self.credential = Credential::Token(credential);
        self
    }

    /// For how long a lock is granted, unless it is renewed, which happens at a third of that: 15 s to
    /// 60 s, in whole seconds. Default: 30 s. A lock may wish for another time within these.
    #[must_use]
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// What all blobs begin with. Default: `lockwork`.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// What counts the tokens.
    #[must_use]
    pub const fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = tokens;
        self
    }

    /// Lets those who wait for a mutex be told by other locks when it is free: see
    /// [`Wake`](lockwork_core::lock::backend::wake::Wake). Otherwise they ask again up to a second later.
    /// Each grant and each wait take a lock there as well. All processes should have the same.
    #[must_use]
    pub fn wake(mut self, bells: Locks) -> Self {
        self.wake = Some(bells);
        self
    }

    /// Adds a policy that each request passes on its way, before it is signed: to watch, say.
    #[must_use]
    pub fn policy(mut self, policy: Arc<dyn Policy>) -> Self {
        self.policies.push(policy);
        self
    }

    /// Connects, and creates the container if it is missing and we may.
    ///
    /// # Errors
    /// [`Unavailable`](ErrorKind::Unavailable) if the account cannot be reached,
    /// [`Denied`](ErrorKind::Denied) if it refuses us or the container is missing and we may not create it,
    /// [`Invalid`](ErrorKind::Invalid) if an option is wrong. The sentence says what to do.
    pub async fn connect(self) -> Result<Azure> {
        self.check()?;
        Azure::connect_to(self).await
    }

    fn check(&self) -> Result<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let is_whole = self.lease.subsec_nanos() == 0;
        let message = if self.prefix.is_empty() || !self.prefix.chars().all(plain) {
            "a prefix is one letter or digit at least, with hyphens, underscores, dots and slashes"
        } else if self.longest_blob() > 1000 {
            "the prefix is too long: the name of a blob has 1024 characters at most"
        } else if !is_whole || !(SHORTEST_LEASE..=LONGEST_LEASE).contains(&self.lease) {
            "a lease of Azure is 15 to 60 seconds long, in whole seconds"
        } else if self.credential.is_known_to_all() && !self.is_here() {
            "everybody knows the key of Azurite's account: it is used on this machine only"
        } else if !self.is_encrypted() && !self.is_here() {
            "locks are not sent over a network without encryption: write https, or azblob:// in the URL"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Invalid, message))
    }

    fn longest_blob(&self) -> usize {
        let name = "a".repeat(Name::MAX_BYTES);
        let id = Name::new(&name).map(|name| LockId::new(Space::Semaphore, name));
        id.map_or(0, |id| names::blob_of(&self.prefix, &id).len())
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.container.scheme() == "https"
    }

    /// Whether the account is on this machine.
    pub(crate) fn is_here(&self) -> bool {
        match self.container.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    /// With the key that everybody knows, where nothing else was said of the account that has it.
    pub(crate) fn with_the_known_key(self) -> Self {
        self.shared_key(AZURITE_KEY)
    }

    /// The driver's own client for the container, as whoever these options say.
    ///
    /// # Errors
    /// [`Invalid`](ErrorKind::Invalid) if the credentials have not the form of any;
    /// [`Unexpected`](ErrorKind::Unexpected) if the certificates this machine trusts cannot be read.
    pub fn client(&self) -> Result<BlobContainerClient> {
        let mut policies = self.policies.clone();
        policies.extend(self.credential.policy(&self.account)?);
        let client = ClientOptions {
            per_try_policies: policies,
            // Whether to ask again is decided where it is known what for.
            retry: RetryOptions::none(),
            ..transport::options()?
        };
        let options = BlobContainerClientOptions {
            client_options: client,
            ..BlobContainerClientOptions::default()
        };
        let token = self.credential.token()?;
        BlobContainerClient::new(self.container.clone(), token, Some(options)).map_err(|_| {
            let message = "a token of Entra ID is sent over https only: write azblob:// in the URL";
            Error::new(ErrorKind::Invalid, message)
        })
    }
}

/// Without what is secret.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("container", &self.container.as_str())
            .field("credential", &self.credential)
            .field("lease", &self.lease)
            .field("prefix", &self.prefix)
            .field("tokens", &self.tokens)
            .field("wake", &self.wake.is_some())
            .finish_non_exhaustive()
    }
}
