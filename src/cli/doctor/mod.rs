//! `placet doctor`: what this installation is made of, and what is wrong with it. Shows no key.

pub(super) mod hints;

use super::command_line::options::Options;
use super::report::{self, CliError, print_list};
use super::screen_keys;
use super::startup::file_modes;
use super::startup::start::{self, StartedFor};
use crate::app::{App, devices};
use crate::config::ColorSetting;
use crate::provider::{ApiKeySource, ProviderPreset};
use crate::sandbox::SandboxBackend;
use crate::session::SessionStore;
use crate::text::{count, visible};
use crate::ui::Theme;
use crate::ui::ansi::ColorDepth;
use hints::{DoctorFacts, has_certificates};
use std::fmt::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

pub(super) fn run(options: &Options) -> Result<u8, CliError> {
    let mut out = String::new();
    let mut wrong = 0;
    let paths = start::paths()?;
    let _ = writeln!(out, "placet        {} ({})", env!("CARGO_PKG_VERSION"), std::env::consts::OS);
    match start::load(options, StartedFor::Program) {
        Ok(loaded) => {
            let app = &loaded.app;
            let file = paths.user_file();
            let state = if file.exists() { "" } else { " (not found; using defaults)" };
            let _ = writeln!(out, "settings      {}{state}", visible::path(&file));
            // placet printed each of them on standard error when it read the settings.
            let mistakes = app.config.problems.len();
            if mistakes > 0 {
                wrong += mistakes;
                let _ = writeln!(
                    out,
                    "  wrong       {} in the settings (see above)",
                    count::of(mistakes, "problem")
                );
            }
            let _ = writeln!(
                out,
                "workspace     {}",
                app.workspace.roots().iter().map(|r| visible::path(r)).collect::<Vec<_>>().join(", ")
            );
            let _ = writeln!(out, "mode          {}: {}", app.mode.load(), app.mode.load().meaning());
            match app.answerer(None, None) {
                Ok(answerer) => {
                    let _ = writeln!(
                        out,
                        "provider      {} (model {})",
                        answerer.provider.name(),
                        answerer.model.name
                    );
                    if app.chosen().is_none() {
                        let _ = writeln!(out, "  hint        `placet setup` adds a model");
                    }
                    let _ = writeln!(
                        out,
                        "  context     {} tokens, answers up to {} tokens, images: {}",
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
            wrong += key(&mut out, app);
            wrong += values(&mut out, app, &paths.config);
            network(&mut out, app);
            wrong += commands(&mut out, app);
            wrong += search(&mut out, app);
            kept(&mut out, app);
            wrong += damage(&mut out, app);
            modes(&mut out, &paths);
        }
        Err(failure) => {
            wrong += 1;
            let _ = writeln!(out, "  wrong       {}", failure.message);
        }
    }
    keys(&mut out, &paths);
    wrong += sessions(&mut out, &paths.state);
    let depth = ColorDepth::detect(ColorSetting::Auto, |name| std::env::var(name).ok());
    let term = std::env::var("TERM").unwrap_or_default();
    let _ = writeln!(
        out,
        "terminal      {}, {}, {}x{}",
        visible::line(&term),
        colours(depth),
        crate::ui::term::size().0,
        crate::ui::term::size().1
    );
    let _ = writeln!(
        out,
        "{}",
        if wrong == 0 {
            "no problems found".to_string()
        } else {
            format!("{} found", count::of(wrong, "problem"))
        }
    );
    print_list(&out)?;
    Ok(if wrong == 0 { report::DONE } else { report::ERROR })
}

/// The search engine, and how to get one.
fn search(out: &mut String, app: &App) -> usize {
    let Some(engine) = app.search_engine() else {
        let none = "none: set `search.engine` to searxng, brave, tavily, exa, anthropic, openai or gemini for the tool search_web";
        let _ = writeln!(out, "web search    {none}");
        return 0;
    };
    let _ = writeln!(out, "web search    {} ({})", engine.name(), visible::line(&engine.host()));
    let Some(variable) = engine.missing_variable() else { return 0 };
    let variable = visible::line(variable);
    let _ = writeln!(
        out,
        "  wrong       no key for `{}`: set {variable}, or `search.key_command`",
        engine.name()
    );
    1
}

/// A provider whose key is missing answers nothing: each turn would end with an error.
fn key(out: &mut String, app: &App) -> usize {
    let Some(name) = app.chosen().filter(|name| name != "offline") else { return 0 };
    let Ok(server) = app.server(&name) else { return 0 };
    let why = match app.key(&server) {
        Ok(ApiKeySource::Missing { variable }) => format!("set {variable}, or run `placet setup`"),
        Err(e) => e.to_string(),
        Ok(_) => return 0,
    };
    let _ = writeln!(out, "  wrong       no key for `{name}`: {why}");
    1
}

/// Values of the right type that only their use can judge: a start refuses them, or says so on the screen that they are
/// for.
fn values(out: &mut String, app: &App, themes: &Path) -> usize {
    let mut wrong: Vec<String> = app.budget().err().map(|e| e.to_string()).into_iter().collect();
    let theme = Theme::load(&app.config.settings().ui.theme, themes, ColorDepth::True, |_| None);
    wrong.extend(theme.err().map(|e| format!("ui.theme: {e}")));
    wrong.extend(screen_keys::errors(&app.config));
    for line in &wrong {
        let _ = writeln!(out, "  wrong       {}", visible::line(line));
    }
    wrong.len()
}

fn colours(depth: ColorDepth) -> &'static str {
    match depth {
        ColorDepth::None => "no colour",
        ColorDepth::Sixteen => "16 colours",
        ColorDepth::Indexed => "256 colours",
        ColorDepth::True => "16 million colours",
    }
}

/// Reports what isolates commands from this machine. placet finds out by trying it.
fn commands(out: &mut String, app: &App) -> usize {
    let probe = app.probe_again();
    let wrong = usize::from(probe.backend == SandboxBackend::None);
    let _ = writeln!(out, "sandbox       {}", probe.sentence);
    for remark in &probe.remarks {
        let _ = writeln!(out, "  remark      {remark}");
    }
    for pattern in app.config.settings().sandbox.devices.iter() {
        let found = devices::matching([pattern]);
        let named: Vec<String> = found.iter().map(|path| visible::path(path)).collect();
        let named = if named.is_empty() { "no such device".into() } else { named.join(", ") };
        let _ = writeln!(out, "  device      {}: {named}", visible::name(pattern));
    }
    let facts = DoctorFacts::here();
    if probe.backend != SandboxBackend::Overlay {
        for hint in facts.view() {
            let _ = writeln!(out, "  hint        {hint}");
        }
    }
    let trusted = app.config.settings().network.ca_file.is_some() || has_certificates();
    for (what, command) in facts.missing(trusted) {
        let _ = writeln!(out, "missing       {what}");
        if let Some(command) = command {
            let _ = writeln!(out, "  hint        {command}");
        }
    }
    wrong
}

/// Which way requests take: the proxies of the environment, without their passwords, and who vouches for servers.
fn network(out: &mut String, app: &App) {
    let names = [
        "HTTPS_PROXY",
        "https_proxy",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
        "NO_PROXY",
        "no_proxy",
    ];
    let set =
        names.iter().filter_map(|name| Some((name, std::env::var(name).ok().filter(|v| !v.is_empty())?)));
    for (name, value) in set {
        let _ = writeln!(out, "network       {name}={}", visible::line(&without_password(&value)));
    }
    let variable = std::env::var("SSL_CERT_FILE").ok().filter(|v| !v.is_empty());
    if let Some(file) = variable {
        let _ = writeln!(out, "  trusted     {file} (SSL_CERT_FILE), instead of the system's certificates");
    }
    if let Some(file) = &app.config.settings().network.ca_file {
        let _ = writeln!(out, "  trusted     {file} (network.ca_file), as well");
    }
    for entry in app.config.settings().network.fallback.iter() {
        let _ = writeln!(out, "  fallback    {entry}, when the provider does not answer");
    }
}

fn without_password(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    match rest.rsplit_once('@') {
        Some((_, host)) if scheme.is_empty() => format!("[hidden]@{host}"),
        Some((_, host)) => format!("{scheme}://[hidden]@{host}"),
        None => address.to_string(),
    }
}

/// Where what is pending and what can be undone lies, and how much of the disk it takes.
fn kept(out: &mut String, app: &App) {
    let (journals, objects) = app.journals();
    let mut places: Vec<(&str, std::path::PathBuf)> =
        app.view_places().into_iter().map(|dir| ("layers", dir)).collect();
    if let Some((what, _)) = places.first_mut() {
        *what = "views";
    }
    places.extend([("journal", journals), ("contents", objects)]);
    for (what, dir) in places.iter().filter(|(_, dir)| dir.is_dir()) {
        let _ = writeln!(out, "{what:<13} {}", measured(dir, "file"));
    }
}

/// Files of placet's own that others could read; now they cannot.
fn modes(out: &mut String, paths: &crate::config::AppDirs) {
    let (tightened, failed) =
        file_modes::tighten_all(&[&paths.config, &paths.state, &paths.cache], &paths.keys_file());
    for (path, mode) in &tightened {
        let kind = if path.is_dir() { crate::private::DIR } else { crate::private::FILE };
        let _ = writeln!(out, "mode          {} was {mode:o}; it is {kind:o} now", visible::path(path));
    }
    for (path, error) in &failed {
        let _ = writeln!(out, "  remark      {}: its mode cannot be changed: {error}", visible::path(path));
    }
}

/// Records that cannot be read, each by name; and what a repair moved aside.
fn damage(out: &mut String, app: &App) -> usize {
    let (damage, unseen) = app.damage();
    for one in &damage {
        let _ = writeln!(out, "  wrong       {}", visible::line(&one.to_string()));
    }
    if !damage.is_empty() {
        let _ = writeln!(
            out,
            "  hint        `placet journal repair` moves damaged records aside and rebuilds what can be rebuilt"
        );
    }
    if unseen > 0 {
        let _ = writeln!(
            out,
            "  remark      {unseen} stored contents were not compared with their names: out of time"
        );
    }
    let aside = app.paths.state.join("damaged");
    if aside.is_dir() {
        let _ = writeln!(out, "set aside     {}", measured(&aside, "damaged file"));
    }
    damage.len()
}

/// How many files a directory has, and what they take.
fn measured(dir: &Path, file: &str) -> String {
    let (files, bytes, is_all) = size(dir);
    let (more, s) = (if is_all { "" } else { "more than " }, if files == 1 { "" } else { "s" });
    format!("{more}{files} {file}{s}, {more}{} in {}", in_units(bytes), visible::path(dir))
}

/// Of a place with more entries, doctor says that there is more: nobody waits for the walk of all.
const MOST_MEASURED: u32 = 20_000;

/// Files and the bytes they take on the disk, and whether these are all. What cannot be read counts for nothing.
fn size(dir: &Path) -> (u64, u64, bool) {
    let (mut files, mut bytes, mut entries) = (0, 0, 0);
    let mut todo = vec![dir.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            entries += 1;
            if entries > MOST_MEASURED {
                return (files, bytes, false);
            }
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                todo.push(entry.path());
            } else {
                files += 1;
                bytes += meta.blocks() * 512;
            }
        }
    }
    (files, bytes, true)
}

fn in_units(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

fn keys(out: &mut String, paths: &crate::config::AppDirs) {
    let mut set: Vec<&str> = ProviderPreset::all()
        .iter()
        .map(|p| p.key_variable.as_str())
        .filter(|name| std::env::var(name).is_ok_and(|v| !v.trim().is_empty()))
        .collect();
    set.dedup();
    let shown = if set.is_empty() { "no keys in the environment".to_string() } else { set.join(", ") };
    let _ = writeln!(out, "keys          {shown}");
    let file = paths.keys_file();
    if let Ok(meta) = std::fs::metadata(&file) {
        let _ = writeln!(
            out,
            "  file        {} (mode {:o})",
            visible::path(&file),
            meta.permissions().mode() & 0o777
        );
    }
}

fn sessions(out: &mut String, dir: &std::path::Path) -> usize {
    match SessionStore::open(dir).and_then(|(store, notes)| Ok((store.list(1_000_000)?.len(), notes))) {
        Ok((count, notes)) => {
            let _ = writeln!(out, "sessions      {count} in {}", visible::path(dir));
            for note in &notes {
                let _ = writeln!(out, "  wrong       {}", visible::line(&note.to_string()));
            }
            notes.len()
        }
        Err(e) => {
            let _ = writeln!(out, "  wrong       sessions: {e}");
            1
        }
    }
}
