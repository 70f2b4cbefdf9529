//! Servers that are not what a client takes them for.

use std::{future::Future, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// How long a stranger listens before it ends the conversation.
const ENOUGH: Duration = Duration::from_secs(10);

/// What a web server says to whoever does not speak as it does.
pub const HTTP: &[u8] = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";

/// A server that treats everybody so; its port.
///
/// # Panics
/// If there is no free port.
pub async fn stranger<Treat>(treat: impl Fn(TcpStream) -> Treat + Send + 'static) -> u16
where
    Treat: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("its address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(treat(stream));
        }
    });
    port
}

/// Says it, and then listens.
pub async fn says(mut stream: TcpStream, words: Vec<u8>) {
    let _ = stream.write_all(&words).await;
    let _ = tokio::time::timeout(ENOUGH, stream.read_to_end(&mut Vec::new())).await;
}

/// Says it once it was asked something, and then listens.
pub async fn answers(mut stream: TcpStream, words: Vec<u8>) {
    let _ = stream.read(&mut [0; 1024]).await;
    says(stream, words).await;
}
