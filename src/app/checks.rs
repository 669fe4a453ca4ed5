//! The checks of the settings become definitions, and where their results are stored.

use super::App;
use crate::checks::{CheckDefinition, CheckDefinitionError, CheckFields, CheckStore, ProjectChecks};

impl App {
    /// Every `[checks.NAME]`, in the order of their names. A mistake is reported and is not left out: a required check
    /// that is missing must not look like one that passed.
    pub fn checks(&self) -> Result<Vec<CheckDefinition>, CheckDefinitionError> {
        let read = |(name, settings): (String, crate::config::CheckSettings)| {
            let fields = CheckFields {
                command: settings.command,
                paths: settings.paths.to_vec(),
                timeout_seconds: settings.timeout,
                output: settings.output,
                pattern: settings.pattern,
                when: settings.when,
                rounds: u32::try_from(settings.rounds).unwrap_or(u32::MAX),
                required: settings.required,
            };
            CheckDefinition::read(&name, fields)
        };
        let mut checks: Vec<CheckDefinition> =
            self.config.checks().into_iter().map(read).collect::<Result<_, _>>()?;
        // Checks run one after the other, and an apply waits for the required ones.
        checks.sort_by_key(|check| !check.is_required);
        Ok(checks)
    }

    /// The checks of this directory with their results, for a conversation.
    pub(super) fn project_checks(&self) -> ProjectChecks {
        let (definitions, problem) = match self.checks() {
            Ok(definitions) => (definitions, None),
            Err(e) => (Vec::new(), Some(e.to_string())),
        };
        ProjectChecks { definitions, problem, store: self.check_store() }
    }

    /// The results of the checks of this directory.
    pub fn check_store(&self) -> CheckStore {
        let place = blake3::hash(self.cwd().as_os_str().as_encoded_bytes()).to_hex();
        let place: String = place.chars().take(24).collect();
        CheckStore::at(self.paths.state.join("checks").join(place))
    }
}
