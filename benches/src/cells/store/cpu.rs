//! What the processor has done: for this program, and for all processes of the server.

use crate::{cell::Outcome, cells::postgres};
use rustix::time::{ClockId, clock_gettime};
use std::{fs, time::Duration};

/// One tick of the times that the system tells of processes: `USER_HZ`, on all Linux there is.
const TICK: Duration = Duration::from_millis(10);

/// The processes of the server.
pub(super) struct Server {
    first: u32,
}

impl Server {
    pub(super) async fn find() -> Outcome<Self> {
        let client = postgres::client(postgres::url()?).await?;
        let row = client.query_one("SELECT pg_backend_pid()", &[]).await?;
        let backend: i32 = row.get(0);
        let stat = Stat::of(backend.try_into()?).ok_or("a backend is a process")?;
        Ok(Self { first: stat.parent })
    }

    /// What this program and the server have had of the processor so far, those that ended included.
    pub(super) fn with_us(&self) -> Outcome<Duration> {
        let first = Stat::of(self.first).ok_or("the server is gone")?;
        let mut ticks = first.own + first.ended;
        for entry in fs::read_dir("/proc")? {
            let pid = entry?.file_name().to_string_lossy().parse();
            let stat = pid.ok().and_then(Stat::of);
            let stat = stat.filter(|stat| stat.parent == self.first);
            ticks += stat.map_or(0, |stat| stat.own);
        }
        Ok(us() + TICK * ticks)
    }
}

fn us() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        now.tv_sec.try_into().unwrap_or_default(),
        now.tv_nsec.try_into().unwrap_or_default(),
    )
}

/// What the system says of a process: proc_pid_stat(5).
struct Stat {
    parent: u32,
    /// Its ticks.
    own: u32,
    /// Those of its children that have ended.
    ended: u32,
}

impl Stat {
    fn of(pid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Its name is in parentheses, and may have any in it.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<_> = rest.split_whitespace().collect();
        let field = |at: usize| fields.get(at)?.parse::<u32>().ok();
        Some(Self {
            parent: field(1)?,
            own: field(11)? + field(12)?,
            ended: field(13)? + field(14)?,
        })
    }
}
