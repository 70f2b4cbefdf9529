//! A server to which tests talk as its administrator.

use lockwork::sqlserver::tiberius::{AuthMethod, Client, Config, EncryptionLevel, ToSql};
use std::{future::Future, thread};
use tokio::net::TcpStream;
use tokio_util::compat::TokioAsyncWriteCompatExt;
use url::Url;

/// Where the server is.
const SERVER: &str = "LOCKWORK_SQLSERVER_URL";

/// A server, and who may do everything there.
#[derive(Clone, Debug)]
pub struct Server(Url);

type Asked<T> = std::result::Result<T, String>;

impl Server {
    /// The one that `url` names.
    ///
    /// # Errors
    /// If that is no URL.
    pub fn new(url: &str) -> Asked<Self> {
        let url = Url::parse(url).map_err(|_| "this is no URL of a server")?;
        Ok(Self(url))
    }

    /// The one that `LOCKWORK_SQLSERVER_URL` names.
    ///
    /// # Errors
    /// If that is no URL.
    pub fn named() -> Asked<Option<Self>> {
        let url = std::env::var(SERVER).ok();
        url.map(|url| Self::new(&url)).transpose()
    }

    /// A database of it, with further options.
    #[must_use]
    pub fn url(&self, database: &str, options: &str) -> String {
        let mut url = self.0.clone();
        url.set_path(database);
        let parts = [url.query().unwrap_or("encrypt=true"), options];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let query = parts.collect::<Vec<_>>().join("&");
        // There is one: whoever adds an option writes `&`.
        url.set_query(Some(&query));
        url.into()
    }

    /// The same for somebody else.
    #[must_use]
    pub fn url_as(&self, user: &str, password: &str, database: &str) -> String {
        let mut other = self.clone();
        other.0.set_username(user).expect("a URL with a host");
        other
            .0
            .set_password(Some(password))
            .expect("a URL with a host");
        other.url(database, "")
    }

    /// Runs texts one after the other.
    ///
    /// # Errors
    /// What the server has to say.
    pub fn run(&self, database: &str, texts: impl IntoIterator<Item = String>) -> Asked<()> {
        let (config, texts) = (self.config(database), texts.into_iter().collect::<Vec<_>>());
        asking(async move {
            let mut client = connect(config).await?;
            for text in texts {
                let ran = client.simple_query(text.as_str()).await;
                let ran = async { ran?.into_results().await };
                ran.await.map_err(|error| format!("{text}: {error}"))?;
            }
            Ok(())
        })
    }

    /// The first column of all rows; `value` is the parameter.
    ///
    /// # Errors
    /// What the server has to say.
    pub fn numbers(&self, database: &str, text: &str, value: &str) -> Asked<Vec<i32>> {
        let (config, text, value) = (self.config(database), text.to_owned(), value.to_owned());
        asking(async move {
            let mut client = connect(config).await?;
            let values: [&dyn ToSql; 1] = [&value];
            let rows = async { client.query(text, &values).await?.into_first_result().await };
            let rows = rows.await.map_err(|error| error.to_string())?;
            let numbers = rows.iter().map(|row| row.try_get(0).ok().flatten());
            let numbers: Option<Vec<i32>> = numbers.collect();
            numbers.ok_or_else(|| "the server has no number to tell".to_owned())
        })
    }

    /// How its administrator gets in. The certificate of a server for tests is nobody's.
    #[must_use]
    pub fn config(&self, database: &str) -> Config {
        let part = |text: &str| lockwork::unescaped(text).expect("a URL of a server");
        let mut config = Config::new();
        config.host(self.0.host_str().expect("a URL with a host"));
        config.port(self.0.port().unwrap_or(1433));
        config.database(database);
        let password = part(self.0.password().unwrap_or_default());
        config.authentication(AuthMethod::sql_server(part(self.0.username()), password));
        config.trust_cert();
        if self
            .0
            .query()
            .is_some_and(|query| query.contains("encrypt=none"))
        {
            config.encryption(EncryptionLevel::NotSupported);
        }
        config
    }
}

async fn connect(config: Config) -> Asked<Client<tokio_util::compat::Compat<TcpStream>>> {
    let stream = TcpStream::connect(config.get_addr()).await;
    let stream = stream.map_err(|error| error.to_string())?;
    let client = Box::pin(Client::connect(config, stream.compat_write())).await;
    client.map_err(|error| error.to_string())
}

/// Asks, from wherever this is called.
fn asking<T: Send + 'static>(
    question: impl Future<Output = Asked<T>> + Send + 'static,
) -> Asked<T> {
    let asking = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime");
        runtime.block_on(question)
    });
    asking.join().expect("the server is asked without a panic")
}
