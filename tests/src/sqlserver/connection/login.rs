//! The beginning of a connection: what is agreed on, and who comes in.

use super::transport::Transport;
use crate::sqlserver::{
    Flavor, Server,
    session::Session,
    sql::{Message, time},
    state::SessionInfo,
    wire::{
        login::Login,
        packet::{self, Reader, send},
        prelogin::{self, Wish},
        tokens::{Done, ERROR, Tokens},
    },
};
use std::{io, net::SocketAddr, sync::Arc};
use tokio::net::TcpStream;
use tokio::{io::AsyncWriteExt, sync::Notify};

/// A version that is said in two messages: 16.0.4185.
const VERSION: [u8; 6] = [16, 0, 0x10, 0x59, 0, 0];

/// A connection that has logged in.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) transport: Transport,
    pub(super) session: Session,
    pub(super) packet_size: usize,
    pub(super) kill: Arc<Notify>,
}

/// Brings a connection to its first request; `None` if it is not let in.
pub(super) async fn open(
    server: &Arc<Server>,
    stream: TcpStream,
    from: SocketAddr,
) -> io::Result<Option<Opened>> {
    let (transport, strict) = Transport::open(server, stream).await?;
    let mut reader = Reader::new(transport);
    let message = reader.message().await?;
    if message.kind != packet::PRELOGIN {
        return Err(packet::malformed());
    }
    let wish = prelogin::read(&message.body).map_err(|_| packet::malformed())?;
    let answer = wish.answer(server.settings.encryption);
    let body = prelogin::write(VERSION, answer);
    send(reader.get_mut(), &body, packet::DEFAULT_SIZE, 0).await?;
    let mut transport = reader.into_inner()?;
    // Who cannot encrypt where one must is told so, and that is the end (MS-TDS 2.2.6.5).
    if !strict && wish == Wish::NotSupported && answer == Wish::Required {
        transport.shutdown().await?;
        return Ok(None);
    }
    if !strict && answer != Wish::NotSupported {
        transport = transport.negotiated(server, answer).await?;
    }
    let mut reader = Reader::new(transport);
    let message = reader.message().await?;
    if message.kind != packet::LOGIN {
        return Err(packet::malformed());
    }
    let login = Login::read(&message.body).map_err(|_| packet::malformed())?;
    let mut transport = reader.into_inner()?;
    if !strict && answer == Wish::Off {
        transport = transport.into_plain();
    }
    admit(server, transport, &login, from).await
}

async fn admit(
    server: &Arc<Server>,
    mut transport: Transport,
    login: &Login,
    from: SocketAddr,
) -> io::Result<Option<Opened>> {
    let entered = enter(server, login, from, transport.is_encrypted());
    let (mut session, kill) = match entered {
        Ok(entered) => entered,
        Err(messages) => {
            let mut tokens = Tokens::default();
            for message in &messages {
                tokens.message(message, server.settings.name());
            }
            tokens.done(Done::Batch, ERROR, 0, 0);
            send(
                &mut transport,
                &tokens.into_bytes(),
                packet::DEFAULT_SIZE,
                0,
            )
            .await?;
            transport.shutdown().await?;
            return Ok(None);
        }
    };
    greet(&mut session, login);
    let body = std::mem::take(&mut session.out).into_bytes();
    let opened = Opened {
        transport,
        packet_size: login.packet_size,
        session,
        kill,
    };
    let mut opened = opened;
    let id = opened.session.id.cast_unsigned();
    let sent = send(&mut opened.transport, &body, packet::DEFAULT_SIZE, id).await;
    if sent.is_err() {
        opened.session.leave();
    }
    sent.map(|()| Some(opened))
}

/// What a new session is told.
fn greet(session: &mut Session, login: &Login) {
    let database = session.database_name();
    session.out.changed(1, &database, "master");
    let text = format!("Changed database context to '{database}'.");
    session.say(&Message::new(5701, 0, 2, text));
    session.out.collation();
    session.out.changed(2, "us_english", "");
    let text = "Changed language setting to us_english.";
    session.say(&Message::new(5703, 0, 1, text));
    let program = match session.server.settings.flavor {
        Flavor::SqlServer => "Microsoft SQL Server",
        Flavor::Babelfish => "Babelfish",
    };
    session.out.login_ack(program, [16, 0, 0x10, 0x59]);
    let size = login.packet_size.to_string();
    session
        .out
        .changed(4, &size, &packet::DEFAULT_SIZE.to_string());
    session.out.done(Done::Batch, 0, 0, 0);
}

/// Checks who it is; the messages to send if they are not let in.
fn enter(
    server: &Arc<Server>,
    login: &Login,
    from: SocketAddr,
    encrypted: bool,
) -> Result<(Session, Arc<Notify>), Vec<Message>> {
    let refused = || {
        let text = format!("Login failed for user '{}'.", login.user);
        Message::new(18456, 14, 1, text).at(1)
    };
    let mut state = server.state();
    let known = state
        .login(&login.user)
        .filter(|it| it.password == login.password);
    let Some(known) = known.filter(|_| !login.integrated) else {
        return Err(vec![refused()]);
    };
    if !known.enabled {
        let text = format!(
            "Login failed for user '{}'. Reason: The account is disabled.",
            login.user
        );
        return Err(vec![Message::new(18470, 14, 1, text).at(1)]);
    }
    let name = known.name.clone();
    let wanted = match login.database.is_empty() {
        true => known.database.clone(),
        false => login.database.clone(),
    };
    let database = state.database_named(&wanted);
    let entered = database.and_then(|it| Some((it.id, state.user_of(&name, it)?)));
    let Some((database, user)) = entered else {
        let text =
            format!("Cannot open database \"{wanted}\" requested by the login. The login failed.");
        return Err(vec![Message::new(4060, 11, 1, text).at(1), refused()]);
    };
    let Some(id) = (51..=i16::MAX).find(|id| !state.sessions.contains_key(id)) else {
        let text = "The maximum limit for connections has been reached.";
        return Err(vec![Message::new(17809, 20, 1, text)]);
    };
    let info = described(login, &name, database, from, encrypted);
    let kill = info.kill.clone();
    state.sessions.insert(id, info);
    drop(state);
    let session = Session::new(server.clone(), id, &name, database, user);
    Ok((session, kill))
}

/// What others see of a new session.
fn described(
    login: &Login,
    name: &str,
    database: i32,
    from: SocketAddr,
    encrypted: bool,
) -> SessionInfo {
    let now = time::now();
    SessionInfo {
        login: name.into(),
        host: login.host.clone(),
        program: login.program.clone(),
        library: login.library.clone(),
        client_pid: login.client_pid,
        database,
        connected: now,
        request_start: now,
        request_end: None,
        running: false,
        wait: None,
        transactions: 0,
        encrypted,
        packet_size: login.packet_size,
        address: from.ip().to_string(),
        port: from.port(),
        kill: Arc::new(Notify::new()),
    }
}
