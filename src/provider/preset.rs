//! Servers that need no configuration but a name: where they are, what they speak, where their key is looked for.

use super::dialect::{Anthropic, OpenAiChat, OutputLimit, Quirks, SystemRole};
use super::{Auth, Dialect, Endpoint};
use std::sync::Arc;
use std::time::Duration;

/// A wire format by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    OpenAiChat(Quirks),
}

impl Wire {
    pub fn dialect(self) -> Arc<dyn Dialect> {
        match self {
            Wire::Anthropic => Arc::new(Anthropic),
            Wire::OpenAiChat(quirks) => Arc::new(OpenAiChat { quirks }),
        }
    }
}

/// Whether a server works without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyNeed {
    Required,
    /// Sent where there is one.
    Welcome,
}

/// One server as it is out of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub wire: Wire,
    pub base_url: &'static str,
    pub auth: Auth,
    pub headers: &'static [(&'static str, &'static str)],
    /// The environment variable that may hold the key.
    pub key_variable: &'static str,
    pub key: KeyNeed,
    /// The model used where none is named; without one the person must name it.
    pub default_model: Option<&'static str>,
    /// How long it may be silent: a machine of one's own may load a model first.
    pub silence_limit: Duration,
}

impl Preset {
    pub fn of(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    pub fn all() -> &'static [Preset] {
        &PRESETS
    }

    /// The place to send requests to: this preset's own, or the same kind of server elsewhere.
    pub fn endpoint_at(&self, base_url: &str) -> Endpoint {
        let headers =
            self.headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Endpoint { base_url: base_url.to_string(), auth: self.auth, headers }
    }

    pub fn endpoint(&self) -> Endpoint {
        self.endpoint_at(self.base_url)
    }
}

const REMOTE: Duration = Duration::from_secs(180);
const LOCAL: Duration = Duration::from_secs(600);

const PLAIN: Wire =
    Wire::OpenAiChat(Quirks { output_limit: OutputLimit::Unsaid, system_role: SystemRole::System });

const fn remote(name: &'static str, base_url: &'static str, key_variable: &'static str) -> Preset {
    Preset {
        name,
        wire: PLAIN,
        base_url,
        auth: Auth::Bearer,
        headers: &[],
        key_variable,
        key: KeyNeed::Required,
        default_model: None,
        silence_limit: REMOTE,
    }
}

const fn local(name: &'static str, base_url: &'static str, key_variable: &'static str) -> Preset {
    Preset { key: KeyNeed::Welcome, silence_limit: LOCAL, ..remote(name, base_url, key_variable) }
}

const PRESETS: [Preset; 14] = [
    Preset {
        wire: Wire::Anthropic,
        auth: Auth::Header("x-api-key"),
        headers: &[("anthropic-version", "2023-06-01")],
        default_model: Some("claude-sonnet-4-5"),
        ..remote("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY")
    },
    Preset {
        wire: Wire::OpenAiChat(Quirks {
            output_limit: OutputLimit::MaxCompletionTokens,
            system_role: SystemRole::System,
        }),
        default_model: Some("gpt-5"),
        ..remote("openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
    },
    remote("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    remote("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    remote("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    remote("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    remote("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    remote("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
    local("ollama", "http://localhost:11434/v1", "OLLAMA_API_KEY"),
    local("lmstudio", "http://localhost:1234/v1", "LMSTUDIO_API_KEY"),
    local("llama.cpp", "http://localhost:8080/v1", "LLAMA_API_KEY"),
    local("vllm", "http://localhost:8000/v1", "VLLM_API_KEY"),
    local("litellm", "http://localhost:4000/v1", "LITELLM_API_KEY"),
    local("openai-compatible", "http://localhost:8000/v1", "OPENAI_COMPATIBLE_API_KEY"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Figures;

    #[test]
    fn names_are_unique_and_default_models_are_in_the_catalog() {
        for (k, preset) in PRESETS.iter().enumerate() {
            assert_eq!(PRESETS.iter().position(|p| p.name == preset.name), Some(k), "{}", preset.name);
            if let Some(model) = preset.default_model {
                assert!(Figures::of(model).vision, "{model}");
            }
        }
        assert_eq!(Preset::of("ollama").map(|p| p.silence_limit), Some(LOCAL));
        assert_eq!(Preset::of("nobody"), None);
    }
}
