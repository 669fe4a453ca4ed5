//! The catalog's file format: `[PROVIDER."MODEL"]` tables, prices in dollars per million tokens. A later file overrides
//! an earlier one field by field; a table with a mistake is left out whole and reported. Reads no disk.

use super::Money;
use placet_text::conversation::TokenUsage;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// What is known of one model. `None` means that a value is not known.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogModel {
    /// Other ids of the same model, where the vendor documents them.
    #[serde(default)]
    pub also: Vec<String>,
    /// Tokens before the model, its answer included.
    pub window: Option<u64>,
    /// The most tokens of one answer.
    pub max_output: Option<u64>,
    pub vision: Option<bool>,
    pub pdf: Option<bool>,
    pub thinking: Option<bool>,
    /// The server refuses a call in the history that does not have the model's own proof.
    pub signed_calls: Option<bool>,
    pub price: Option<ModelPrice>,
}

/// Dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    #[serde(default, deserialize_with = "dollars")]
    pub input: Option<Money>,
    #[serde(default, deserialize_with = "dollars")]
    pub output: Option<Money>,
    #[serde(default, deserialize_with = "dollars")]
    pub cache_read: Option<Money>,
    #[serde(default, deserialize_with = "dollars")]
    pub cache_write: Option<Money>,
    /// Other prices for long prompts; they apply to the whole request.
    pub long: Option<Box<PriceTier>>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PriceTier {
    /// Prompts of more tokens than this.
    pub above: u64,
    #[serde(flatten)]
    pub price: ModelPrice,
}

/// A mistake in a catalog file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogProblem {
    /// `anthropic.claude-x`, or empty where the whole file is unreadable.
    pub table: String,
    pub message: String,
}

impl fmt::Display for CatalogProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.table.is_empty() { Ok(()) } else { write!(f, "[{}]: ", self.table) }?;
        f.write_str(&self.message)
    }
}

impl CatalogModel {
    /// What a request cost; `None` where a price that it needs is not known.
    pub fn cost(&self, usage: &TokenUsage) -> Option<Money> {
        let price = self.price.as_ref()?;
        let price = match &price.long {
            Some(tier) if usage.prompt() > tier.above => &tier.price,
            _ => price,
        };
        let parts = [
            (usage.input, price.input),
            (usage.output, price.output),
            (usage.cache_read, price.cache_read),
            (usage.cache_write, price.cache_write),
        ];
        let costs = parts.into_iter().filter(|(tokens, _)| *tokens > 0);
        costs.map(|(tokens, price)| Money::of_tokens(tokens, price?)).sum()
    }

    fn lay_over(&mut self, over: CatalogModel) {
        fn set<T>(field: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *field = new;
            }
        }
        if !over.also.is_empty() {
            self.also = over.also;
        }
        set(&mut self.window, over.window);
        set(&mut self.max_output, over.max_output);
        set(&mut self.vision, over.vision);
        set(&mut self.pdf, over.pdf);
        set(&mut self.thinking, over.thinking);
        set(&mut self.signed_calls, over.signed_calls);
        set(&mut self.price, over.price);
    }

    fn check(&self) -> Result<(), CatalogEntryError> {
        match (self.window, self.max_output) {
            (Some(0), _) | (_, Some(0)) => Err(CatalogEntryError::NoTokens),
            (Some(window), Some(most)) if most >= window => Err(CatalogEntryError::OutputFillsWindow),
            _ => Ok(()),
        }
    }
}

/// Why a table of a model is left out.
#[derive(Debug, Error)]
enum CatalogEntryError {
    #[error("{}", .0.message())]
    Toml(#[from] toml::de::Error),
    #[error("a window or an answer of no tokens")]
    NoTokens,
    #[error("`max_output` must be less than `window`")]
    OutputFillsWindow,
}

/// All models, by provider and id.
#[derive(Debug, Default)]
pub(super) struct CatalogFile {
    pub(super) date: String,
    models: BTreeMap<String, BTreeMap<String, CatalogModel>>,
}

impl CatalogFile {
    pub(super) fn find(&self, provider: &str, model: &str) -> Option<&CatalogModel> {
        let section = self.models.get(provider)?;
        section.get(model).or_else(|| section.values().find(|m| m.also.iter().any(|id| id == model)))
    }

    pub(super) fn section(&self, provider: &str) -> impl Iterator<Item = (&str, &CatalogModel)> {
        self.models.get(provider).into_iter().flatten().map(|(id, model)| (id.as_str(), model))
    }

    pub(super) fn lay_over(&mut self, text: &str) -> Vec<CatalogProblem> {
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(e) => return vec![CatalogProblem { table: String::new(), message: e.to_string() }],
        };
        let mut problems = Vec::new();
        for (provider, section) in table {
            match section {
                toml::Value::String(date) if provider == "compared" => self.date = date,
                toml::Value::Table(section) => {
                    for (id, entry) in section {
                        let table = format!("{provider}.\"{id}\"");
                        if let Err(error) = self.entry(&provider, &id, entry) {
                            problems.push(CatalogProblem { table, message: error.to_string() });
                        }
                    }
                }
                _ => problems.push(CatalogProblem {
                    table: provider,
                    message: "this must be a table of models: [PROVIDER.\"MODEL\"]".into(),
                }),
            }
        }
        problems
    }

    fn entry(&mut self, provider: &str, id: &str, entry: toml::Value) -> Result<(), CatalogEntryError> {
        let over: CatalogModel = entry.try_into()?;
        let mut merged = self.find(provider, id).cloned().unwrap_or_default();
        merged.lay_over(over);
        merged.check()?;
        // An entry under another id of a known model replaces the earlier entry.
        let section = self.models.entry(provider.into()).or_default();
        let canonical = section.iter().find(|(_, m)| m.also.iter().any(|other| other == id));
        let id = canonical.map_or_else(|| id.to_string(), |(canonical, _)| canonical.clone());
        section.insert(id, merged);
        Ok(())
    }
}

/// Dollars as in a price list, with at most six decimal places.
fn dollars<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Money>, D::Error> {
    let given = f64::deserialize(from)?;
    if !(0.0..=100_000.0).contains(&given) {
        return Err(serde::de::Error::custom("a price is a number of dollars, 0 or more"));
    }
    // Rounded, because a decimal price such as 0.1 has no exact `f64`.
    Ok(Some(Money::from_micros((given * 1e6).round() as u64)))
}
