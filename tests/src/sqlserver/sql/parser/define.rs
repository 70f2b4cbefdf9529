//! CREATE, ALTER and DROP.

use super::Parser;
use crate::sqlserver::sql::{
    Message,
    ast::{Definition, Kind, SequenceOptions},
    lexer,
};

impl Parser {
    pub(super) fn define(&mut self) -> Result<Kind, Message> {
        if self.accept("CREATE") {
            return self.create();
        }
        if self.accept("ALTER") {
            return self.alter().map(Kind::Define);
        }
        self.expect("DROP")?;
        self.remove()
    }

    fn create(&mut self) -> Result<Kind, Message> {
        if self.accept("TABLE") {
            return self.create_table();
        }
        let definition = if self.is("SCHEMA") {
            self.create_schema()?
        } else if self.accept("SEQUENCE") {
            Definition::CreateSequence(self.object()?, self.sequence_options()?)
        } else if self.accept("DATABASE") {
            Definition::CreateDatabase(self.name()?)
        } else if self.accept("LOGIN") {
            self.create_login()?
        } else if self.accept("USER") {
            self.create_user()?
        } else if self.accept("ROLE") {
            let name = self.name()?;
            if self.accept("AUTHORIZATION") {
                self.name()?;
            }
            Definition::CreateRole(name)
        } else {
            return Err(self.unexpected());
        };
        Ok(Kind::Define(definition))
    }

    /// A schema is made by the first statement of a batch, and not inside of another.
    fn create_schema(&mut self) -> Result<Definition, Message> {
        if self.depth > 1 {
            return Err(self.unexpected());
        }
        if self.at > 1 {
            let text = "'CREATE SCHEMA' must be the first statement in a query batch.";
            return Err(Message::new(111, 15, 1, text).at(self.line()));
        }
        self.bump();
        let name = match self.accept("AUTHORIZATION") {
            true => return Ok(Definition::CreateSchema(self.name()?)),
            false => self.name()?,
        };
        if self.accept("AUTHORIZATION") {
            self.name()?;
        }
        Ok(Definition::CreateSchema(name))
    }

    fn create_login(&mut self) -> Result<Definition, Message> {
        let name = self.name()?;
        self.expect("WITH")?;
        self.expect("PASSWORD")?;
        self.expect_symbol("=")?;
        let password = self.literal()?;
        let mut database = None;
        while self.accept_symbol(",") {
            let option = self.name()?;
            self.expect_symbol("=")?;
            if option.eq_ignore_ascii_case("DEFAULT_DATABASE") {
                database = Some(self.name()?);
            } else if option.to_ascii_uppercase().starts_with("CHECK_") {
                if !self.accept("ON") {
                    self.expect("OFF")?;
                }
            } else {
                return Err(self.unexpected());
            }
        }
        Ok(Definition::CreateLogin {
            name,
            password,
            database,
        })
    }

    fn create_user(&mut self) -> Result<Definition, Message> {
        let name = self.name()?;
        if self.accept_all(&["WITHOUT", "LOGIN"]) {
            return Ok(Definition::CreateUser { name, login: None });
        }
        let mut login = name.clone();
        if self.accept("FOR") || self.accept("FROM") {
            self.expect("LOGIN")?;
            login = self.name()?;
        }
        if self.accept("WITH") {
            self.expect("DEFAULT_SCHEMA")?;
            self.expect_symbol("=")?;
            self.name()?;
        }
        let login = Some(login);
        Ok(Definition::CreateUser { name, login })
    }

    fn alter(&mut self) -> Result<Definition, Message> {
        if self.accept("SEQUENCE") {
            return Ok(Definition::AlterSequence(
                self.object()?,
                self.sequence_options()?,
            ));
        }
        if self.accept("DATABASE") {
            return self.alter_database();
        }
        if self.accept("LOGIN") {
            return self.alter_login();
        }
        let server = self.accept("SERVER");
        self.expect("ROLE")?;
        let role = self.name()?;
        let add = self.accept("ADD");
        if !add {
            self.expect("DROP")?;
        }
        self.expect("MEMBER")?;
        let member = self.name()?;
        Ok(Definition::Member {
            role,
            member,
            add,
            server,
        })
    }

    fn alter_database(&mut self) -> Result<Definition, Message> {
        let database = match self.accept("CURRENT") {
            true => None,
            false => Some(self.name()?),
        };
        self.expect("SET")?;
        let read_only = self.accept("READ_ONLY");
        if !read_only {
            self.expect("READ_WRITE")?;
        }
        if self.accept("WITH") && !self.accept("NO_WAIT") {
            self.expect("ROLLBACK")?;
            self.expect("IMMEDIATE")?;
        }
        Ok(Definition::ReadOnly {
            database,
            read_only,
        })
    }

    fn alter_login(&mut self) -> Result<Definition, Message> {
        let name = self.name()?;
        let (mut password, mut enabled) = (None, None);
        if self.accept("ENABLE") {
            enabled = Some(true);
        } else if self.accept("DISABLE") {
            enabled = Some(false);
        } else {
            self.expect("WITH")?;
            self.expect("PASSWORD")?;
            self.expect_symbol("=")?;
            password = Some(self.literal()?);
        }
        Ok(Definition::AlterLogin {
            name,
            password,
            enabled,
        })
    }

    fn remove(&mut self) -> Result<Kind, Message> {
        if self.accept("TABLE") {
            return self.drop_table();
        }
        self.remove_definition().map(Kind::Define)
    }

    fn remove_definition(&mut self) -> Result<Definition, Message> {
        let lexer::Kind::Word(what) = self.bump() else {
            self.at = self.at.saturating_sub(1);
            return Err(self.unexpected());
        };
        let what = what.to_ascii_uppercase();
        if !["SCHEMA", "SEQUENCE", "DATABASE", "USER", "ROLE", "LOGIN"].contains(&what.as_str()) {
            self.at = self.at.saturating_sub(1);
            return Err(self.unexpected());
        }
        let if_exists = what != "LOGIN" && self.if_exists()?;
        if what == "SEQUENCE" {
            let mut names = vec![self.object()?];
            while self.accept_symbol(",") {
                names.push(self.object()?);
            }
            return Ok(Definition::DropSequence { names, if_exists });
        }
        let name = self.name()?;
        Ok(match what.as_str() {
            "SCHEMA" => Definition::DropSchema { name, if_exists },
            "DATABASE" => Definition::DropDatabase { name, if_exists },
            "USER" => Definition::DropUser { name, if_exists },
            "ROLE" => Definition::DropRole { name, if_exists },
            _ => Definition::DropLogin(name),
        })
    }

    pub(super) fn if_exists(&mut self) -> Result<bool, Message> {
        let found = self.accept("IF");
        if found {
            self.expect("EXISTS")?;
        }
        Ok(found)
    }

    fn sequence_options(&mut self) -> Result<SequenceOptions, Message> {
        let mut options = SequenceOptions::default();
        loop {
            if self.accept("AS") {
                options.kind = Some(self.type_name()?);
            } else if self.accept("START") {
                self.expect("WITH")?;
                options.start = Some(self.whole()?);
            } else if self.accept("RESTART") {
                let value = match self.accept("WITH") {
                    true => Some(self.whole()?),
                    false => None,
                };
                options.restart = Some(value);
            } else if self.accept("INCREMENT") {
                self.expect("BY")?;
                options.increment = Some(self.whole()?);
            } else if self.accept("MINVALUE") {
                options.minimum = Some(Some(self.whole()?));
            } else if self.accept("MAXVALUE") {
                options.maximum = Some(Some(self.whole()?));
            } else if self.accept("CYCLE") {
                options.cycle = Some(true);
            } else if self.accept("CACHE") {
                if matches!(self.peek(), lexer::Kind::Integer(_)) {
                    self.whole()?;
                }
            } else if self.accept("NO") {
                self.sequence_without(&mut options)?;
            } else {
                return Ok(options);
            }
        }
    }

    fn sequence_without(&mut self, options: &mut SequenceOptions) -> Result<(), Message> {
        if self.accept("MINVALUE") {
            options.minimum = Some(None);
        } else if self.accept("MAXVALUE") {
            options.maximum = Some(None);
        } else if self.accept("CYCLE") {
            options.cycle = Some(false);
        } else {
            self.expect("CACHE")?;
        }
        Ok(())
    }
}
