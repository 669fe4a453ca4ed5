//! What is known so far: the answers, and what was found out for the questions.

use super::candidates::{Candidate, candidates};
use super::check::ListedModel;
use super::key_tool::KeyTool;
use super::plan::{KeyChoice, KeyPlace, SettingsPlan};
use super::write::SetupFiles;
use crate::app::configured_provider::ConfiguredProvider;
use crate::app::{App, AppError};
use crate::ui::wizard::WizardChoice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetupStep {
    Provider,
    Address,
    Wire,
    Name,
    Key,
    TypeKey,
    NameVariable,
    NameCommand,
    Checking,
    CheckFailed,
    Place,
    Model,
    TypeModel,
    Confirm,
    Writing,
}

/// A way to give a key, as a list offers it.
#[derive(Clone, Debug)]
pub(super) enum KeyWay {
    Keep(String),
    Type,
    Variable,
    Command,
    None,
}

/// What can be done after a check that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterFailure {
    Again,
    OtherKey,
    OtherAddress,
    Unchecked,
}

/// What is known of the chosen server.
#[derive(Default)]
pub(super) struct CheckedServer {
    /// The sentence about the key.
    pub(super) key: &'static str,
    pub(super) models: Vec<ListedModel>,
}

impl CheckedServer {
    /// The person goes on without an answer.
    pub(super) fn unchecked() -> CheckedServer {
        CheckedServer { key: "not checked", models: Vec::new() }
    }
}

pub(super) struct SetupState<'a> {
    pub(super) app: &'a App,
    pub(super) files: SetupFiles,
    pub(super) step: SetupStep,
    pub(super) candidates: Vec<(Candidate, WizardChoice)>,
    pub(super) server: Option<ConfiguredProvider>,
    /// It is in no settings yet.
    pub(super) is_new: bool,
    /// The address that was typed, where it is another than the settings have.
    pub(super) address: Option<String>,
    pub(super) ways: Vec<KeyWay>,
    pub(super) key: Option<KeyChoice>,
    pub(super) after_failure: Vec<AfterFailure>,
    pub(super) found: CheckedServer,
    pub(super) tools: Vec<KeyTool>,
    pub(super) place: KeyPlace,
    pub(super) model: Option<String>,
    pub(super) plan: Option<SettingsPlan>,
}

impl<'a> SetupState<'a> {
    pub(super) fn new(
        app: &'a App,
        files: SetupFiles,
        running: &[(String, usize)],
    ) -> Result<SetupState<'a>, AppError> {
        Ok(SetupState {
            app,
            files,
            step: SetupStep::Provider,
            candidates: candidates(app, running)?,
            server: None,
            is_new: false,
            address: None,
            ways: Vec::new(),
            key: None,
            after_failure: Vec::new(),
            found: CheckedServer::default(),
            tools: KeyTool::found(),
            place: KeyPlace::File,
            model: None,
            plan: None,
        })
    }

    pub(super) fn name(&self) -> &str {
        self.server.as_ref().map_or("", |server| server.name.as_str())
    }
}
