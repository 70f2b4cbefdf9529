//! Who we are to Entra ID.

use crate::{errors, transport};
use azure_core::{
    credentials::{Secret, TokenCredential},
    http::ClientOptions,
};
use azure_identity::{
    ClientAssertionCredentialOptions, ClientSecretCredential, ClientSecretCredentialOptions,
    DeveloperToolsCredential, ManagedIdentityCredential, ManagedIdentityCredentialOptions,
    WorkloadIdentityCredential, WorkloadIdentityCredentialOptions,
};
use lockwork_core::lock::{Error, Result};
use std::{str::FromStr, sync::Arc};

/// Where a token of Entra ID comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Identity {
    /// A workload identity if `AZURE_FEDERATED_TOKEN_FILE` is set, an application if
    /// `AZURE_CLIENT_SECRET` is, a managed identity if `IDENTITY_ENDPOINT` is, otherwise whoever is logged in
    /// by a developer's tools.
    #[default]
    Auto,
    /// The identity of this machine or service (`managed`).
    Managed,
    /// That of a pod in Kubernetes (`workload`).
    Workload,
    /// An application: `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_CLIENT_SECRET` (`app`).
    App,
    /// Whoever is logged in by `az login` or `azd auth login` (`cli`).
    Cli,
}

impl FromStr for Identity {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(match text {
            "auto" => Self::Auto,
            "managed" => Self::Managed,
            "workload" => Self::Workload,
            "app" => Self::App,
            "cli" => Self::Cli,
            _ => return Err(()),
        })
    }
}

impl Identity {
    fn chosen(self) -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some();
        match self {
            Self::Auto if is_set("AZURE_FEDERATED_TOKEN_FILE") => Self::Workload,
            Self::Auto if is_set("AZURE_CLIENT_SECRET") => Self::App,
            Self::Auto if is_set("IDENTITY_ENDPOINT") => Self::Managed,
            Self::Auto => Self::Cli,
            other => other,
        }
    }

    pub(crate) fn credential(self) -> Result<Arc<dyn TokenCredential>> {
        let made: azure_core::Result<Arc<dyn TokenCredential>> = match self.chosen() {
            Self::Managed => managed(transport::options()?).map(|made| made as _),
            Self::Workload => workload(transport::options()?).map(|made| made as _),
            Self::App => app(transport::options()?).map(|made| made as _),
            Self::Auto | Self::Cli => DeveloperToolsCredential::new(None).map(|made| made as _),
        };
        made.map_err(|error| without_identity(&error))
    }
}

fn managed(client_options: ClientOptions) -> azure_core::Result<Arc<ManagedIdentityCredential>> {
    ManagedIdentityCredential::new(Some(ManagedIdentityCredentialOptions {
        client_options,
        ..ManagedIdentityCredentialOptions::default()
    }))
}

fn workload(client_options: ClientOptions) -> azure_core::Result<Arc<WorkloadIdentityCredential>> {
    let credential_options = ClientAssertionCredentialOptions { client_options };
    WorkloadIdentityCredential::new(Some(WorkloadIdentityCredentialOptions {
        credential_options,
        ..WorkloadIdentityCredentialOptions::default()
    }))
}

fn app(client_options: ClientOptions) -> azure_core::Result<Arc<ClientSecretCredential>> {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    ClientSecretCredential::new(
        &variable("AZURE_TENANT_ID"),
        variable("AZURE_CLIENT_ID"),
        Secret::new(variable("AZURE_CLIENT_SECRET")),
        Some(ClientSecretCredentialOptions { client_options }),
    )
}

fn without_identity(error: &azure_core::Error) -> Error {
    let kind = azure_core::error::ErrorKind::Credential;
    errors::unanswered(&azure_core::Error::with_message(
        kind,
        error.kind().to_string(),
    ))
}
