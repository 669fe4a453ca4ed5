//! Which question follows which answer. Nothing is written before the last one; leaving at any other changes nothing.

use super::super::provider::discovery;
use super::background::BackgroundTask;
use super::candidates::{Candidate, host};
use super::check::{CheckOutcome, check, explained};
use super::pages;
use super::plan::{KeyChoice, KeyPlace, SetupAnswers, plan};
use super::state::{AfterFailure, CheckedServer, KeyWay, SetupState, SetupStep};
use super::write::{SetupFiles, SetupWriteError, write};
use crate::app::configured_provider::{self, ConfiguredProvider};
use crate::app::model_selection::KeyStatus;
use crate::app::{App, AppError};
use crate::private;
use crate::provider::{
    ApiKey, ApiKeyRequirement, ApiKeySource, ProviderError, ProviderPreset, ServerLocation, base_url_problem,
};
use crate::ui::wizard::{TextPrefill, Wizard, WizardAnswer, WizardPage, WizardQuestion};
use tokio::runtime::Handle;

/// How it ended.
#[derive(Debug)]
pub(super) enum SetupEnd {
    Left,
    Written(SetupAnswers),
    /// The settings are what was chosen.
    Unchanged,
}

pub(super) struct SetupFlow<'a> {
    state: SetupState<'a>,
    runtime: Handle,
    /// The settings file when it began.
    before: String,
    checking: Option<BackgroundTask<CheckOutcome>>,
    writing: Option<BackgroundTask<Result<(), SetupWriteError>>>,
    /// The questions that were answered, in their order.
    trail: Vec<SetupStep>,
    page: WizardPage,
    pub(super) end: Option<SetupEnd>,
}

impl<'a> SetupFlow<'a> {
    pub(super) fn new(
        app: &'a App,
        runtime: Handle,
        files: SetupFiles,
        before: String,
    ) -> Result<SetupFlow<'a>, AppError> {
        // A setup that was killed while it wrote left a copy of the key, also where this one writes nothing.
        private::remove_unfinished(&files.keys);
        private::remove_unfinished(&files.settings);
        let running = runtime.block_on(discovery::running(app))?;
        let state = SetupState::new(app, files, &running)?;
        let page = pages::page(&state);
        let (trail, end) = (Vec::new(), None);
        Ok(SetupFlow { state, runtime, before, checking: None, writing: None, trail, page, end })
    }

    /// Another question, after the one that was answered.
    fn go(&mut self, step: SetupStep) {
        // Waiting and its failure are not answers: Esc goes past them.
        if !matches!(self.state.step, SetupStep::Checking | SetupStep::CheckFailed | SetupStep::Writing) {
            self.trail.push(self.state.step);
        }
        self.show(step);
    }

    fn show(&mut self, step: SetupStep) {
        self.state.step = step;
        if step == SetupStep::Key {
            self.state.ways = self.key_ways();
        }
        if step == SetupStep::Confirm {
            self.state.plan = self.answers().and_then(|answers| plan(&self.before, &answers));
        }
        self.page = pages::page(&self.state);
    }

    /// The same question again, with what is wrong with the answer.
    fn refuse(&mut self, why: &str) {
        self.page = pages::page(&self.state);
        self.page.lines.insert(0, (why.into(), "error"));
    }

    /// The same for a text, which stays in the field to be corrected.
    fn refuse_text(&mut self, typed: &str, why: &str) {
        self.refuse(why);
        if let WizardQuestion::Text { text, prefill } = &mut self.page.question
            && !typed.trim().is_empty()
        {
            (*text, *prefill) = (typed.trim().into(), TextPrefill::Typed);
        }
    }

    fn key_ways(&self) -> Vec<KeyWay> {
        let Some(server) = &self.state.server else { return Vec::new() };
        let needs = server.preset.key == ApiKeyRequirement::Required && !self.state.is_new;
        let mut ways = Vec::new();
        match self.state.app.key_standing(server) {
            (KeyStatus::There, words) if !self.state.is_new => ways.push(KeyWay::Keep(words)),
            _ if !needs => ways.push(KeyWay::None),
            _ => {}
        }
        ways.extend([KeyWay::Type, KeyWay::Command, KeyWay::Variable]);
        if !needs && !ways.iter().any(|way| matches!(way, KeyWay::None)) {
            ways.push(KeyWay::None);
        }
        ways
    }

    fn choose_provider(&mut self, at: usize) {
        let Some((candidate, _)) = self.state.candidates.get(at) else { return };
        (self.state.address, self.state.key, self.state.found.key) = (None, None, "");
        match candidate {
            Candidate::New => {
                (self.state.server, self.state.is_new) = (None, true);
                self.go(SetupStep::Address);
            }
            Candidate::Known(server) => {
                let asks = server.preset.base_url.is_empty() || server.preset.place == ServerLocation::Local;
                (self.state.server, self.state.is_new) = (Some((**server).clone()), false);
                self.go(if asks { SetupStep::Address } else { SetupStep::Key });
            }
        }
    }

    fn take_address(&mut self, text: &str) {
        let url = text.trim();
        let has_two = url.split('?').next().is_some_and(|path| path.matches("://").count() > 1);
        let problem = if has_two { Some("it contains `://` twice") } else { base_url_problem(url) };
        if let Some(why) = problem {
            return self.refuse_text(url, &format!("this cannot be a base URL: {why}"));
        }
        if self.state.is_new {
            self.state.address = Some(url.into());
            return self.go(SetupStep::Wire);
        }
        if let Some(server) = &mut self.state.server {
            self.state.address = (server.preset.base_url != url).then(|| url.to_string());
            server.preset.base_url = url.into();
        }
        self.go(SetupStep::Key);
    }

    fn take_name(&mut self, text: &str) {
        let name = text.trim();
        let is_name = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if !is_name {
            return self.refuse_text(name, "use letters, digits, `-`, `_` and `.`");
        }
        let is_known = ProviderPreset::of(name).is_some()
            || name == "offline"
            || self.state.app.config.provider_names().iter().any(|known| known == name);
        if is_known {
            return self.refuse_text(name, "a provider of this name exists; choose another name");
        }
        if let Some(server) = &mut self.state.server {
            server.name = name.into();
            server.preset.name = name.into();
        }
        self.go(SetupStep::Key);
    }

    fn take_wire(&mut self, at: usize) {
        let (Some(wire), Some(url)) =
            (pages::WIRES.get(at).map(|(wire, _)| *wire), self.state.address.clone())
        else {
            return;
        };
        self.state.server = configured_provider::own(&pages::name_of_host(host(&url)), wire, &url).ok();
        self.go(SetupStep::Name);
    }

    fn take_way(&mut self, at: usize) {
        match self.state.ways.get(at).cloned() {
            Some(KeyWay::Keep(words)) => self.check(KeyChoice::Keep(words)),
            Some(KeyWay::None) => self.check(KeyChoice::NoKey),
            Some(KeyWay::Type) => self.go(SetupStep::TypeKey),
            Some(KeyWay::Variable) => self.go(SetupStep::NameVariable),
            Some(KeyWay::Command) => self.go(SetupStep::NameCommand),
            None => {}
        }
    }

    fn take_key(&mut self, text: &str) {
        let key = ApiKey::new(text);
        match key.problem() {
            Some(problem) => self.refuse(&format!("this cannot be a key: {problem}")),
            None => self.check(KeyChoice::Typed(key)),
        }
    }

    fn take_variable(&mut self, text: &str) {
        let name = text.trim();
        if !std::env::var(name).is_ok_and(|value| !value.trim().is_empty()) {
            let shown = crate::text::visible::line(name).into_owned();
            let why = format!("{shown} is not set in this shell, so the key cannot be checked");
            return self.refuse_text(name, &why);
        }
        self.check(KeyChoice::Variable(name.into()));
    }

    /// Sends the one request, with the key that was chosen.
    fn check(&mut self, key: KeyChoice) {
        let source = match &key {
            KeyChoice::Keep(_) => None,
            KeyChoice::NoKey => Some(ApiKeySource::None),
            KeyChoice::Typed(key) => Some(ApiKeySource::Value(key.clone())),
            KeyChoice::Variable(name) => {
                Some(ApiKeySource::Value(ApiKey::new(&std::env::var(name).unwrap_or_default())))
            }
            KeyChoice::Command(line) => Some(ApiKeySource::command(line)),
        };
        self.state.key = Some(key);
        let Some(server) = &self.state.server else { return };
        let live = self.state.app.live_with(server, || match source {
            Some(source) => Ok(source),
            None => self.state.app.key(server),
        });
        match live {
            Err(e) => self.refuse(&e.to_string()),
            Ok(live) => {
                let path = server.preset.key_path.clone();
                self.checking = Some(BackgroundTask::start(&self.runtime, check(live, path)));
                self.go(SetupStep::Checking);
            }
        }
    }

    fn checked(&mut self, outcome: CheckOutcome) {
        self.checking = None;
        match outcome {
            CheckOutcome::Models(models) => {
                // A server that needs no key lists its models to any key.
                self.state.found.key = match &self.state.key {
                    Some(KeyChoice::NoKey) => "",
                    _ => "the server accepts the key",
                };
                self.state.found.models = models;
                self.after_check();
            }
            CheckOutcome::NoList(why) => {
                self.state.found = CheckedServer::unchecked();
                self.after_check();
                self.page.lines.insert(0, (why, "notice"));
            }
            CheckOutcome::Failed(error) => {
                let has_key = !matches!(self.state.key, Some(KeyChoice::NoKey));
                let other_key = if has_key { "use another key" } else { "give a key" };
                self.state.after_failure = self.ways_on(&error);
                self.state.step = SetupStep::CheckFailed;
                let (words, hint) = explained(&error);
                self.page = pages::failure(&self.state.after_failure, other_key, &words, hint);
            }
        }
    }

    /// What can be done after this error, the likeliest first: no key helps where nothing answers.
    fn ways_on(&self, error: &ProviderError) -> Vec<AfterFailure> {
        use AfterFailure::{Again, OtherAddress, OtherKey, Unchecked};
        let mut ways = match error {
            ProviderError::Network { .. } | ProviderError::NotRunning { .. } => {
                vec![OtherAddress, Again, OtherKey, Unchecked]
            }
            _ => vec![OtherKey, Again, OtherAddress, Unchecked],
        };
        if !self.has_own_address() {
            ways.retain(|way| *way != OtherAddress);
        }
        ways
    }

    /// The address is the person's, and not that of a built-in provider.
    fn has_own_address(&self) -> bool {
        let is_usual = |server: &ConfiguredProvider| {
            ProviderPreset::of(&server.name).is_some_and(|preset| preset.base_url == server.preset.base_url)
        };
        self.state.is_new
            || self.trail.contains(&SetupStep::Address)
            || self.state.server.as_ref().is_some_and(|server| !is_usual(server))
    }

    fn after_check(&mut self) {
        let typed = matches!(self.state.key, Some(KeyChoice::Typed(_)));
        match typed && !self.state.tools.is_empty() {
            true => self.go(SetupStep::Place),
            false => self.ask_model(),
        }
    }

    fn ask_model(&mut self) {
        self.go(if self.state.found.models.is_empty() { SetupStep::TypeModel } else { SetupStep::Model });
    }

    fn take_failure(&mut self, at: usize) {
        match self.state.after_failure.get(at) {
            Some(AfterFailure::Again) => {
                if let Some(key) = self.state.key.clone() {
                    self.check(key);
                }
            }
            Some(AfterFailure::OtherKey) => self.back_to(SetupStep::Key),
            Some(AfterFailure::OtherAddress) => self.ask_address(),
            Some(AfterFailure::Unchecked) => {
                self.state.found = CheckedServer::unchecked();
                self.after_check();
            }
            None => {}
        }
    }

    /// The question about the address again, also where the address came from the settings and nobody asked for it yet.
    fn ask_address(&mut self) {
        if !self.trail.contains(&SetupStep::Address) {
            self.trail.retain(|step| *step == SetupStep::Provider);
        }
        self.back_to(SetupStep::Address);
    }

    fn take_model(&mut self, name: &str) {
        let name = name.trim();
        if name.is_empty() || name.contains(char::is_control) {
            return self.refuse("type the name of a model");
        }
        self.state.model = Some(name.into());
        self.go(SetupStep::Confirm);
    }

    pub(super) fn answers(&self) -> Option<SetupAnswers> {
        let server = self.state.server.as_ref()?;
        Some(SetupAnswers {
            provider: server.name.clone(),
            wire: self.state.is_new.then(|| server.preset.wire.name()),
            address: self.state.address.clone(),
            key: self.state.key.clone()?,
            place: self.state.place,
            usual_variable: ProviderPreset::of(&server.name).map(|preset| preset.key_variable.clone()),
            model: self.state.model.clone()?,
        })
    }

    fn confirm(&mut self, at: usize) {
        let (Some(answers), Some(plan)) = (self.answers(), self.state.plan.clone()) else {
            self.end = Some(SetupEnd::Left);
            return;
        };
        let stores = matches!(answers.key, KeyChoice::Typed(_));
        if plan.is_empty() && !stores {
            self.end = Some(SetupEnd::Unchanged);
        } else if at == 0 {
            let work = write(answers, plan, self.state.files.clone());
            self.writing = Some(BackgroundTask::start(&self.runtime, work));
            self.go(SetupStep::Writing);
        } else {
            self.end = Some(SetupEnd::Left);
        }
    }

    fn written(&mut self, result: Result<(), SetupWriteError>) {
        self.writing = None;
        match (result, self.answers()) {
            (Ok(()), Some(answers)) => self.end = Some(SetupEnd::Written(answers)),
            (Ok(()), None) => self.end = Some(SetupEnd::Left),
            (Err(error), _) => {
                if let SetupWriteError::Changed(path) = &error {
                    self.before = crate::cli::settings_file::read(path).unwrap_or_default();
                }
                self.back_to(SetupStep::Confirm);
                self.refuse(&error.to_string());
            }
        }
    }

    /// An earlier question, and nothing of what came after it.
    fn back_to(&mut self, step: SetupStep) {
        if let Some(at) = self.trail.iter().position(|answered| *answered == step) {
            self.trail.truncate(at);
        }
        self.show(step);
    }
}

impl Wizard for SetupFlow<'_> {
    fn title(&self) -> String {
        "placet setup".into()
    }

    fn answered(&self) -> Vec<(&'static str, String)> {
        self.trail.iter().filter_map(|step| pages::answered(&self.state, *step)).collect()
    }

    fn page(&self) -> &WizardPage {
        &self.page
    }

    fn answer(&mut self, answer: WizardAnswer) {
        match (self.state.step, answer) {
            (SetupStep::Provider, WizardAnswer::Item(at)) => self.choose_provider(at),
            (SetupStep::Address, WizardAnswer::Text(text)) => self.take_address(&text),
            (SetupStep::Wire, WizardAnswer::Item(at)) => self.take_wire(at),
            (SetupStep::Name, WizardAnswer::Text(text)) => self.take_name(&text),
            (SetupStep::Key, WizardAnswer::Item(at)) => self.take_way(at),
            (SetupStep::TypeKey, WizardAnswer::Text(text)) => self.take_key(&text),
            (SetupStep::NameVariable, WizardAnswer::Text(text)) => self.take_variable(&text),
            (SetupStep::NameCommand, WizardAnswer::Text(text)) if text.trim().is_empty() => {
                self.refuse("type the command");
            }
            (SetupStep::NameCommand, WizardAnswer::Text(text)) => {
                self.check(KeyChoice::Command(text.trim().into()));
            }
            (SetupStep::CheckFailed, WizardAnswer::Item(at)) => self.take_failure(at),
            (SetupStep::Place, WizardAnswer::Item(at)) => {
                self.state.place = match at.checked_sub(1).and_then(|at| self.state.tools.get(at)) {
                    Some(tool) => KeyPlace::Tool(*tool),
                    None => KeyPlace::File,
                };
                self.ask_model();
            }
            (SetupStep::Model, WizardAnswer::Item(at)) => {
                let name = pages::ordered_models(&self.state).get(at).map(|model| (*model).to_string());
                self.take_model(&name.unwrap_or_default());
            }
            (SetupStep::Model | SetupStep::TypeModel, WizardAnswer::Text(text)) => self.take_model(&text),
            (SetupStep::Confirm, WizardAnswer::Item(at)) => self.confirm(at),
            _ => {}
        }
    }

    fn paste(&mut self, text: &str) -> bool {
        // A key that is pasted where placet asks how it will be given.
        let can = self.state.step == SetupStep::Key
            && self.state.ways.iter().any(|way| matches!(way, KeyWay::Type));
        if can {
            self.go(SetupStep::TypeKey);
            self.take_key(text);
        }
        can
    }

    fn back(&mut self) {
        match self.state.step {
            // The program that stores a key is ended with the task.
            SetupStep::Writing => {
                self.writing = None;
                self.back_to(SetupStep::Confirm);
                self.refuse("stopped; nothing was written to the settings");
            }
            _ => {
                self.checking = None;
                match self.trail.pop() {
                    Some(step) => self.show(step),
                    None => self.end = Some(SetupEnd::Left),
                }
            }
        }
    }

    fn cancel(&mut self) {
        (self.checking, self.writing) = (None, None);
        self.end = Some(SetupEnd::Left);
    }

    fn poll(&mut self) -> bool {
        if let Some(outcome) = self.checking.as_ref().and_then(BackgroundTask::poll) {
            self.checked(outcome);
            return true;
        }
        if let Some(result) = self.writing.as_ref().and_then(BackgroundTask::poll) {
            self.written(result);
            return true;
        }
        false
    }

    fn is_closed(&self) -> bool {
        self.end.is_some()
    }
}
