//! What is known of models by their names: the window, the longest answer, whether they see.
//!
//! A small table with a date, not a register: names are matched by their beginning, so dated releases need no row. An
//! unknown name gets figures that break no request: a small window is compacted early, a short answer is legal
//! everywhere, and a model not known to see is not sent pictures. Settings overrule every figure.

use super::{Capabilities, Model};

/// When the figures were last compared with the vendors' public pages.
pub const CATALOG_DATE: &str = "2025-11";

/// What is known of a model, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Everything before the model, its answer included.
    pub window: u64,
    /// The most one answer may have.
    pub max_output: u64,
    pub vision: bool,
}

impl Figures {
    /// The figures for a name as a server knows it: `claude-sonnet-4-5-20250929`, `openai/gpt-4.1`, `qwen2.5vl:7b`.
    pub fn of(name: &str) -> Figures {
        let lower = name.to_ascii_lowercase().replace('.', "-");
        let bare = lower.rsplit('/').next().unwrap_or(&lower);
        let row =
            ROWS.iter().filter(|(start, _)| bare.starts_with(start)).max_by_key(|(start, _)| start.len());
        match row {
            Some((_, figures)) => *figures,
            None => Figures { vision: SIGHTED.iter().any(|mark| bare.contains(mark)), ..UNKNOWN },
        }
    }

    /// A model of this name with these figures.
    pub fn model(self, name: impl Into<String>) -> Model {
        let capabilities = Capabilities { vision: self.vision, ..Capabilities::default() };
        Model { name: name.into(), window: self.window, capabilities }
    }
}

const UNKNOWN: Figures = Figures { window: 32_768, max_output: 8_192, vision: false };

/// Marks in the names of open models that see.
const SIGHTED: [&str; 9] =
    ["vision", "llava", "pixtral", "moondream", "minicpm-v", "-vl", "2-5vl", "gemma-3", "gemma3"];

const fn sees(window: u64, max_output: u64) -> Figures {
    Figures { window, max_output, vision: true }
}

const fn blind(window: u64, max_output: u64) -> Figures {
    Figures { window, max_output, vision: false }
}

/// Beginnings of names, with `-` for every dot. The last rows of each vendor stand for names newer than this table.
const ROWS: [(&str, Figures); 34] = [
    ("claude-opus-4-5", sees(200_000, 64_000)),
    ("claude-opus-4", sees(200_000, 32_000)),
    ("claude-sonnet-4", sees(200_000, 64_000)),
    ("claude-haiku-4", sees(200_000, 64_000)),
    ("claude-3-7-sonnet", sees(200_000, 64_000)),
    ("claude-3-5", sees(200_000, 8_192)),
    ("claude-3", sees(200_000, 4_096)),
    ("claude-", sees(200_000, 32_000)),
    ("gpt-5", sees(400_000, 128_000)),
    ("gpt-4-1", sees(1_047_576, 32_768)),
    ("gpt-4o", sees(128_000, 16_384)),
    ("gpt-4-turbo", sees(128_000, 4_096)),
    ("gpt-4", blind(8_192, 4_096)),
    ("gpt-3-5", blind(16_385, 4_096)),
    ("gpt-oss", blind(131_072, 32_768)),
    ("gpt-", sees(128_000, 16_384)),
    ("o1-mini", blind(128_000, 65_536)),
    ("o1-preview", blind(128_000, 32_768)),
    ("o1", sees(200_000, 100_000)),
    ("o3-mini", blind(200_000, 100_000)),
    ("o3", sees(200_000, 100_000)),
    ("o4-mini", sees(200_000, 100_000)),
    ("gemini-2", sees(1_048_576, 65_536)),
    ("gemini-", sees(1_048_576, 8_192)),
    ("deepseek-reasoner", blind(128_000, 64_000)),
    ("deepseek-", blind(128_000, 8_192)),
    ("grok-4", sees(256_000, 64_000)),
    ("grok-", blind(131_072, 16_384)),
    ("mistral-large", blind(128_000, 16_384)),
    ("codestral", blind(256_000, 16_384)),
    ("devstral", blind(128_000, 16_384)),
    ("kimi-k2", blind(256_000, 32_768)),
    ("glm-4-6", blind(200_000, 64_000)),
    ("qwen3-coder", blind(256_000, 65_536)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_their_longest_beginning() {
        for (name, figures) in [
            ("claude-sonnet-4-5-20250929", sees(200_000, 64_000)),
            ("anthropic/claude-opus-4.5", sees(200_000, 64_000)),
            ("claude-3-haiku-20240307", sees(200_000, 4_096)),
            ("Claude-Next", sees(200_000, 32_000)),
            ("openai/gpt-4.1-mini", sees(1_047_576, 32_768)),
            ("gpt-4-0613", blind(8_192, 4_096)),
            ("o1-2024-12-17", sees(200_000, 100_000)),
            ("llama3.2:3b", UNKNOWN),
            ("", UNKNOWN),
            ("qwen2.5vl:7b", Figures { vision: true, ..UNKNOWN }),
        ] {
            assert_eq!(Figures::of(name), figures, "{name}");
        }
    }

    #[test]
    fn an_answer_always_fits_its_window() {
        for (name, figures) in ROWS {
            assert!(figures.max_output < figures.window, "{name}");
        }
    }
}
