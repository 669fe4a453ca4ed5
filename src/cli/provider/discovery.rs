//! Which servers run on this machine: they are asked for their models at their usual ports, or at those of the settings.

use crate::app::configured_provider::{self, ConfiguredProvider};
use crate::app::model_selection::KeyStatus;
use crate::app::{App, AppError};
use crate::http::is_local;
use crate::provider::{ProviderError, ProviderPreset, ServerLocation};
use std::time::Duration;

/// How long a server on this machine may take to say that it is there.
const NEAR: Duration = Duration::from_secs(2);

/// The models of a server on this machine. `None` if it is another machine's, or has no address.
pub(super) async fn models(
    app: &App,
    server: &ConfiguredProvider,
) -> Option<Result<Vec<String>, ProviderError>> {
    match server.preset.place {
        ServerLocation::Local => Some(app.live(server).ok()?.models(NEAR).await),
        ServerLocation::Remote => None,
    }
}

/// The servers that answer on this machine, by name, with how many models each has.
pub(in crate::cli) async fn running(app: &App) -> Result<Vec<(String, usize)>, AppError> {
    let mut names = app.config.provider_names();
    let builtin = ProviderPreset::all().iter().map(|preset| preset.name.clone());
    names.extend(builtin.filter(|name| !app.config.provider_names().contains(name)));
    let servers: Result<Vec<_>, _> =
        names.iter().map(|name| configured_provider::of(&app.config, name)).collect();
    // No command for a key runs, and no key is sent, before the person has chosen.
    let is_open = |server: &ConfiguredProvider| {
        is_local(&server.preset.base_url) && app.key_standing(server).0 == KeyStatus::Unneeded
    };
    let asking = servers?.into_iter().filter(is_open).map(|server| async move {
        let found = models(app, &server).await?.ok()?;
        Some((server.name, found.len()))
    });
    Ok(futures_util::future::join_all(asking).await.into_iter().flatten().collect())
}
