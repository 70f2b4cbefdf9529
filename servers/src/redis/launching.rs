//! What a server of a test is told before it starts, and its start.

use std::fs;
use std::path::Path;

use crate::port;
use crate::problem::{Outcome, unusable};
use crate::server;

use super::setup::{self, setting};
use super::{Redis, client};

impl Redis {
    /// Writes its files. That is done once: what it, or a sentinel, writes
    /// into its configuration later is still there when it starts again.
    pub(super) fn set_up(&mut self) -> Outcome {
        let mut settings = Vec::new();
        if self.settings.cluster {
            settings.extend(setup::node(&self.site)?);
        }
        settings.extend(self.encryption()?);
        if !self.settings.acl.is_empty() {
            let file = self.site.write("users.acl", &self.users())?;
            settings.push(setting("aclfile", &setup::path(&file)));
        }
        settings.extend(self.settings.set.iter().cloned());
        setup::configure(&self.site, &settings).map(drop)
    }

    pub(super) fn launch(&self) -> Outcome {
        let mut command = setup::command_of(&self.program, &self.site);
        if self.settings.sentinel {
            command.arg("--sentinel");
        }
        let pairs = self.settings.env.iter();
        command.envs(pairs.map(|(key, value)| (key, value)));
        let address = self.address();
        let ready = || setup::answers(&address);
        let (child, _) = server::start_child_until(self.kind(), &self.site, command, ready)?;
        *self.child() = Some(child);
        Ok(())
    }

    fn users(&self) -> String {
        let lines = self.settings.acl.iter().map(|line| format!("{line}\n"));
        lines.collect::<String>() + client::CARETAKER_LINE + "\n"
    }

    fn encryption(&mut self) -> Outcome<Vec<(String, String)>> {
        let Some((certificate, key)) = self.settings.tls.clone() else {
            return Ok(Vec::new());
        };
        let mut settings = vec![
            setting("tls-cert-file", &self.copy(&certificate, "server.crt")?),
            setting("tls-key-file", &self.copy(&key, "server.key")?),
        ];
        match self.settings.client_authority.clone() {
            Some(authority) => {
                let authority = self.copy(&authority, "authority.crt")?;
                settings.push(setting("tls-ca-cert-file", &authority));
            }
            None => settings.push(setting("tls-auth-clients", "no")),
        }
        let tls_port = if self.settings.without_plain {
            settings.push(setting("port", "0"));
            // Its own keeper asks it there, who speaks no TLS.
            settings.push(setting("unixsocket", &setup::path(&self.socket())));
            self.site.port
        } else {
            *self.tls_port.insert(port::keep_or_choose(None)?)
        };
        settings.push(setting("tls-port", &tls_port.to_string()));
        Ok(settings)
    }

    fn copy(&self, from: &Path, name: &str) -> Outcome<String> {
        let text = fs::read_to_string(from).map_err(|error| unusable(from, &error))?;
        Ok(setup::path(&self.site.write(name, &text)?))
    }
}
