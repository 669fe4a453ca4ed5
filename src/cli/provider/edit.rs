//! Adds and removes a provider in the person's own configuration file. Everything else in the file stays unchanged,
//! including comments and blank lines. placet replaces the file in one step or not at all, and never writes an API key
//! into it.

use super::super::command_line::options::Options;
use super::super::report::{self, CliError, print, warn};
use super::super::settings_file;
use super::super::startup::start;
use crate::app::AppError;
use crate::provider::{ProviderPreset, base_url_problem};
use std::path::PathBuf;
use toml_edit::{DocumentMut, Item, Table, value};

pub(super) struct NewProvider {
    pub(super) name: String,
    pub(super) preset: Option<String>,
    pub(super) key_env: Option<String>,
    /// It answers from now on.
    pub(super) answers: bool,
}

pub(super) fn add(new: &NewProvider, options: &Options) -> Result<u8, CliError> {
    let name = new.name.as_str();
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return Err(CliError::usage(format!("`{name}` cannot be the name of a provider"))
            .hint("use letters, digits, `-`, `_` and `.`"));
    }
    let preset = match &new.preset {
        None => None,
        Some(like) => Some(ProviderPreset::of(like).ok_or_else(|| {
            let near = crate::text::nearest(like, ProviderPreset::all().iter().map(|p| p.name.as_str()));
            CliError::from(AppError::Provider { name: like.clone(), near: near.map(String::from) })
        })?),
    };
    if preset.is_none_or(|p| p.base_url.is_empty()) && options.answerer.base_url.is_none() {
        return Err(CliError::usage(format!("no base URL for `{name}`"))
            .hint("pass --base-url https://..., up to and including /v1"));
    }
    if let Some(url) = &options.answerer.base_url
        && base_url_problem(url).is_some()
    {
        return Err(CliError::usage(format!("invalid base URL `{url}`"))
            .hint("pass --base-url https://..., up to and including /v1"));
    }
    let (path, mut document) = read()?;
    let providers = document.entry("providers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let providers = providers
        .as_table_like_mut()
        .ok_or_else(|| CliError::new(format!("`{}`: `providers` is not a table", path.display())))?;
    if providers.contains_key(name) {
        return Err(CliError::new(format!("a provider `{name}` already exists"))
            .hint(format!("`placet provider remove {name}`, or edit {}", path.display())));
    }
    let mut table = Table::new();
    let given = [
        ("preset", new.preset.as_deref()),
        ("base_url", options.answerer.base_url.as_deref()),
        ("model", options.answerer.model.as_deref()),
        ("key_env", new.key_env.as_deref()),
    ];
    for (key, text) in given {
        if let Some(text) = text {
            table.insert(key, value(text));
        }
    }
    providers.insert(name, Item::Table(table));
    if new.answers {
        document.insert("provider", value(name));
    }
    settings_file::replace(&path, &document.to_string())?;
    print(&format!("added {name} to {}\n", path.display()))?;
    let key = match (&new.key_env, preset) {
        (Some(variable), _) => format!("placet looks for the key in {variable}, then in the key file"),
        (None, Some(_)) | (None, None) => "if the server needs a key, store it in the key file".to_string(),
    };
    warn(&format!("{key}: `placet config init --key {name}` stores it"));
    warn(&format!("`placet provider test {name}` tests it"));
    Ok(report::DONE)
}

pub(super) fn remove(name: &str, _: &Options) -> Result<u8, CliError> {
    let (path, mut document) = read()?;
    let removed = document
        .get_mut("providers")
        .and_then(Item::as_table_like_mut)
        .and_then(|providers| providers.remove(name));
    if removed.is_none() {
        let failure = CliError::new(format!("no provider `{name}` in {}", path.display()));
        return Err(match ProviderPreset::of(name) {
            Some(_) => failure.hint("it is built in and cannot be removed"),
            None => failure.hint("`placet provider list` lists them"),
        });
    }
    let answered = document.get("provider").and_then(Item::as_str) == Some(name);
    if answered {
        document.remove("provider");
    }
    settings_file::replace(&path, &document.to_string())?;
    print(&format!("removed {name} from {}\n", path.display()))?;
    if answered {
        warn("it was the default provider; the first provider with a key is used now");
    }
    Ok(report::DONE)
}

/// The file as it is now. One that cannot be understood is left alone.
fn read() -> Result<(PathBuf, DocumentMut), CliError> {
    let path = start::paths()?.user_file();
    let text = settings_file::read(&path)?;
    let document =
        text.parse().map_err(|e: toml_edit::TomlError| settings_file::not_toml(&path, e.message()))?;
    Ok((path, document))
}
