//! Does a cut cable stay silent? Needs root and `ip`; where they are missing, the tests show as
//! ignored, with the reason in their names.

#[cfg(target_os = "linux")]
use libtest_mimic::Failed;
use libtest_mimic::{Arguments, Trial};

fn main() -> std::process::ExitCode {
    let args = Arguments::from_args();
    libtest_mimic::run(&args, trials()).exit_code()
}

/// What a trial does.
#[cfg(target_os = "linux")]
type Fact = fn() -> Result<(), Failed>;

#[cfg(not(target_os = "linux"))]
fn trials() -> Vec<Trial> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn trials() -> Vec<Trial> {
    let facts: [(&str, Fact); 3] = [
        (
            "a_cut_cable_is_silent_on_both_sides_and_loses_nothing_once_mended",
            linux::established,
        ),
        (
            "who_connects_through_a_cut_cable_is_told_nothing",
            linux::connecting,
        ),
        (
            "a_holder_whose_cable_is_cut_is_replaced_within_7_s_and_its_guard_is_off_before",
            linux::holding,
        ),
    ];
    let missing = lockwork_servers::Namespace::start().err();
    let trial = |(name, fact)| match &missing {
        None => Trial::test(name, fact),
        Some(why) => Trial::test(format!("{name} ({why})"), fact).with_ignored_flag(true),
    };
    facts.map(trial).into()
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Failed;
    use lockwork::Instant;
    use lockwork_conformance::{Taker, within};
    use lockwork_servers::{
        Namespace, Postgres, Settings,
        postgres::{psql, sql},
    };
    use std::{
        io::{BufRead, BufReader, Write},
        path::Path,
        process::{Child, ChildStdin, Command, Stdio},
        sync::mpsc::{Receiver, RecvTimeoutError, channel},
        thread,
        time::Duration,
    };

    /// Longer than the first few times that TCP sends something again.
    const SILENCE: Duration = Duration::from_millis(1500);

    /// TCP waits about twice as long each time before it sends again.
    const LIMIT: Duration = Duration::from_secs(15);

    /// How often the cable is cut under a holder.
    const CUTS: usize = 2;

    struct Setup {
        namespace: Namespace,
        server: Postgres,
        url: String,
    }

    fn setup() -> Result<Setup, Failed> {
        let namespace = Namespace::start()?;
        let server = Postgres::start(Settings::new().listen(namespace.outside()))?;
        let url = server.url_at(&namespace.outside().to_string(), server.port());
        Ok(Setup {
            namespace,
            server,
            url,
        })
    }

    impl Setup {
        /// `psql` in the network, with what it is told.
        fn psql(&self, text: &str) -> Result<Command, Failed> {
            let psql = psql(&self.url, text)?;
            let mut inside = self.namespace.command(psql.get_program());
            inside.args(psql.get_args());
            Ok(inside)
        }
    }

    /// A session in the network that is told line by line what to ask.
    struct Session {
        child: Child,
        orders: ChildStdin,
        answers: Receiver<String>,
    }

    impl Session {
        fn start(setup: &Setup) -> Result<Self, Failed> {
            // Without `-c` and its text it reads what it is told.
            let psql = setup.psql("")?;
            let args: Vec<_> = psql.get_args().collect();
            let mut child = Command::new(psql.get_program())
                .args(&args[..args.len() - 2])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let orders = child.stdin.take().ok_or("no pipe")?;
            let lines = BufReader::new(child.stdout.take().ok_or("no pipe")?).lines();
            let (sender, answers) = channel();
            thread::spawn(move || {
                lines
                    .map_while(Result::ok)
                    .try_for_each(|line| sender.send(line))
            });
            Ok(Self {
                child,
                orders,
                answers,
            })
        }

        fn ask(&mut self, order: &str) -> Result<(), Failed> {
            Ok(writeln!(self.orders, "{order}")?)
        }
    }

    /// It would wait for the server for a quarter of an hour.
    impl Drop for Session {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    pub(super) fn established() -> Result<(), Failed> {
        let setup = setup()?;
        let mut session = Session::start(&setup)?;
        let silent = |why| match why {
            RecvTimeoutError::Timeout => format!("an answer: not within {LIMIT:?}"),
            RecvTimeoutError::Disconnected => "it has ended without an answer".to_owned(),
        };
        session.ask("select 'before';")?;
        let answer = session.answers.recv_timeout(LIMIT).map_err(silent)?;
        assert_eq!(answer, "before");
        let logged = setup.server.log();
        setup.namespace.cut()?;
        session.ask("select 'meanwhile';")?;
        assert!(session.answers.recv_timeout(SILENCE).is_err());
        assert!(session.child.try_wait()?.is_none());
        // The server has not noticed anything either.
        let from = setup.namespace.inside();
        let sessions =
            format!("select count(*) from pg_stat_activity where client_addr = '{from}'");
        assert_eq!(setup.server.sql(&sessions)?, "1");
        assert_eq!(setup.server.log(), logged);
        setup.namespace.heal()?;
        let answer = session.answers.recv_timeout(LIMIT).map_err(silent)?;
        assert_eq!(answer, "meanwhile");
        Ok(())
    }

    pub(super) fn connecting() -> Result<(), Failed> {
        let setup = setup()?;
        assert_eq!(sql(&setup.url, "select 1")?, "1");
        setup.namespace.cut()?;
        let mut psql = setup.psql("select 1")?;
        let ended = psql.env("PGCONNECT_TIMEOUT", "2").output()?;
        let words = String::from_utf8_lossy(&ended.stderr);
        assert!(words.contains("timeout expired"), "{words}");
        setup.namespace.heal()?;
        assert!(setup.psql("select 1")?.output()?.status.success());
        Ok(())
    }

    /// After a cut the server must free what it cannot know to be lost, and the holder must know.
    pub(super) fn holding() -> Result<(), Failed> {
        let setup = setup()?;
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(async {
            let locks = lockwork::connect(&setup.server.url()).await?;
            let inside = |program: &Path| {
                let command = setup.namespace.command(program);
                tokio::process::Command::from(command)
            };
            let program = Path::new(env!("CARGO_BIN_EXE_taker"));
            let url = format!("{}?sslmode=disable", setup.url);
            let mut other = Taker::start_as(inside(program), &url).await;
            let mut slowest = Duration::ZERO;
            for _ in 0..CUTS {
                let token = other.lock("x").await;
                let next = locks.mutex("x");
                other.watch_loss().await;
                setup.namespace.cut()?;
                let cut = Instant::now();
                let limit = Duration::from_secs(7);
                let guard = within(limit, "the next one gets in", next.lock()).await?;
                let took = cut.elapsed();
                slowest = slowest.max(took);
                assert!(guard.token() > token);
                // It cannot talk to the server, but it can to us.
                let off = other.off().await.saturating_duration_since(cut);
                assert!(off < took, "off after {off:?}, replaced after {took:?}");
                println!("cut off, the guard was off after {off:?}, replaced after {took:?}");
                guard.release().await?;
                setup.namespace.heal()?;
            }
            println!("{CUTS} of {CUTS} replaced within 7 s, the slowest after {slowest:?}");
            Ok(())
        })
    }
}
