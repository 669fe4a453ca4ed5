//! The search engine of the settings. Nothing is connected here, and no command for a key runs.

use super::keys;
use crate::config::{Config, ConfigProblem};
use crate::http::HttpClientSettings;
use crate::provider::ApiKeySource;
use crate::tools::{SearchEngine, SearchSetupError};

/// `None` where no engine is configured.
pub(super) fn engine(
    config: &Config,
    client: HttpClientSettings,
) -> Option<Result<SearchEngine, SearchSetupError>> {
    let settings = &config.settings().search;
    let engine = settings.engine.as_deref()?;
    let key = match (&settings.key_command, &settings.key_env) {
        (Some(command), _) => ApiKeySource::command(command),
        (None, Some(variable)) => from_variable(variable),
        // A server of the person's own never gets the key of another.
        (None, None) if settings.url.is_some() => ApiKeySource::None,
        (None, None) => SearchEngine::usual_variable(engine).map_or(ApiKeySource::None, from_variable),
    };
    let place = (settings.url.as_deref(), settings.model.as_deref());
    Some(SearchEngine::new(engine, place, key, settings.results, client))
}

fn from_variable(variable: &str) -> ApiKeySource {
    let missing = || ApiKeySource::Missing { variable: variable.into() };
    keys::from_environment(variable).unwrap_or_else(missing)
}

/// True if the model gets the tool. An engine that cannot be used is reported.
pub(super) fn is_usable(config: &mut Config) -> bool {
    match engine(config, HttpClientSettings::default()) {
        None => false,
        Some(Ok(_)) => true,
        Some(Err(error)) => {
            config.problems.push(ConfigProblem {
                place: None,
                message: format!("{error}; the model has no search_web"),
                hint: None,
                permission: false,
            });
            false
        }
    }
}
