//! Servers that need no configuration but a name: where they are, their wire format, where their key is read from. The
//! table is `presets.toml`; the code has no data about any single server.

use crate::wire::{AnthropicFormat, GeminiFormat, OpenAiChatFormat, OpenAiResponsesFormat};
use crate::{AuthScheme, Endpoint, ServerQuirks, WireFormat};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A wire format by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireFormatKind {
    Anthropic,
    OpenaiChat,
    OpenaiResponses,
    Gemini,
}

impl WireFormatKind {
    pub const ALL: [WireFormatKind; 4] = [
        WireFormatKind::Anthropic,
        WireFormatKind::OpenaiChat,
        WireFormatKind::OpenaiResponses,
        WireFormatKind::Gemini,
    ];

    pub fn name(self) -> &'static str {
        match self {
            WireFormatKind::Anthropic => "anthropic",
            WireFormatKind::OpenaiChat => "openai-chat",
            WireFormatKind::OpenaiResponses => "openai-responses",
            WireFormatKind::Gemini => "gemini",
        }
    }

    /// The vendor's name of the API.
    pub fn api_name(self) -> &'static str {
        match self {
            WireFormatKind::Anthropic => "Messages",
            WireFormatKind::OpenaiChat => "Chat Completions",
            WireFormatKind::OpenaiResponses => "Responses",
            WireFormatKind::Gemini => "Gemini",
        }
    }

    pub fn parse(name: &str) -> Option<WireFormatKind> {
        WireFormatKind::ALL.into_iter().find(|wire| wire.name() == name)
    }

    pub fn dialect(self, quirks: &ServerQuirks) -> Arc<dyn WireFormat> {
        let quirks = quirks.clone();
        match self {
            WireFormatKind::Anthropic => Arc::new(AnthropicFormat { quirks }),
            WireFormatKind::OpenaiChat => Arc::new(OpenAiChatFormat { quirks }),
            WireFormatKind::OpenaiResponses => Arc::new(OpenAiResponsesFormat { quirks }),
            WireFormatKind::Gemini => Arc::new(GeminiFormat { quirks }),
        }
    }
}

/// Whether a server works without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiKeyRequirement {
    #[default]
    Required,
    /// Sent where there is one.
    Welcome,
}

/// Who runs the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerLocation {
    #[default]
    Remote,
    /// The person's own, which may have to load a model first.
    Local,
}

/// One server as it is out of the box.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderPreset {
    pub name: String,
    /// Other names that people try.
    #[serde(default)]
    pub also: Vec<String>,
    pub wire: WireFormatKind,
    /// Empty where everybody has their own.
    pub base_url: String,
    /// The path below it, where it is not the wire format's own.
    pub path: Option<String>,
    /// What every address ends with: `api-version`.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// The header that carries the key; without one it is `Authorization: Bearer`.
    pub auth_header: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The environment variable that may hold the key.
    pub key_variable: String,
    #[serde(default)]
    pub key: ApiKeyRequirement,
    /// The page on which the vendor issues keys.
    pub key_page: Option<String>,
    /// The path of a request that needs a valid key, for a server whose list of models is public.
    pub key_path: Option<String>,
    /// The model used where none is named; without one the person must name it.
    pub default_model: Option<String>,
    /// Another provider whose catalog entries apply to this one.
    pub catalog: Option<String>,
    #[serde(default)]
    pub place: ServerLocation,
    /// The command that starts a server of the person's own.
    pub start: Option<String>,
    /// The questions about a model that the server answers, by their path at its root: `GET /props`.
    #[serde(default)]
    pub questions: Vec<String>,
    /// The command that gives the server a larger window, where the server shortens long requests in silence.
    pub widening: Option<String>,
    #[serde(default)]
    pub quirks: ServerQuirks,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PresetTable {
    compared: String,
    preset: Vec<ProviderPreset>,
}

const SHIPPED: &str = include_str!("presets.toml");

fn table() -> &'static PresetTable {
    static TABLE: OnceLock<PresetTable> = OnceLock::new();
    // A test holds the built-in file to being whole.
    TABLE.get_or_init(|| toml::from_str(SHIPPED).unwrap_or_default())
}

impl ProviderPreset {
    pub fn of(name: &str) -> Option<&'static ProviderPreset> {
        table().preset.iter().find(|preset| preset.name == name || preset.also.iter().any(|n| n == name))
    }

    pub fn all() -> &'static [ProviderPreset] {
        &table().preset
    }

    /// When the table was last compared with the vendors' public documentation.
    pub fn compared() -> &'static str {
        &table().compared
    }

    pub fn dialect(&self) -> Arc<dyn WireFormat> {
        self.wire.dialect(&self.quirks)
    }

    /// How long it may be silent.
    pub fn silence_limit(&self) -> Duration {
        match self.place {
            ServerLocation::Remote => Duration::from_secs(180),
            // A local server may have to load the model first, which takes minutes.
            ServerLocation::Local => Duration::from_secs(600),
        }
    }

    /// The place to send requests to.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint {
            base_url: self.base_url.clone(),
            path: self.path.clone(),
            query: self.query.clone().into_iter().collect(),
            auth: self.auth_header.clone().map_or(AuthScheme::Bearer, AuthScheme::Header),
            headers: self.headers.clone().into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole_and_every_name_is_there_once() {
        let parsed: PresetTable = toml::from_str(SHIPPED).unwrap_or_else(|e| panic!("{e}"));
        let names: Vec<&str> = parsed.preset.iter().map(|p| p.name.as_str()).collect();
        for name in [
            "anthropic",
            "openai",
            "openai-chat",
            "gemini",
            "openrouter",
            "ollama",
            "lmstudio",
            "llama.cpp",
            "vllm",
            "deepseek",
            "mistral",
            "groq",
            "xai",
            "azure-openai",
            "bedrock-gateway",
        ] {
            assert_eq!(names.iter().filter(|n| **n == name).count(), 1, "{name}");
        }
        assert_eq!(names.len(), ProviderPreset::all().len());
        assert_eq!(ProviderPreset::of("nobody"), None);
        assert_eq!(ProviderPreset::of("llamacpp"), ProviderPreset::of("llama.cpp"));
        let others: Vec<&String> = parsed.preset.iter().flat_map(|p| &p.also).collect();
        assert!(others.iter().all(|other| !names.contains(&other.as_str())), "{others:?}");
        assert_eq!(
            ProviderPreset::of("ollama").map(ProviderPreset::silence_limit),
            Some(Duration::from_secs(600))
        );
    }

    #[test]
    fn every_wire_has_its_name() {
        for wire in WireFormatKind::ALL {
            assert_eq!(WireFormatKind::parse(wire.name()), Some(wire));
            let text = format!("wire = \"{}\"", wire.name());
            assert_eq!(
                text.parse::<toml::Table>().ok().map(|mut t| t.remove("wire").unwrap().try_into()),
                Some(Ok(wire))
            );
        }
        assert_eq!(WireFormatKind::parse("smoke"), None);
    }
}
