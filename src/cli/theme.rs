//! `placet theme`: the themes there are, and a sample of one. It changes no setting.

use super::command_line::args::ThemeCommand;
use super::command_line::options::Options;
use super::report::{self, CliError, print, print_styled, warn};
use super::startup::start;
use crate::config::ColorSetting;
use crate::text::{sanitize, width};
use crate::ui::ansi::{self, ColorDepth};
use crate::ui::{Theme, sample, term};
use std::io::IsTerminal;

/// Columns of a sample that nobody looks at.
const COLUMNS: usize = 80;

pub(super) fn run(command: ThemeCommand, options: &Options) -> Result<u8, CliError> {
    match command {
        ThemeCommand::List => list(options),
        ThemeCommand::Preview { name } => preview(name.as_deref(), options),
    }
}

fn list(options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let chosen = &app.config.settings().ui.theme;
    let all = Theme::all(&start::paths()?.config);
    let wide = all.iter().map(|listed| width::of(&listed.name)).max().unwrap_or(0);
    let mut out = String::new();
    for listed in all {
        let name = sanitize::name(&listed.name).into_owned();
        let pad = " ".repeat(wide.saturating_sub(width::of(&name)) + 2);
        let about = listed.broken.map_or(listed.about, |e| e.to_string());
        let sign = if listed.name == *chosen { "*" } else { " " };
        out.push_str(&format!("{sign} {name}{pad}{}\n", sanitize::line(&about)));
    }
    print(&out).map(|()| report::DONE)
}

fn preview(name: Option<&str>, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let settings = &app.config.settings().ui;
    let variable = |name: &str| std::env::var(name).ok();
    let is_screen = std::io::stdout().is_terminal();
    let coloured = is_screen || settings.color == ColorSetting::Always;
    let depth = if coloured { ColorDepth::detect(settings.color, variable) } else { ColorDepth::True };
    let name = name.unwrap_or(&settings.theme);
    let theme = Theme::load(name, &start::paths()?.config, depth, variable)
        .map_err(|e| CliError::usage(e).hint("`placet theme list` lists the themes"))?;
    if depth == ColorDepth::None && name != theme.name {
        warn("note: without colours every theme is mono");
    }
    let columns = if is_screen { usize::from(term::size().0) } else { COLUMNS };
    let mut out = String::new();
    for line in sample::sample(&theme, columns) {
        match coloured {
            true => out.push_str(&ansi::line(&line)),
            false => out.push_str(line.to_string().trim_end()),
        }
        out.push('\n');
    }
    print_styled(&out).map(|()| report::DONE)
}
