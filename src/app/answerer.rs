//! Who answers: from the settings, the environment and the stored keys to one provider and its model.

use super::{App, AppError, keys};
use crate::agent::Answerer;
use crate::config::{Config, Origin};
use crate::provider::{
    Figures, KeyNeed, KeySource, Live, LiveSettings, Offline, Preset, Provider, Record, Replay,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

impl App {
    /// The provider that the settings name, or the first whose key is in the environment or was stored, or the offline
    /// one.
    /// `name` and `model` overrule the settings. Opens no connection.
    pub fn answerer(&self, name: Option<&str>, model: Option<&str>) -> Result<Answerer, AppError> {
        if let Some(path) = &self.request.replay {
            let replay = Replay::open(path).map_err(|e| file_error(path, e))?;
            let recorded = model.map(String::from).or_else(|| replay.model());
            let model = recorded.unwrap_or_else(|| "replay".into());
            return Ok(self.offline_like(Arc::new(replay), &model, None));
        }
        let named = name.or_else(|| self.config.text("provider")).map(String::from);
        let chosen = named
            .or_else(keys::first_in_environment)
            .or_else(|| keys::first_in_file(&self.paths.keys_file()));
        let answerer = match chosen.as_deref() {
            Some("offline") => self.offline_like(Arc::new(Offline::new()), "offline", None),
            None => {
                let note = "no provider is configured: the built-in offline one answers plain requests (`help` lists them). \
                            To add a model, set ANTHROPIC_API_KEY or OPENAI_API_KEY, or see `placet config init`";
                self.offline_like(Arc::new(Offline::new()), "offline", Some(note.into()))
            }
            Some(chosen) => self.remote(chosen, model)?,
        };
        match &self.request.record {
            None => Ok(answerer),
            Some(path) => {
                let record =
                    Record::create(path, Arc::clone(&answerer.provider)).map_err(|e| file_error(path, e))?;
                Ok(Answerer { provider: Arc::new(record), ..answerer })
            }
        }
    }

    fn offline_like(&self, provider: Arc<dyn Provider>, model: &str, note: Option<String>) -> Answerer {
        let figures = Figures { window: 1_000_000, max_output: 64_000, vision: true };
        Answerer { provider, model: figures.model(model), max_output: figures.max_output, note }
    }

    /// Refuses a name that is neither built in nor in the settings, with the one that was meant.
    pub fn known_provider(&self, name: &str) -> Result<(), AppError> {
        let known = Preset::of(name).is_some() || self.own_provider(name).is_some();
        if known { Ok(()) } else { Err(unknown_provider(name, &self.config)) }
    }

    fn remote(&self, name: &str, model: Option<&str>) -> Result<Answerer, AppError> {
        let own = self.own_provider(name);
        let preset = match &own {
            Some(own) => own.preset,
            None => Preset::of(name).ok_or_else(|| unknown_provider(name, &self.config))?,
        };
        let own_url = own.as_ref().and_then(|o| o.base_url.clone());
        let url = self
            .config
            .text("base_url")
            .map(String::from)
            .or(own_url)
            .unwrap_or_else(|| preset.base_url.into());
        let own_model = own.as_ref().and_then(|o| o.model.clone());
        let model = model
            .or_else(|| self.config.text("model"))
            .map(String::from)
            .or(own_model)
            .or_else(|| preset.default_model.map(String::from))
            .ok_or_else(|| AppError::Model(name.into()))?;
        let figures = self.figures(&model);
        let key = self.key(name, preset, own.as_ref())?;
        let mut settings = LiveSettings { silence_limit: preset.silence_limit, ..LiveSettings::default() };
        if self.config.origin("network.silence_seconds") != Some(&Origin::Default) {
            settings.silence_limit =
                Duration::from_secs(self.config.number("network.silence_seconds").unwrap_or(180).max(1));
        }
        if let Some(attempts) = self.config.number("network.attempts") {
            settings.retry.attempts = u32::try_from(attempts.clamp(1, 20)).unwrap_or(5);
        }
        let live = Live::new(name, preset.wire.dialect(), preset.endpoint_at(&url), key, settings);
        let max_output = self.config.number("max_output_tokens").unwrap_or(figures.max_output.min(32_000));
        Ok(Answerer { provider: Arc::new(live), model: figures.model(model), max_output, note: None })
    }

    fn figures(&self, model: &str) -> Figures {
        let mut figures = Figures::of(model);
        figures.window = self.config.number("context_window").unwrap_or(figures.window);
        figures.vision = self.config.flag("vision").unwrap_or(figures.vision);
        figures
    }

    fn key(&self, name: &str, preset: &Preset, own: Option<&Own>) -> Result<KeySource, AppError> {
        let command = own
            .and_then(|o| o.key_command.clone())
            .or_else(|| self.config.text("api_key_command").map(String::from));
        if let Some(command) = command {
            return Ok(KeySource::command(command));
        }
        // A key belongs to its server: one of the person's own never gets that of the preset it is modelled on.
        let variable = match own {
            Some(own) if preset.name != name => own.key_env.clone(),
            own => own.and_then(|o| o.key_env.clone()).or_else(|| Some(preset.key_variable.into())),
        };
        if let Some(key) = variable.as_deref().and_then(keys::from_environment) {
            return Ok(key);
        }
        if let Some(key) = keys::from_file(&self.paths.keys_file(), name)? {
            return Ok(key);
        }
        let asked_for = own.is_some_and(|o| o.key_env.is_some());
        Ok(match variable {
            Some(variable) if asked_for || preset.key == KeyNeed::Required => KeySource::Missing { variable },
            _ => KeySource::None,
        })
    }

    /// A provider from `[providers.NAME]`.
    fn own_provider(&self, name: &str) -> Option<Own> {
        if !self.config.names_below("providers").iter().any(|n| n == name) {
            return None;
        }
        let text = |key: &str| self.config.text(&format!("providers.{name}.{key}")).map(String::from);
        let preset = match (Preset::of(name), text("dialect").as_deref()) {
            (Some(known), None) => known,
            (_, Some("anthropic")) => Preset::of("anthropic")?,
            _ => Preset::of("openai-compatible")?,
        };
        Some(Own {
            preset,
            base_url: text("base_url"),
            key_env: text("key_env"),
            key_command: text("api_key_command"),
            model: text("model"),
        })
    }
}

struct Own {
    preset: &'static Preset,
    base_url: Option<String>,
    key_env: Option<String>,
    key_command: Option<String>,
    model: Option<String>,
}

fn unknown_provider(name: &str, config: &Config) -> AppError {
    let own = config.names_below("providers");
    let known = Preset::all().iter().map(|p| p.name).chain(["offline"]).chain(own.iter().map(String::as_str));
    let near = crate::text::nearest(name, known).map(String::from);
    AppError::Provider { name: name.into(), near }
}

fn file_error(path: &Path, error: impl std::fmt::Display) -> AppError {
    AppError::File { path: path.into(), reason: error.to_string() }
}
