//! The tables: providers with their keys, and the models of one. A key itself is never shown.

use super::super::command_line::options::Options;
use super::super::report::{self, CliError, print, print_list};
use super::super::startup::start;
use super::{ProviderOutputFormat, discovery};
use crate::app::App;
use crate::app::configured_provider::ConfiguredProvider;
use crate::app::model_selection::KeyStatus;
use crate::provider::catalog::{self, CatalogModel, ModelPrice, Money};
use crate::provider::{ProviderError, ProviderPreset};
use crate::text::{sanitize, width};
use crate::ui::term;
use serde_json::{Value, json};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Where servers are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerDiscovery {
    Nowhere,
    AtThisMachine,
}

/// How long the list of models may take.
const FAR: Duration = Duration::from_secs(30);

/// The head of the column of names, which are behind the mark of the one that is chosen.
const NAME: &str = "  name";
/// In front of the second row of a provider.
const BELOW: &str = "    ";

struct ProviderRow {
    server: ConfiguredProvider,
    key: (KeyStatus, String),
    own: bool,
    /// What was found at its port: the models, or nobody.
    found: Option<Result<Vec<String>, ProviderError>>,
}

pub(super) fn run(
    look: ServerDiscovery,
    form: ProviderOutputFormat,
    options: &Options,
) -> Result<u8, CliError> {
    let app = super::load(options)?;
    let mut rows = rows(&app)?;
    if look == ServerDiscovery::AtThisMachine {
        discover(&app, &mut rows)?;
    }
    let chosen = app.chosen().unwrap_or_else(|| "offline".into());
    if form == ProviderOutputFormat::Json {
        let all: Vec<Value> = rows.iter().map(|row| as_json(row, &chosen)).collect();
        let text = serde_json::to_string_pretty(&all).map_err(CliError::new)?;
        return print(&(text + "\n")).map(|()| report::DONE);
    }
    let mut lines = vec![[NAME, "speaks", "model", "key", "address"].map(String::from)];
    lines.extend(rows.iter().map(|row| {
        let preset = &row.server.preset;
        let mark = if row.server.name == chosen { '*' } else { ' ' };
        let model = preset.default_model.clone().unwrap_or_else(|| "(set one)".into());
        let mut address =
            if preset.base_url.is_empty() { "(set one)".into() } else { preset.base_url.clone() };
        match &row.found {
            Some(Ok(models)) => {
                address.push_str(&format!("  answers, {}", crate::text::count::of(models.len(), "model")))
            }
            Some(Err(_)) => address.push_str("  not running"),
            None => {}
        }
        [format!("{mark} {}", row.server.name), preset.wire.name().into(), model, row.key.1.clone(), address]
    }));
    let table = columns(&lines);
    // On a narrow terminal each provider has two rows, none of which ends within a cell.
    let room = usize::from(term::size().0);
    let is_narrow = io::stdout().is_terminal() && table.lines().any(|row| width::of(row) > room);
    let text = if is_narrow { in_two_rows(&lines) } else { table };
    print_list(&text).map(|()| report::DONE)
}

/// Name, protocol and model in one row; key and address, which are longer, below.
fn in_two_rows(lines: &[[String; 5]]) -> String {
    let first: Vec<[String; 3]> =
        lines.iter().map(|[name, speaks, model, ..]| [name, speaks, model].map(String::clone)).collect();
    let second = lines.iter().map(|[.., key, address]| format!("{BELOW}{key}  {address}"));
    let rows = columns(&first);
    let rows = rows.lines().zip(second);
    rows.map(|(above, below)| format!("{above}\n{}\n", sanitize::line(&below))).collect()
}

fn rows(app: &App) -> Result<Vec<ProviderRow>, CliError> {
    let own = app.config.provider_names();
    let builtin = ProviderPreset::all().iter().map(|p| p.name.clone()).filter(|name| !own.contains(name));
    let names: Vec<(String, bool)> =
        own.iter().map(|n| (n.clone(), true)).chain(builtin.map(|n| (n, false))).collect();
    let mut rows = Vec::new();
    for (name, own) in names {
        // `--base-url` is meant for one of them and would be shown for all.
        let server = crate::app::configured_provider::of(&app.config, &name)?;
        let key = app.key_standing(&server);
        rows.push(ProviderRow { server, key, own, found: None });
    }
    Ok(rows)
}

/// Asks at the usual ports of this machine, and only there.
fn discover(app: &App, rows: &mut [ProviderRow]) -> Result<(), CliError> {
    let asking = rows.iter_mut().map(|row| async move {
        row.found = discovery::models(app, &row.server).await;
    });
    start::runtime()?.block_on(futures_util::future::join_all(asking));
    Ok(())
}

fn as_json(row: &ProviderRow, chosen: &str) -> Value {
    let preset = &row.server.preset;
    let mut out = json!({
        "name": row.server.name,
        "own": row.own,
        "answers": row.server.name == chosen,
        "dialect": preset.wire.name(),
        "base_url": preset.base_url,
        "model": preset.default_model,
        "key": match row.key.0 {
            KeyStatus::There => "there",
            KeyStatus::Missing => "missing",
            KeyStatus::Unneeded => "unneeded",
        },
        "key_source": row.key.1,
    });
    if let (Some(found), Value::Object(fields)) = (&row.found, &mut out) {
        let found = match found {
            Ok(models) => json!({"there": true, "models": models}),
            Err(e) => json!({"there": false, "error": e.to_string()}),
        };
        fields.insert("discovered".into(), found);
    }
    out
}

pub(super) fn models(
    name: Option<&str>,
    form: ProviderOutputFormat,
    options: &Options,
) -> Result<u8, CliError> {
    let app = super::load(options)?;
    let server = super::named(&app, name)?;
    let live = app.live(&server)?;
    let told = start::runtime()?.block_on(live.models(FAR));
    let ids = told.map_err(|e| CliError { code: report::PROVIDER, ..CliError::new(e) })?;
    if form == ProviderOutputFormat::Json {
        let all: Vec<Value> =
            ids.iter().map(|id| model_json(id, server.entry(id), price_of(&server, id))).collect();
        let text = serde_json::to_string_pretty(&all).map_err(CliError::new)?;
        return print(&(text + "\n")).map(|()| report::DONE);
    }
    let mut lines = vec![["model".into(), "window".into(), "answer".into(), "sent".into(), "comes".into()]];
    lines.extend(ids.iter().map(|id| {
        let known = server.entry(id);
        let figure = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
        let price = |pick: fn(&ModelPrice) -> Option<Money>| {
            price_of(&server, id).and_then(pick).map_or("-".to_string(), |m| m.to_string())
        };
        [
            id.clone(),
            figure(known.and_then(|m| m.window)),
            figure(known.and_then(|m| m.max_output)),
            price(|p| p.input),
            price(|p| p.output),
        ]
    }));
    print_list(&columns(&lines)).map(|()| report::DONE)
}

/// What a gateway asks for a model is not what the vendor asks.
fn price_of(server: &ConfiguredProvider, id: &str) -> Option<&'static ModelPrice> {
    catalog::find(&server.name, id)?.price.as_ref()
}

fn model_json(id: &str, known: Option<&CatalogModel>, price: Option<&ModelPrice>) -> Value {
    let price = |pick: fn(&ModelPrice) -> Option<Money>| price.and_then(pick).map(Money::micros);
    json!({
        "id": id,
        "window": known.and_then(|m| m.window),
        "max_output": known.and_then(|m| m.max_output),
        "vision": known.and_then(|m| m.vision),
        "input_micros_per_million": price(|p| p.input),
        "output_micros_per_million": price(|p| p.output),
    })
}

/// A table with blanks between its columns.
fn columns<const N: usize>(lines: &[[String; N]]) -> String {
    let wide = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| width::of(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(wide).collect();
    let mut out = String::new();
    for line in lines {
        let mut text = String::new();
        for (cell, wide) in line.iter().zip(&widths) {
            let clean = crate::text::sanitize::line(cell);
            text.push_str(&clean);
            text.push_str(&" ".repeat(wide.saturating_sub(width::of(&clean)) + 2));
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}
