//! The gate's parts, from the settings: hooks, classification, the audit log, metrics.

use super::AppError;
use crate::agent::{CallInterceptors, SecretFilter};
use crate::audit;
use crate::config::{AppDirs, AuthorTrust, Config, ConfigProblem, HookSettings, SettingOrigin};
use crate::hooks::{Hook, HookEnvironment, HookSet, HookSource, HookSpec};
use crate::metrics::MetricsFile;
use crate::permission::{ClassificationLevel, ClassificationRules, ProgramDirs, ProtectedPaths};
use crate::text::regular_file;
use crate::workspace::LogMarks;
use globset::{Glob, GlobSetBuilder};
use std::path::PathBuf;
use std::sync::RwLock;

/// Where the audit log and its guards are stored.
pub fn audit_places(paths: &AppDirs) -> audit::AuditPaths {
    let log = paths.state.join("audit/log.jsonl");
    // One anchor for two logs would make both look changed.
    let anchor = match paths.is_state_elsewhere {
        true => {
            let name = audit::digest(&log.to_string_lossy());
            format!("audit-{}.head", name.get(..16).unwrap_or(&name))
        }
        false => "audit.head".into(),
    };
    audit::AuditPaths {
        log,
        key: paths.audit_guards.join("audit.key"),
        anchor: paths.audit_guards.join(anchor),
    }
}

/// Where the figures of all calls are stored.
pub fn metrics(paths: &AppDirs) -> MetricsFile {
    MetricsFile::at(paths.state.join("metrics.json"))
}

/// Mistakes in hooks of a file are added to `config.problems`, and leave placet in doubt about permissions; one on the
/// command line is an error.
pub(super) fn gate(
    config: &mut Config,
    paths: &AppDirs,
    (supervisor, withheld): (PathBuf, Vec<String>),
) -> Result<CallInterceptors, AppError> {
    let keys = withheld.clone();
    let mut hooks = Vec::new();
    for (number, (text, origin, standing)) in config.settings().guard.hooks.clone().into_iter().enumerate() {
        match Hook::parse(spec(text, number, standing)) {
            Ok(hook) => hooks.push(hook),
            Err(e) if matches!(origin, SettingOrigin::Flag(_)) => return Err(AppError::Hook(e)),
            Err(e) => config.add_permission_problem(ConfigProblem::of_value(&origin, e.to_string())),
        }
    }
    let programs = HookEnvironment { supervisor, withheld };
    let secrets = secrets(config, paths, &keys)?;
    let settings = config.settings();
    Ok(CallInterceptors {
        hooks: HookSet::new(hooks, programs),
        audit: settings.guard.audit_enabled.then(|| audit::AuditLog::at(audit_places(paths))),
        metrics: settings.network.metrics_enabled.then(|| metrics(paths)),
        secrets,
        unlogged: LogMarks::default(),
    })
}

/// `withheld` names the environment variables that hold placet's own keys.
fn secrets(config: &mut Config, paths: &AppDirs, withheld: &[String]) -> Result<SecretFilter, AppError> {
    let mut known: Vec<String> = withheld.iter().filter_map(|name| std::env::var(name).ok()).collect();
    known.extend(stored_keys(paths));
    let mut shown = GlobSetBuilder::new();
    for (glob, origin) in config.settings().guard.secrets_shown.clone().with_origins() {
        let anywhere = if glob.starts_with('/') { glob.clone() } else { format!("**/{glob}") };
        match Glob::new(&anywhere) {
            Ok(built) => {
                shown.add(built);
            }
            Err(e) => config.add_permission_problem(ConfigProblem::of_value(
                origin,
                format!("invalid pattern `{glob}`: {}", e.kind()),
            )),
        }
    }
    // Without the set no file is exempt, which is the safe side.
    let shown = shown.build().unwrap_or_default();
    Ok(SecretFilter { on: config.settings().guard.secrets_redact, known: RwLock::new(known), shown })
}

/// The keys of the key file. An unreadable file is reported where its key is needed; here it only adds texts to hide.
pub(super) fn stored_keys(paths: &AppDirs) -> Vec<String> {
    let stored = regular_file::read_to_string(&paths.keys_file(), regular_file::SETTINGS).unwrap_or_default();
    let stored: toml::Table = stored.parse().unwrap_or_default();
    stored.values().filter_map(|value| value.as_str().map(String::from)).collect()
}

fn spec(settings: HookSettings, number: usize, standing: AuthorTrust) -> HookSpec {
    HookSpec {
        name: settings.name.clone().unwrap_or_else(|| format!("hooks[{number}]")),
        source: match standing {
            AuthorTrust::Trusted => HookSource::Person,
            AuthorTrust::Untrusted => HookSource::Project,
        },
        settings,
    }
}

/// The protected paths: the built-in list, what the settings add to it, and the directories of `PATH`.
pub(super) fn protected(config: &mut Config) -> ProtectedPaths {
    let listed = config.settings().guard.permission_protected.clone();
    let own = listed.to_vec();
    let programs = program_dirs;
    match ProtectedPaths::with(&own, programs()) {
        Ok(protected) => protected,
        Err(e) => {
            let origin = listed
                .with_origins()
                .iter()
                .find(|(pattern, _)| *pattern == e.pattern)
                .map(|(_, o)| o.clone());
            config.add_permission_problem(ConfigProblem::of_value(
                &origin.unwrap_or(SettingOrigin::Default),
                e.to_string(),
            ));
            // The other patterns are valid: one mistake must not disable them.
            let good = |pattern: &&String| ProtectedPaths::with(&[(*pattern).clone()], programs()).is_ok();
            let own: Vec<String> = own.iter().filter(good).cloned().collect();
            ProtectedPaths::with(&own, programs()).unwrap_or_default()
        }
    }
}

/// The directories of `PATH`: an executable in one of them runs when its name is typed.
pub(super) fn program_dirs() -> ProgramDirs {
    ProgramDirs::from_variable(std::env::var_os("PATH").as_deref())
        .with_variables(&|name| std::env::var_os(name))
}

/// What the settings classify. What cannot be read leaves placet in doubt, and everything RESTRICTED.
pub(super) fn labels(config: &mut Config) -> ClassificationRules {
    let guard = &config.settings().guard;
    // The settings admit only words that are levels; should the two lists ever differ, the strict side holds.
    let level = |word: &str, strict: ClassificationLevel| ClassificationLevel::parse(word).unwrap_or(strict);
    let levels = [
        level(&guard.classification_default, ClassificationLevel::Restricted),
        level(&guard.classification_network_ceiling, ClassificationLevel::Public),
        level(&guard.classification_provider_ceiling, ClassificationLevel::Public),
    ];
    let (paths, hosts) = (&guard.classification_paths, &guard.classification_hosts);
    match ClassificationRules::new(&paths.to_vec(), &hosts.to_vec(), levels) {
        Ok(labels) => labels,
        Err(e) => {
            let first = paths.with_origins().first();
            let origin = first.map_or(SettingOrigin::Default, |(_, o)| o.clone());
            config.add_permission_problem(ConfigProblem::of_value(&origin, e.to_string()));
            let [_, network, provider] = levels;
            ClassificationRules::new(&[], &[], [ClassificationLevel::Restricted, network, provider])
                .unwrap_or_default()
        }
    }
}
