//! Which provider and model answer: chosen from the settings, the environment and the stored keys.

use super::configured_provider::ConfiguredProvider;
use super::{App, AppError, keys};
use crate::agent::SelectedModel;
use crate::config::Config;
use crate::http::{HttpClientSettings, is_local};
use crate::provider::{
    AnswerLimits, ApiKeyRequirement, ApiKeySource, FallbackEntry, FallbackProvider, HttpProvider,
    HttpProviderSettings, ModelLimits, ModelSpec, OfflineProvider, Provider, ProviderPreset,
    RecordingProvider, ReplayProvider, ToolForm, WireFormatKind, catalog,
};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

enum CurrentConfig<'a> {
    First(&'a Config),
    Reread(Arc<Config>),
}

impl Deref for CurrentConfig<'_> {
    type Target = Config;

    fn deref(&self) -> &Config {
        match self {
            CurrentConfig::First(config) => config,
            CurrentConfig::Reread(config) => config,
        }
    }
}

impl App {
    /// The provider that the settings name, or the first provider whose key is in the environment or was stored, or the
    /// offline provider. `name` and `model` override the settings. Opens no connection.
    pub fn answerer(&self, name: Option<&str>, model: Option<&str>) -> Result<SelectedModel, AppError> {
        self.answerer_or(OfflineProvider::new(), name, model)
    }

    /// The same with this provider where none is named.
    pub(super) fn answerer_or(
        &self,
        offline: OfflineProvider,
        name: Option<&str>,
        model: Option<&str>,
    ) -> Result<SelectedModel, AppError> {
        if let Some(path) = &self.request.replay {
            let replay = ReplayProvider::open(path).map_err(|e| file_error(path, e))?;
            let recorded = model.map(String::from).or_else(|| replay.model());
            let model = recorded.unwrap_or_else(|| "replay".into());
            return Ok(self.offline_like(Arc::new(replay), &model, None));
        }
        let chosen = name.map(String::from).or_else(|| self.chosen());
        let answerer = match chosen.as_deref() {
            Some("offline") => self.offline_like(Arc::new(offline), "offline", None),
            None => {
                let note = "no provider is configured, so the built-in offline provider answers: `placet setup` adds a model, `help` lists what works without one";
                self.offline_like(Arc::new(offline), "offline", Some(note.into()))
            }
            Some(chosen) => self.remote(chosen, model)?,
        };
        match &self.request.record {
            None => Ok(answerer),
            Some(path) => {
                let record = RecordingProvider::create(path, Arc::clone(&answerer.provider))
                    .map_err(|e| file_error(path, e))?;
                Ok(SelectedModel { provider: Arc::new(record), ..answerer })
            }
        }
    }

    /// The settings that choose the provider: as read at the start, or as read again later.
    fn provider_config(&self) -> CurrentConfig<'_> {
        let reread = self.reread_config.read().unwrap_or_else(PoisonError::into_inner);
        reread.clone().map_or(CurrentConfig::First(&self.config), CurrentConfig::Reread)
    }

    /// Reads the settings that choose the provider again. A flag that names a provider no longer counts: the file is
    /// newer.
    pub(super) fn reread_provider(&self) {
        let (mut sources, _) = super::sources(&self.paths, self.cwd(), self.request.project);
        sources.flags = self.request.flags.clone();
        let answers = ["provider", "model", "base_url"];
        sources.flags.values.retain(|(name, ..)| !answers.contains(&name.as_str()));
        let config = Arc::new(Config::merge(sources));
        *self.reread_config.write().unwrap_or_else(PoisonError::into_inner) = Some(config);
        self.gate.secrets.add_known(super::interceptors::stored_keys(&self.paths));
    }

    /// The provider without `name`; `None` is the offline provider.
    pub fn chosen(&self) -> Option<String> {
        let named = self.provider_config().settings().conversation.provider.clone();
        named.or_else(keys::first_in_environment).or_else(|| keys::first_in_file(&self.paths.keys_file()))
    }

    /// Where the key of a server is found, as text.
    pub fn key_standing(&self, server: &ConfiguredProvider) -> (KeyStatus, String) {
        let own = self.provider_config().provider(&server.name);
        let builtin = ProviderPreset::of(&server.name).map(|preset| preset.key_variable.as_str());
        let variable = own.key_env.as_deref().or(builtin);
        let config = self.provider_config();
        let command =
            own.api_key_command.as_ref().or(config.settings().conversation.api_key_command.as_ref());
        match self.key(server) {
            Err(e) => (KeyStatus::Missing, e.to_string()),
            Ok(ApiKeySource::Command { .. }) if command.is_some() => {
                (KeyStatus::There, "from a command".into())
            }
            Ok(ApiKeySource::Keyring(_)) => (KeyStatus::There, "from the keyring".into()),
            Ok(ApiKeySource::Missing { variable }) => (KeyStatus::Missing, format!("none: set {variable}")),
            Ok(ApiKeySource::None) => (KeyStatus::Unneeded, "none needed".into()),
            Ok(_) => match variable.filter(|v| keys::from_environment(v).is_some()) {
                Some(variable) => (KeyStatus::There, format!("in {variable}")),
                None => (KeyStatus::There, "in the key file".into()),
            },
        }
    }

    fn offline_like(&self, provider: Arc<dyn Provider>, model: &str, note: Option<String>) -> SelectedModel {
        let figures = ModelLimits { window: 1_000_000, max_output: 64_000, vision: true };
        SelectedModel { provider, model: figures.model(model), max_output: figures.max_output, note }
    }

    /// Refuses a name that is neither built in nor in the settings, and suggests a similar name.
    pub fn known_provider(&self, name: &str) -> Result<(), AppError> {
        let known = ProviderPreset::of(name).is_some() || self.own_provider(name);
        if known { Ok(()) } else { Err(unknown_provider(name, &self.provider_config())) }
    }

    fn remote(&self, name: &str, model: Option<&str>) -> Result<SelectedModel, AppError> {
        let server = self.server(name)?;
        let preset = &server.preset;
        let config = self.provider_config();
        let model = model
            .or(config.settings().conversation.model.as_deref())
            .or(preset.default_model.as_deref())
            .ok_or_else(|| AppError::Model(name.into()))?
            .to_string();
        let note = self.unknown(&server, &model);
        let (live, max_output) = (self.live(&server)?, self.room(&server, &model));
        let provider = self.fallback(Arc::new(live))?;
        Ok(SelectedModel { provider, model: self.model(&server, &model), max_output, note })
    }

    /// The connection to a server: nothing is opened, nothing runs.
    pub fn live(&self, server: &ConfiguredProvider) -> Result<HttpProvider, AppError> {
        self.live_with(server, || self.key(server))
    }

    /// The same with a key that is not in the settings yet.
    pub fn live_with(
        &self,
        server: &ConfiguredProvider,
        key: impl FnOnce() -> Result<ApiKeySource, AppError>,
    ) -> Result<HttpProvider, AppError> {
        let preset = &server.preset;
        if preset.base_url.is_empty() {
            return Err(AppError::Address(server.name.clone()));
        }
        if let Some(why) = crate::provider::base_url_problem(&preset.base_url) {
            return Err(AppError::BaseUrl { url: preset.base_url.clone(), why });
        }
        let key = key()?;
        let mut settings =
            HttpProviderSettings { silence_limit: preset.silence_limit(), ..HttpProviderSettings::default() };
        // Only where the person set it: the preset's own limit is longer for a local server.
        let config = self.provider_config();
        let network = &config.settings().network;
        if let Some(silence) = network.silence_seconds {
            settings.silence_limit = seconds(silence);
        }
        settings.retry.attempts = network.attempts.clamp(1, 20);
        settings.limits = self.answer_limits();
        settings.plain_http_hosts = network.plain_http_hosts.to_vec();
        settings.first_byte_limit = network.first_byte_seconds.map(seconds);
        settings.client = self.client();
        settings.start.clone_from(&preset.start);
        settings.questions.clone_from(&preset.questions);
        settings.without_tools = match (preset.quirks.tools, preset.quirks.answer_schema) {
            (Some(_), _) => None,
            (None, true) => Some(ToolForm::Json),
            (None, false) => Some(ToolForm::Text),
        };
        settings.widening.clone_from(&preset.widening);
        settings.has_own_window = config.settings().conversation.context_window.is_some();
        settings.has_own_vision = config.settings().conversation.vision.is_some();
        Ok(HttpProvider::new(server.name.clone(), preset.dialect(), preset.endpoint(), key, settings))
    }

    /// The limits of one answer.
    fn answer_limits(&self) -> AnswerLimits {
        let config = self.provider_config();
        let network = &config.settings().network;
        let bytes = |megabytes: usize| megabytes.max(1).saturating_mul(1024 * 1024);
        AnswerLimits {
            answer_bytes: bytes(network.answer_mb),
            argument_bytes: bytes(network.arguments_mb),
            event_bytes: bytes(network.event_mb),
            calls: network.answer_calls.max(1),
            time: seconds(network.answer_seconds),
        }
    }

    /// The settings of every connection that placet itself opens.
    pub fn client(&self) -> HttpClientSettings {
        let config = self.provider_config();
        let network = &config.settings().network;
        HttpClientSettings {
            connect_timeout: seconds(network.connect_seconds),
            ca_file: network.ca_file.as_deref().map(|path| self.below_home(path)),
            ..HttpClientSettings::default()
        }
    }

    fn below_home(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), crate::config::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.cwd().join(path),
        }
    }

    /// The fallback providers, where the settings name any.
    fn fallback(&self, first: Arc<dyn Provider>) -> Result<Arc<dyn Provider>, AppError> {
        let mut links = Vec::new();
        let config = self.provider_config();
        for entry in config.settings().network.fallback.iter() {
            let (name, model) = entry.split_once('/').unwrap_or((entry, ""));
            let server = self.settled(name)?;
            let model = Some(model).filter(|m| !m.is_empty()).or(server.preset.default_model.as_deref());
            let model = model.ok_or_else(|| AppError::Model(name.into()))?.to_string();
            let (live, most) = (self.live(&server)?, self.room(&server, &model));
            links.push(FallbackEntry {
                provider: Arc::new(live),
                model: Some((self.model(&server, &model), most)),
            });
        }
        if links.is_empty() {
            return Ok(first);
        }
        Ok(Arc::new(FallbackProvider::new(first, links)))
    }

    /// The model with the properties that a request depends on.
    pub fn model(&self, server: &ConfiguredProvider, model: &str) -> ModelSpec {
        let mut figures = self.known(server, model);
        let config = self.provider_config();
        let settings = &config.settings().conversation;
        figures.window = settings.context_window.unwrap_or(figures.window);
        figures.vision = settings.vision.unwrap_or(figures.vision);
        let entry = server.entry(model);
        let mut model = figures.model(model);
        let wire = server.preset.wire;
        // The servers of Chat Completions agree on no place for a PDF.
        let pdf = settings.pdf.or(entry.and_then(|e| e.pdf)).unwrap_or(false);
        model.capabilities.pdf = pdf && wire != WireFormatKind::OpenaiChat;
        if wire == WireFormatKind::Gemini {
            // Requests of this wire format may have 20 MB.
            model.capabilities.max_pdf_bytes = 14_000_000;
        }
        model.capabilities.tools = match server.preset.quirks.tools.unwrap_or_default() {
            // No other wire format writes a schema.
            ToolForm::Json if wire != WireFormatKind::OpenaiChat => ToolForm::Text,
            form => form,
        };
        model.capabilities.thinking = entry.and_then(|e| e.thinking).unwrap_or(false);
        model.capabilities.signed_calls = entry.and_then(|e| e.signed_calls).unwrap_or(false);
        model
    }

    /// The note on a model without a description.
    fn unknown(&self, server: &ConfiguredProvider, model: &str) -> Option<String> {
        let described = server.entry(model).is_some()
            || self.provider_config().settings().conversation.context_window.is_some();
        let ModelLimits { window, max_output, .. } = ModelLimits::UNKNOWN;
        let or = if server.preset.questions.is_empty() { "" } else { " unless the server says otherwise" };
        (!described).then(|| {
            format!(
                "unknown model {model}: assuming a context window of {window} tokens, answers of {max_output} and no pictures{or} (set context_window, max_output_tokens and vision to change this)"
            )
        })
    }

    /// The most tokens of one answer.
    fn room(&self, server: &ConfiguredProvider, model: &str) -> u64 {
        let known = self.known(server, model).max_output.min(32_000);
        self.provider_config().settings().conversation.max_output_tokens.unwrap_or(known)
    }

    fn known(&self, server: &ConfiguredProvider, model: &str) -> ModelLimits {
        match server.entry(model) {
            Some(_) if catalog::find(&server.name, model).is_some() => ModelLimits::of(&server.name, model),
            Some(_) => ModelLimits::of(&server.like, model),
            None => ModelLimits::UNKNOWN,
        }
    }

    pub fn key(&self, server: &ConfiguredProvider) -> Result<ApiKeySource, AppError> {
        let name = &server.name;
        let own = self.provider_config().provider(name);
        if server.address_variable.is_some() {
            // A stored key belongs to the usual address; only the key next to the address goes to this one.
            let variable = &server.preset.key_variable;
            let is_needed =
                server.preset.key == ApiKeyRequirement::Required && !is_local(&server.preset.base_url);
            return Ok(match keys::from_environment(variable) {
                Some(key) => key,
                None if is_needed => ApiKeySource::Missing { variable: variable.clone() },
                None => ApiKeySource::None,
            });
        }
        if let Some(command) = &own.api_key_command {
            return Ok(ApiKeySource::command(command));
        }
        if let Some(entry) = own.keyring {
            return Ok(ApiKeySource::Keyring(entry));
        }
        if let Some(command) = &self.provider_config().settings().conversation.api_key_command {
            return Ok(ApiKeySource::command(command));
        }
        // A key belongs to its server: a server of the person's own never gets the key of its preset.
        let builtin = ProviderPreset::of(name).map(|preset| preset.key_variable.as_str());
        let variable = own.key_env.as_deref().or(builtin);
        if let Some(key) = variable.and_then(keys::from_environment) {
            return Ok(key);
        }
        if let Some(key) = keys::from_file(&self.paths.keys_file(), name)? {
            return Ok(key);
        }
        let asked_for = own.key_env.is_some();
        // A server of this machine speaks the protocol of a vendor and has no keys of it. One that has refuses the request.
        let is_required =
            server.preset.key == ApiKeyRequirement::Required && !is_local(&server.preset.base_url);
        let like_one_with_a_key = own.preset.is_some() && is_required;
        Ok(match variable {
            None if like_one_with_a_key => {
                ApiKeySource::Missing { variable: format!("the one that [providers.{name}] key_env names") }
            }
            Some(variable) if asked_for || is_required => ApiKeySource::Missing { variable: variable.into() },
            _ => ApiKeySource::None,
        })
    }

    /// The variable to set where the provider wants a key and there is none. Where there are fallback providers, another one
    /// answers then.
    pub(super) fn missing_key_variable(&self, provider: &str) -> Option<String> {
        let has_fallback = !self.provider_config().settings().network.fallback.is_empty();
        if self.request.replay.is_some() || has_fallback {
            return None;
        }
        match self.key(&self.server(provider).ok()?) {
            Ok(ApiKeySource::Missing { variable }) => Some(variable),
            _ => None,
        }
    }

    /// A server by its name: built in, or from `[providers.NAME]`, or a preset with overrides. `base_url` is the address
    /// of the provider of the settings: what a person chooses later, or falls back to, keeps its own, and so does its key.
    pub fn server(&self, name: &str) -> Result<ConfiguredProvider, AppError> {
        self.server_at(name, self.chosen().as_deref() == Some(name))
    }

    /// The server that a command names: an address on the same command line is meant for it.
    pub fn server_of_command(&self, name: &str) -> Result<ConfiguredProvider, AppError> {
        let is_beside = self.request.flags.values.iter().any(|(flag, ..)| flag == "base_url");
        self.server_at(name, is_beside || self.chosen().as_deref() == Some(name))
    }

    fn server_at(&self, name: &str, takes_address: bool) -> Result<ConfiguredProvider, AppError> {
        let mut server = self.settled(name)?;
        let config = self.provider_config();
        if let Some(url) = config.settings().conversation.base_url.as_ref().filter(|_| takes_address) {
            server.preset.base_url = url.clone();
            server.address_variable = None;
        }
        Ok(server)
    }

    /// The server from the configuration alone, without the command line.
    fn settled(&self, name: &str) -> Result<ConfiguredProvider, AppError> {
        if name == "offline" {
            return Err(AppError::Offline);
        }
        if !self.own_provider(name) && ProviderPreset::of(name).is_none() {
            return Err(unknown_provider(name, &self.provider_config()));
        }
        super::configured_provider::of(&self.provider_config(), name)
    }

    fn own_provider(&self, name: &str) -> bool {
        self.provider_config().provider_names().iter().any(|n| n == name)
    }
}

/// Whether a key can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStatus {
    There,
    Missing,
    Unneeded,
}

/// At least one: a limit of zero seconds would end every request.
fn seconds(number: u64) -> Duration {
    Duration::from_secs(number.max(1))
}

fn unknown_provider(name: &str, config: &Config) -> AppError {
    let own = config.provider_names();
    let known = ProviderPreset::all()
        .iter()
        .map(|p| p.name.as_str())
        .chain(["offline"])
        .chain(own.iter().map(String::as_str));
    let near = crate::text::nearest(name, known).map(String::from);
    AppError::Provider { name: name.into(), near }
}

fn file_error(path: &Path, error: impl std::fmt::Display) -> AppError {
    AppError::File { path: path.into(), reason: error.to_string() }
}
