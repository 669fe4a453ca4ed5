//! What is known of models: the window, the longest answer, prices, whether they support images, thinking and PDF.
//!
//! The catalog is a file with a date, not a service, because figures go out of date. A model is found by its exact id,
//! never by a similar name: a wrong guess breaks requests, or shows a wrong price. What is not in the file is unknown
//! and is shown as unknown. The person's own `models.toml` overrides the built-in file, field by field. The catalog
//! asks no server.

mod file_format;
mod money;

pub use file_format::{CatalogModel, CatalogProblem, ModelPrice, PriceTier};
pub use money::Money;

use super::{ModelCapabilities, ProviderPreset};
use file_format::CatalogFile;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The person's entries over the built-in ones; set once, before the first question.
static INSTALLED: OnceLock<CatalogFile> = OnceLock::new();

const SHIPPED: &str = include_str!("models.toml");

/// The built-in entries of each provider that was asked for, while no file of the person is installed. To read all of
/// them takes an eighth of a turn with one answer.
static SECTIONS: Mutex<BTreeMap<String, &'static CatalogFile>> = Mutex::new(BTreeMap::new());

/// What is known of the models of a provider.
fn file_of(provider: &str) -> &'static CatalogFile {
    if let Some(file) = INSTALLED.get() {
        return file;
    }
    let mut sections = SECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = sections.get(provider) {
        return file;
    }
    let mut file = CatalogFile::default();
    file.lay_over(&shipped_section(provider));
    // There are about twenty providers, and each is read once.
    let file: &'static CatalogFile = Box::leak(Box::new(file));
    sections.insert(provider.into(), file);
    file
}

/// The tables of one provider in the built-in file.
fn shipped_section(provider: &str) -> String {
    let mut is_wanted = false;
    let of_provider = |line: &&str| {
        if let Some(name) = line.strip_prefix('[') {
            is_wanted = name.strip_prefix(provider).is_some_and(|rest| rest.starts_with('.'));
        }
        is_wanted
    };
    SHIPPED.split_inclusive('\n').filter(of_provider).collect()
}

/// What is known of `model` under its name at `provider`; `None` for an unknown model.
pub fn find(provider: &str, model: &str) -> Option<&'static CatalogModel> {
    file_of(provider).find(provider, model).or_else(|| {
        let section = ProviderPreset::of(provider)?.catalog.as_deref()?;
        file_of(section).find(section, model)
    })
}

/// When the built-in figures were last compared with the vendors' public pages.
pub fn compared() -> &'static str {
    static DATE: OnceLock<String> = OnceLock::new();
    DATE.get_or_init(|| shipped().date)
}

/// Every model that is known of a provider, by its id.
pub fn of_provider(provider: &str) -> Vec<(&'static str, &'static CatalogModel)> {
    let section = ProviderPreset::of(provider).and_then(|p| p.catalog.as_deref()).unwrap_or(provider);
    let own = file_of(provider).section(provider);
    let mut all: Vec<_> = own.chain(file_of(section).section(section)).collect();
    // The sort is stable: of two entries with one id, the provider's own entry comes first and is used.
    all.sort_by_key(|(id, _)| *id);
    all.dedup_by_key(|(id, _)| *id);
    all
}

/// Lays the person's file over the built-in one, for the whole process. Mistakes in it are reported and left out. The
/// first call counts; a later call, or a call after the first lookup, changes nothing.
pub fn install(own: &str) -> Vec<CatalogProblem> {
    let mut file = shipped();
    let problems = file.lay_over(own);
    let was_asked = !SECTIONS.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
    if !was_asked {
        drop(INSTALLED.set(file));
    }
    problems
}

fn shipped() -> CatalogFile {
    let mut file = CatalogFile::default();
    // A test checks that the built-in file has no mistakes.
    file.lay_over(SHIPPED);
    file
}

/// What a request needs to know of a model, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelLimits {
    /// All tokens before the model, its answer included.
    pub window: u64,
    /// The most one answer may have.
    pub max_output: u64,
    pub vision: bool,
}

impl ModelLimits {
    /// Figures that break no request: a small window is compacted early, a short answer is legal everywhere, and a
    /// model not known to see is not sent pictures.
    pub const UNKNOWN: ModelLimits = ModelLimits { window: 32_768, max_output: 8_192, vision: false };

    /// The figures of a model; unknown figures have the careful values.
    pub fn of(provider: &str, model: &str) -> ModelLimits {
        let Some(known) = find(provider, model) else { return ModelLimits::UNKNOWN };
        let window = known.window.unwrap_or(ModelLimits::UNKNOWN.window);
        ModelLimits {
            window,
            // An answer as long as the window would leave no room for the question.
            max_output: known.max_output.unwrap_or(ModelLimits::UNKNOWN.max_output.min(window / 2)),
            vision: known.vision.unwrap_or(ModelLimits::UNKNOWN.vision),
        }
    }

    /// A model of this name with these figures.
    pub fn model(self, name: impl Into<String>) -> super::ModelSpec {
        let capabilities = ModelCapabilities { vision: self.vision, ..ModelCapabilities::default() };
        super::ModelSpec { name: name.into(), window: self.window, capabilities }
    }
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
