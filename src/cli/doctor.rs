//! `placet doctor`: what this installation is made of, and what is wrong with it. Shows no key.

use super::args::Options;
use super::report::{self, Failure, print_foreign};
use super::start;
use crate::provider::Preset;
use crate::session::Store;
use crate::ui::ansi::Depth;
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let mut out = String::new();
    let mut wrong = 0;
    let paths = start::paths();
    let _ = writeln!(out, "placet        {} ({})", env!("CARGO_PKG_VERSION"), std::env::consts::OS);
    match start::load(options) {
        Ok(loaded) => {
            let app = &loaded.app;
            let file = paths.user_file();
            let state = if file.exists() { "" } else { " (none; defaults hold)" };
            let _ = writeln!(out, "settings      {}{state}", file.display());
            // Each was told on standard error when the settings were read.
            let mistakes = app.config.problems.len();
            if mistakes > 0 {
                wrong += mistakes;
                let _ = writeln!(out, "  wrong       {mistakes} in the settings, told above");
            }
            let _ = writeln!(
                out,
                "workspace     {}",
                app.workspace.roots().iter().map(|r| r.display().to_string()).collect::<Vec<_>>().join(", ")
            );
            let _ = writeln!(out, "mode          {}: {}", app.mode.load(), app.mode.load().meaning());
            match app.answerer(None, None) {
                Ok(answerer) => {
                    let _ = writeln!(
                        out,
                        "provider      {} with {}",
                        answerer.provider.name(),
                        answerer.model.name
                    );
                    let _ = writeln!(
                        out,
                        "  window      {} tokens, answers up to {}, pictures {}",
                        answerer.model.window,
                        answerer.max_output,
                        if answerer.model.capabilities.vision { "yes" } else { "no" }
                    );
                }
                Err(e) => {
                    wrong += 1;
                    let _ = writeln!(out, "  wrong       provider: {e}");
                }
            }
        }
        Err(failure) => {
            wrong += 1;
            let _ = writeln!(out, "  wrong       {}", failure.message);
        }
    }
    keys(&mut out, &paths);
    wrong += sessions(&mut out, &paths.state);
    let depth = Depth::detect("auto", |name| std::env::var(name).ok());
    let term = std::env::var("TERM").unwrap_or_default();
    let _ = writeln!(
        out,
        "terminal      {term}, {:?} colours, {}x{}",
        depth,
        crate::ui::term::size().0,
        crate::ui::term::size().1
    );
    let _ = writeln!(out, "commands      run without a sandbox, with all the rights you have");
    let _ = writeln!(
        out,
        "{}",
        if wrong == 0 { "nothing is wrong".to_string() } else { format!("{wrong} wrong") }
    );
    print_foreign(&out)?;
    Ok(if wrong == 0 { report::DONE } else { report::ERROR })
}

fn keys(out: &mut String, paths: &crate::config::Paths) {
    let set: Vec<&str> = Preset::all()
        .iter()
        .map(|p| p.key_variable)
        .filter(|name| std::env::var(name).is_ok_and(|v| !v.trim().is_empty()))
        .collect();
    let shown = if set.is_empty() { "none in the environment".to_string() } else { set.join(", ") };
    let _ = writeln!(out, "keys          {shown}");
    let file = paths.keys_file();
    if let Ok(meta) = std::fs::metadata(&file) {
        let _ =
            writeln!(out, "  file        {} (mode {:o})", file.display(), meta.permissions().mode() & 0o777);
    }
}

fn sessions(out: &mut String, dir: &std::path::Path) -> usize {
    match Store::open(dir).and_then(|(store, notes)| Ok((store.list(1_000_000)?.len(), notes))) {
        Ok((count, notes)) => {
            let _ = writeln!(out, "sessions      {count} in {}", dir.display());
            for note in &notes {
                let _ = writeln!(out, "  wrong       {note}");
            }
            notes.len()
        }
        Err(e) => {
            let _ = writeln!(out, "  wrong       sessions: {e}");
            1
        }
    }
}
