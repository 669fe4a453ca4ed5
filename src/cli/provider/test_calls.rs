//! `placet provider test`: tiny real calls, and what came of each.

use super::super::command_line::options::Options;
use super::super::report::{self, CliError, print, print_foreign};
use super::super::startup::start;
use super::ProviderOutputFormat;
use crate::conversation::Image;
use crate::provider::probe::{ProbeOutcome, ProbeStep, probe};
use crate::provider::{Provider, ProviderError};
use serde_json::{Value, json};
use std::io::Cursor;

/// The side of the picture that is shown, in pixels.
const SIDE: u32 = 32;

pub(super) fn test(
    name: Option<&str>,
    form: ProviderOutputFormat,
    options: &Options,
) -> Result<u8, CliError> {
    let app = super::load(options)?;
    let server = super::named(&app, name)?;
    let model = options.answerer.model.clone().or_else(|| app.config.settings().conversation.model.clone());
    let model = model
        .or_else(|| server.preset.default_model.clone())
        .ok_or_else(|| CliError::from(crate::app::AppError::Model(server.name.clone())))?;
    let live = app.live(&server)?;
    let mut model = app.model(&server, &model);
    // A model of which nobody knows whether it sees is asked.
    let blind = server.entry(&model.name).and_then(|entry| entry.vision) == Some(false);
    model.capabilities.vision = app.config.settings().conversation.vision.unwrap_or(!blind);
    let runtime = start::runtime()?;
    if form == ProviderOutputFormat::Table {
        print_foreign(&format!("{} with {} at {}\n", server.name, model.name, server.preset.base_url))?;
    }
    let facts = match runtime.block_on(live.facts(&model.name)) {
        Err(error @ ProviderError::Loading { .. }) => {
            let error = CliError::new(error).hint("large models load for minutes: test again then");
            return Err(CliError { code: report::PROVIDER, ..error });
        }
        // The steps meet the same failure.
        said => said.unwrap_or_default(),
    };
    model.capabilities.tools = facts.calls.unwrap_or(model.capabilities.tools);
    model.capabilities.vision = facts.vision.as_ref().map_or(model.capabilities.vision, |sees| sees.value);
    let is_table = form == ProviderOutputFormat::Table;
    let (mut steps, mut printed) = (Vec::new(), Ok(()));
    if is_table && !facts.is_empty() {
        print_foreign(&format!("server     says      {}\n", facts.words()))?;
    }
    let mut known = |step: ProbeStep| {
        if is_table && printed.is_ok() {
            printed = print_foreign(&row(&step));
        }
        steps.push(step);
    };
    runtime.block_on(probe(&live, &model, red()?, &mut known));
    printed?;
    let failed = steps.iter().any(|step| matches!(step.found, ProbeOutcome::Fails(_)));
    if form == ProviderOutputFormat::Json {
        let all = json!({
            "provider": server.name,
            "model": model.name,
            "server": facts.words(),
            "steps": steps.iter().map(as_json).collect::<Vec<_>>(),
        });
        print(&(serde_json::to_string_pretty(&all).map_err(CliError::new)? + "\n"))?;
    }
    Ok(if failed { report::PROVIDER } else { report::DONE })
}

/// One line of the table, which is printed when it is known: a slow model takes its time for each.
fn row(step: &ProbeStep) -> String {
    let (word, detail) = words(&step.found);
    format!("{:<10} {word:<9} {}\n", step.name, crate::text::sanitize::line(detail))
}

fn words(found: &ProbeOutcome) -> (&'static str, &str) {
    match found {
        ProbeOutcome::Works(detail) => ("works", detail),
        ProbeOutcome::Unclear(detail) => ("unclear", detail),
        ProbeOutcome::Fails(detail) => ("fails", detail),
        ProbeOutcome::Untried(detail) => ("untried", detail),
    }
}

fn as_json(step: &ProbeStep) -> Value {
    let (word, detail) = words(&step.found);
    json!({"step": step.name, "found": word, "detail": detail})
}

/// A red square, which nobody takes for anything else.
fn red() -> Result<Image, CliError> {
    let pixels = image::RgbImage::from_pixel(SIDE, SIDE, image::Rgb([220, 20, 20]));
    let mut bytes = Cursor::new(Vec::new());
    pixels.write_to(&mut bytes, image::ImageFormat::Png).map_err(CliError::new)?;
    Ok(Image::new("image/png", SIDE, SIDE, "red.png", bytes.into_inner().into()))
}
