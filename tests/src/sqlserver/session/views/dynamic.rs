//! Views of what goes on at the moment. Who may not see it is told so.

use super::{
    super::{Session, sources::Rows},
    ViewColumn, made,
};
use crate::sqlserver::{
    locks::LockRow,
    sql::{
        Message,
        value::{Data, Type, Value},
    },
    state::SessionInfo,
};

const NAME: Type = Type::NVarChar(Some(60));

pub(super) fn rows(session: &Session, view: &str) -> Result<Option<Rows>, Message> {
    let babelfish = session.is_babelfish();
    Ok(match view {
        "dm_tran_locks" if !babelfish => {
            permitted(session, "VIEW SERVER PERFORMANCE STATE")?;
            Some(locks(session))
        }
        // Without the right, a session sees itself.
        "dm_exec_sessions" => Some(sessions(
            session,
            session.server_allows("VIEW SERVER PERFORMANCE STATE"),
        )),
        "dm_exec_requests" if !babelfish => Some(requests(
            session,
            session.server_allows("VIEW SERVER PERFORMANCE STATE"),
        )),
        "dm_exec_connections" => {
            permitted(session, "VIEW SERVER STATE")?;
            Some(connections(session))
        }
        "dm_os_sys_info" => {
            permitted(session, "VIEW SERVER PERFORMANCE STATE")?;
            let columns = [
                ("sqlserver_start_time", Type::DateTime),
                ("cpu_count", Type::Int),
            ];
            let started = time(session.state().started);
            Some(made(&columns, vec![vec![started, Value::int(2)]]))
        }
        _ => None,
    })
}

fn permitted(session: &Session, permission: &str) -> Result<(), Message> {
    match session.server_allows(permission) {
        true => Ok(()),
        false => {
            let text = format!(
                "{permission} permission was denied on object 'server', database 'master'."
            );
            Err(Message::new(300, 14, 1, text))
        }
    }
}

fn time(ticks: i64) -> Value {
    Value::new(Type::DateTime, Data::Time(ticks))
}

fn short(text: &str) -> Value {
    Value::new(NAME, Data::Text(text.encode_utf16().collect()))
}

fn locks(session: &Session) -> Rows {
    let columns: [ViewColumn; 15] = [
        ("resource_type", NAME),
        ("resource_subtype", NAME),
        ("resource_database_id", Type::Int),
        ("resource_description", Type::NVarChar(Some(256))),
        ("resource_associated_entity_id", Type::BigInt),
        ("resource_lock_partition", Type::Int),
        ("request_mode", NAME),
        ("request_type", NAME),
        ("request_status", NAME),
        ("request_reference_count", Type::SmallInt),
        ("request_session_id", Type::Int),
        ("request_request_id", Type::Int),
        ("request_owner_type", NAME),
        ("request_owner_id", Type::BigInt),
        ("lock_owner_address", Type::VarBinary(Some(8))),
    ];
    let state = session.state();
    let mut rows: Vec<Vec<Value>> = state.locks.rows().iter().map(lock).collect();
    // Each session has a shared lock on its database.
    for (id, info) in &state.sessions {
        rows.push(lock_row(
            ["DATABASE", "S", "GRANT", "SHARED_TRANSACTION_WORKSPACE"],
            info.database,
            Vec::new(),
            [1, i64::from(*id), 0],
        ));
    }
    made(&columns, rows)
}

fn lock(row: &LockRow) -> Vec<Value> {
    let (kind, id) = match row.owner.transaction {
        Some(id) => ("TRANSACTION", id.cast_signed()),
        None => ("SESSION", 0),
    };
    let count = i64::try_from(row.count).unwrap_or(i64::MAX);
    lock_row(
        ["APPLICATION", row.mode.short(), row.status, kind],
        row.key.database,
        description(row),
        [count, i64::from(row.owner.session), id],
    )
}

fn lock_row(
    [kind, mode, status, owner]: [&str; 4],
    database: i32,
    description: Vec<u16>,
    [count, session, owner_id]: [i64; 3],
) -> Vec<Value> {
    vec![
        short(kind),
        short(""),
        Value::int(database),
        Value::new(Type::NVarChar(Some(256)), Data::Text(description)),
        Value::big(0),
        Value::int(0),
        short(mode),
        short("LOCK"),
        short(status),
        Value::small(i16::try_from(count).unwrap_or(i16::MAX)),
        Value::int(i32::try_from(session).unwrap_or(0)),
        Value::int(0),
        short(owner),
        Value::big(owner_id),
        Value::null(Type::VarBinary(Some(8))),
    ]
}

/// The principal, the first 32 units of the name, and a hash of all of it.
fn description(row: &LockRow) -> Vec<u16> {
    let name = &row.key.resource;
    let hash = name.iter().fold(0x811c_9dc5_u32, |hash, unit| {
        (hash ^ u32::from(*unit)).wrapping_mul(0x0100_0193)
    });
    let mut text: Vec<u16> = format!("{}:[", row.key.principal).encode_utf16().collect();
    text.extend(name.iter().take(32));
    text.extend(format!("]:({hash:08x})").encode_utf16());
    text
}

fn sessions(session: &Session, all: bool) -> Rows {
    let columns: [ViewColumn; 14] = [
        ("session_id", Type::SmallInt),
        ("login_time", Type::DateTime),
        ("host_name", Type::SYSNAME),
        ("program_name", Type::SYSNAME),
        ("host_process_id", Type::Int),
        ("client_interface_name", Type::NVarChar(Some(32))),
        ("login_name", Type::SYSNAME),
        ("original_login_name", Type::SYSNAME),
        ("status", Type::NVarChar(Some(30))),
        ("last_request_start_time", Type::DateTime),
        ("last_request_end_time", Type::DateTime),
        ("is_user_process", Type::Bit),
        ("database_id", Type::SmallInt),
        ("open_transaction_count", Type::Int),
    ];
    let state = session.state();
    let visible = state
        .sessions
        .iter()
        .filter(|(id, _)| all || **id == session.id);
    let rows = visible.map(|(id, info)| {
        vec![
            Value::small(*id),
            time(info.connected),
            Value::name(&info.host),
            Value::name(&info.program),
            Value::int(info.client_pid.cast_signed()),
            short(&info.library),
            Value::name(&info.login),
            Value::name(&info.login),
            short(if info.running { "running" } else { "sleeping" }),
            time(info.request_start),
            info.request_end.map_or(Value::null(Type::DateTime), time),
            Value::bit(true),
            Value::small(info.database as i16),
            Value::int(info.transactions),
        ]
    });
    made(&columns, rows.collect())
}

fn requests(session: &Session, all: bool) -> Rows {
    let columns: [ViewColumn; 9] = [
        ("session_id", Type::SmallInt),
        ("request_id", Type::Int),
        ("start_time", Type::DateTime),
        ("status", Type::NVarChar(Some(30))),
        ("command", Type::NVarChar(Some(32))),
        ("database_id", Type::SmallInt),
        ("blocking_session_id", Type::SmallInt),
        ("wait_type", NAME),
        ("open_transaction_count", Type::Int),
    ];
    let state = session.state();
    let running = |(id, info): &(&i16, &SessionInfo)| info.running && (all || **id == session.id);
    let rows = state.sessions.iter().filter(running).map(|(id, info)| {
        vec![
            Value::small(*id),
            Value::int(0),
            time(info.request_start),
            short(if info.wait.is_some() {
                "suspended"
            } else {
                "running"
            }),
            short("EXECUTE"),
            Value::small(info.database as i16),
            Value::small(state.locks.blocker(*id).unwrap_or(0)),
            info.wait.map_or(Value::null(NAME), short),
            Value::int(info.transactions),
        ]
    });
    made(&columns, rows.collect())
}

fn connections(session: &Session) -> Rows {
    let columns: [ViewColumn; 9] = [
        ("session_id", Type::Int),
        ("connect_time", Type::DateTime),
        ("net_transport", NAME),
        ("protocol_type", NAME),
        ("encrypt_option", NAME),
        ("auth_scheme", NAME),
        ("client_net_address", Type::VarChar(Some(48))),
        ("client_tcp_port", Type::Int),
        ("net_packet_size", Type::Int),
    ];
    let state = session.state();
    let rows = state.sessions.iter().map(|(id, info)| {
        vec![
            Value::int((*id).into()),
            time(info.connected),
            short("TCP"),
            short("TSQL"),
            short(if info.encrypted { "TRUE" } else { "FALSE" }),
            short("SQL"),
            short(&info.address),
            Value::int(info.port.into()),
            Value::int(info.packet_size as i32),
        ]
    });
    made(&columns, rows.collect())
}
