//! One database: its schemas, sequences, tables, users and roles.

use super::{
    rights::{Grant, Grantee},
    same,
    sequence::Sequence,
    table::Table,
};

/// The role everybody is in.
pub(crate) const PUBLIC: i32 = 0;
/// The owner.
pub(crate) const DBO: i32 = 1;
/// Who has no user of their own, in the databases of the system.
pub(crate) const GUEST: i32 = 2;
/// The role that may do everything.
pub(crate) const DB_OWNER: i32 = 16384;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrincipalKind {
    User,
    Role,
}

/// A user or a role.
#[derive(Debug)]
pub(crate) struct Principal {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) kind: PrincipalKind,
    pub(crate) login: Option<String>,
}

impl Principal {
    /// Whether it is there from the beginning, and stays.
    pub(crate) const fn is_fixed(&self) -> bool {
        matches!(self.id, PUBLIC | DBO | GUEST | DB_OWNER)
    }
}

#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) id: i32,
    pub(crate) name: String,
}

#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) read_only: bool,
    pub(crate) schemas: Vec<Schema>,
    pub(crate) sequences: Vec<Sequence>,
    pub(crate) tables: Vec<Table>,
    pub(crate) principals: Vec<Principal>,
    /// Roles and their members.
    pub(crate) members: Vec<(i32, i32)>,
    pub(crate) rights: Vec<Grant>,
}

impl Database {
    pub(crate) fn new(id: i32, name: &str) -> Self {
        let principal = |id, name: &str, kind| Principal {
            id,
            name: name.into(),
            kind,
            login: None,
        };
        let schema = |id, name: &str| Schema {
            id,
            name: name.into(),
        };
        Self {
            id,
            name: name.into(),
            read_only: false,
            schemas: vec![schema(1, "dbo"), schema(2, "guest"), schema(4, "sys")],
            sequences: Vec::new(),
            tables: Vec::new(),
            principals: vec![
                principal(PUBLIC, "public", PrincipalKind::Role),
                principal(DBO, "dbo", PrincipalKind::User),
                principal(GUEST, "guest", PrincipalKind::User),
                principal(DB_OWNER, "db_owner", PrincipalKind::Role),
            ],
            members: vec![(DB_OWNER, DBO)],
            rights: Vec::new(),
        }
    }

    pub(crate) fn add_schema(&mut self, id: i32, name: &str) {
        let name = name.into();
        self.schemas.push(Schema { id, name });
    }

    pub(crate) fn add_principal(&mut self, principal: Principal) {
        self.principals.push(principal);
    }

    /// Removes a user or a role, its memberships and its rights.
    pub(crate) fn forget(&mut self, id: i32) {
        self.principals.retain(|it| it.id != id);
        self.members
            .retain(|(role, member)| *role != id && *member != id);
        self.rights.retain(|it| it.to != Grantee::Principal(id));
    }

    pub(crate) const fn is_system(&self) -> bool {
        self.id <= 4
    }

    pub(crate) fn schema(&self, name: &str) -> Option<&Schema> {
        self.schemas.iter().find(|it| same(&it.name, name))
    }

    pub(crate) fn principal(&self, name: &str) -> Option<&Principal> {
        self.principals.iter().find(|it| same(&it.name, name))
    }

    pub(crate) fn principal_by_id(&self, id: i32) -> Option<&Principal> {
        self.principals.iter().find(|it| it.id == id)
    }

    pub(crate) fn sequence(&self, schema: &str, name: &str) -> Option<&Sequence> {
        let schema = self.schema(schema)?.id;
        let mut all = self.sequences.iter();
        all.find(|it| it.schema == schema && same(&it.name, name))
    }

    pub(crate) fn sequence_mut(&mut self, schema: &str, name: &str) -> Option<&mut Sequence> {
        let schema = self.schema(schema)?.id;
        let mut all = self.sequences.iter_mut();
        all.find(|it| it.schema == schema && same(&it.name, name))
    }

    pub(crate) fn table(&self, schema: &str, name: &str) -> Option<&Table> {
        let schema = self.schema(schema)?.id;
        let mut all = self.tables.iter();
        all.find(|it| it.schema == schema && same(&it.name, name))
    }

    pub(crate) fn table_mut(&mut self, schema: &str, name: &str) -> Option<&mut Table> {
        let schema = self.schema(schema)?.id;
        let mut all = self.tables.iter_mut();
        all.find(|it| it.schema == schema && same(&it.name, name))
    }

    /// The number of an object of any kind.
    pub(crate) fn object_id(&self, schema: &str, name: &str) -> Option<i32> {
        let sequence = self.sequence(schema, name).map(|it| it.id);
        sequence.or_else(|| self.table(schema, name).map(|it| it.id))
    }

    /// All that a principal is: itself, its roles, and everybody.
    pub(crate) fn roles(&self, principal: i32) -> Vec<i32> {
        let mut all = vec![principal];
        let mut place = 0;
        while let Some(&member) = all.get(place) {
            for (role, _) in self.members.iter().filter(|(_, it)| *it == member) {
                if !all.contains(role) {
                    all.push(*role);
                }
            }
            place += 1;
        }
        if !all.contains(&PUBLIC) {
            all.push(PUBLIC);
        }
        all
    }

    pub(crate) fn is_owner(&self, principal: i32) -> bool {
        principal == DBO || self.roles(principal).contains(&DB_OWNER)
    }
}
