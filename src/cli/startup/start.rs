//! What every subcommand begins with: the settings, the application, the runtime.

use super::{git_dirs, log_file};
use crate::app::{self, App, IncludeProject};
use crate::cli::command_line::options::Options;
use crate::cli::report::{CliError, warn};
use crate::config::{
    AppDirs, Config, ConfigProblem, NoHomeError, ProjectSettings, SettingsLayer, TrustStore,
};
use crate::permission::Mode;
use crate::text::{count, visible};
use crate::ui::term;
use crate::workspace::{RestoredDatabase, restore_databases};
use std::path::{Path, PathBuf};

/// An application, with the project's file when it waits for the person's trust.
pub(in crate::cli) struct LoadedApp {
    pub(in crate::cli) app: App,
    pub(in crate::cli) untrusted: Option<(Vec<ProjectSettings>, TrustStore)>,
}

pub(in crate::cli) fn paths() -> Result<AppDirs, CliError> {
    AppDirs::from_variables(|name| std::env::var(name).ok())
        .map_err(|e| CliError::new(e).hint(NoHomeError::HINT))
}

/// Who gives the answers that a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum StartedFor {
    /// A person at the prompt: an edit that waits is better than an edit that is refused.
    Shell,
    /// Nobody: nothing is changed unless a setting or a flag says so.
    Program,
}

/// Reads the settings and builds the application. Mistakes in the settings are reported and do not stop placet.
pub(in crate::cli) fn load(options: &Options, started: StartedFor) -> Result<LoadedApp, CliError> {
    let paths = match &options.own.tour {
        Some(dir) => {
            let [state, data, cache] = ["state", "data", "cache"].map(|name| dir.join(name));
            AppDirs { audit_guards: state.clone(), state, data, cache, ..paths()? }
        }
        None => paths()?,
    };
    log_file::start(&paths.log_file(), options.verbose);
    let cwd = working_directory(options)?;
    follow_moved(&paths.state, &cwd);
    let with = if options.no_project { IncludeProject::No } else { IncludeProject::Yes };
    let (mut sources, trust) = app::sources(&paths, &cwd, with);
    if options.own.tour.is_some() {
        // The tour shows placet alone: no server, hook, rule or provider of the person has a part in it.
        let is_look = |name: &str| name.starts_with("ui.") || name.starts_with("keys.");
        for layer in [&mut sources.user, &mut sources.environment] {
            layer.values.retain(|(name, ..)| is_look(name));
            layer.problems.clear();
        }
    }
    // In read mode there is never anything that `--apply` could apply.
    if started == StartedFor::Shell || options.changes.apply {
        sources.defaults.default_of("mode", Mode::Ask.name());
    }
    // An empty setting is the default; an empty word of the command line is a variable that is not set.
    if options.answerer.base_url.as_deref() == Some("") {
        return Err(CliError::usage("`--base-url` is empty"));
    }
    let flags = &mut sources.flags;
    set_flags(flags, options);
    // A mistake on the command line is a usage error. A mistake in a file is reported, and the rest of the file
    // applies.
    if let Some(problem) = flags.problems.first() {
        return Err(CliError { hint: problem.hint.clone(), ..CliError::usage(&problem.message) });
    }
    let files = sources.project.iter().chain(&sources.mcp_file);
    let untrusted: Vec<ProjectSettings> = files.filter(|file| !file.trusted).cloned().collect();
    let flags = sources.flags.clone();
    let config = Config::merge(sources);
    print_problems(&config.problems);
    let told = config.problems.len();
    let untrusted = (!config.untrusted.is_empty()).then_some((untrusted, trust));
    let git_dir = git_dirs::outside(&cwd).filter(|dir| !options.add_dir.contains(dir));
    let request = app::LaunchOptions {
        add_dirs: options.add_dir.iter().cloned().chain(git_dir).collect(),
        cwd,
        record: options.recording.record.clone(),
        replay: options.recording.replay.clone(),
        supervisor: None,
        flags,
        project: with,
    };
    let app = App::new(config, paths, request)?;
    if options.changes.dry_run && app.mode.load() > Mode::Ask {
        return Err(CliError::usage("--dry-run needs read or ask mode"));
    }
    if let Some(most) = options.own.mode_at_most.as_deref().and_then(Mode::parse) {
        narrow_mode(&app, most);
    }
    match app.recover() {
        None => {}
        Some(Ok(recovered)) => warn(&format!("note: {}", recovered.words())),
        Some(Err(e)) => warn(&format!("an apply that was interrupted cannot be completed: {e}")),
    }
    for restored in restore_databases(&app.paths.state) {
        warn(&restored_words(&app, &restored));
    }
    if let Some(line) = crate::serve::changes::damage_line(&app.damage_at_start()) {
        warn(&format!("warning: {line}"));
    }
    print_problems(app.config.problems.get(told..).unwrap_or_default());
    Ok(LoadedApp { app, untrusted })
}

/// What the options say of settings.
fn set_flags(flags: &mut SettingsLayer, options: &Options) {
    let (answerer, settings) = (&options.answerer, &options.settings);
    for (key, value, flag) in [
        ("mode", &options.mode, "--mode"),
        ("provider", &answerer.provider, "--provider"),
        ("model", &answerer.model, "--model"),
        ("base_url", &answerer.base_url, "--base-url"),
        ("tools.dialect", &answerer.dialect, "--dialect"),
        ("append_system_prompt", &settings.append_system_prompt, "--append-system-prompt"),
    ] {
        if let Some(value) = value {
            flags.flag(key, value, flag);
        }
    }
    if answerer.no_stream {
        flags.flag("stream", "false", "--no-stream");
    }
    if options.changes.dry_run && options.mode.is_none() {
        flags.flag("mode", "ask", "--dry-run");
    }
    if let Some(most) = settings.max_turns {
        flags.flag("max_turns", &most.to_string(), "--max-turns");
    }
    flags.flag_list("permission.allow", &settings.allow, "--allow");
    flags.flag_list("permission.deny", &settings.deny, "--deny");
    let accessible = std::env::var("ACCESSIBLE").is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
    if options.linear {
        flags.flag("ui.linear", "true", "--linear");
    } else if accessible {
        flags.flag("ui.linear", "true", "ACCESSIBLE");
    } else if term::is_dumb() {
        flags.flag("ui.linear", "true", "TERM=dumb");
    }
    for assignment in &settings.set {
        flags.set(assignment);
    }
}

/// The strictest permitted mode where the settings permit none as strict as `most`.
fn narrow_mode(app: &App, most: Mode) {
    let narrower = app.mode.permitted().iter().copied().filter(|mode| *mode <= most).max();
    let narrowest = app.mode.permitted().iter().copied().min();
    if let Some(mode) = narrower.or(narrowest).filter(|_| app.mode.load() > most) {
        app.mode.store(mode);
    }
}

/// Sessions of a directory that was moved here follow it before anything is read.
pub(in crate::cli) fn follow_moved(state: &Path, here: &Path) {
    for moved in app::follow_moved(state, here) {
        let from = visible::path(&moved.from);
        if !moved.followed.is_empty() {
            let sessions = count::of(moved.followed.len(), "session");
            warn(&format!(
                "note: `{from}` was moved here: {sessions} followed, with pending changes and discards"
            ));
        }
        for why in moved.failed {
            warn(&visible::guard(&format!(
                "warning: `{from}` was moved here, and a session did not follow: {why}"
            )));
        }
    }
}

/// A database of a program at home that was being replaced when placet was killed.
fn restored_words(app: &App, restored: &RestoredDatabase) -> String {
    let (RestoredDatabase::Restored(path) | RestoredDatabase::Used(path)) = restored;
    let name = visible::path(&app.workspace.shortened(path));
    let begun = format!("`placet run` was killed while it replaced the database {name}");
    match restored {
        RestoredDatabase::Restored(_) => format!("note: {begun}; the database has its log again"),
        RestoredDatabase::Used(_) => {
            format!(
                "warning: {begun}; another program used it without its log, whose name ends with `.placet-old` now"
            )
        }
    }
}

fn print_problems(problems: &[ConfigProblem]) {
    problems.iter().for_each(|problem| warn(&crate::text::sanitize::block(&problem.to_string())));
}

/// Every directory has one spelling, because trust and sessions are stored under it.
pub(in crate::cli) fn working_directory(options: &Options) -> Result<PathBuf, CliError> {
    let here = std::env::current_dir()
        .map_err(|e| CliError::new(format!("the working directory does not exist: {e}")))?;
    let Some(dir) = &options.cwd else { return Ok(here) };
    let dir = here.join(dir);
    match dir.canonicalize() {
        Ok(dir) if dir.is_dir() => Ok(dir),
        _ => Err(CliError::usage(format!("`{}` is not a directory", dir.display()))),
    }
}

/// The runtime, whose threads run in addition to the main thread.
pub(in crate::cli) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    Ok(app::runtime(workers)?)
}

/// For subcommands that need the application.
pub(in crate::cli) fn app(options: &Options) -> Result<App, CliError> {
    let loaded = load(options, StartedFor::Program)?;
    note_untrusted(&loaded);
    Ok(loaded.app)
}

pub(in crate::cli) fn note_untrusted(loaded: &LoadedApp) {
    if let Some((files, _)) = &loaded.untrusted {
        let paths: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
        let left_out = loaded.app.config.untrusted.join(", ");
        warn(&format!(
            "note: {} is not trusted; ignored: {}\nhint: review and trust it with `placet config trust`",
            paths.join(" and "),
            crate::text::sanitize::line(&left_out)
        ));
    }
}
