//! `placet checks detect`: proposes checks. With `--write` the proposals become a change to the project's settings, which is
//! asked about in a terminal, and stays pending elsewhere unless an option names the file.

use super::changes::apply_question;
use super::changes::approvals::{self, ApprovalPrompt};
use super::changes::pending::{self, SelectedView, cli_label, named_and_pending, report_outcome};
use super::command_line::options::Options;
use super::report::{self, CliError, UNDO, print, warn};
use super::startup::start;
use super::{review, settings_file};
use crate::agent::{ApprovalReply, CallOrigin, CommandLineQuestion, EntryPoint, SingleCall, TurnDecision};
use crate::app::App;
use crate::audit::AuditKind;
use crate::checks::proposed_addition;
use crate::config::{AppDirs, ProposedSettings, home_dir};
use crate::conversation::{CallId, CallInput, CallOutcome, ToolCall};
use crate::permission::Mode;
use crate::serve::changes::{self, ApplyRequest};
use crate::session::Scratchpads;
use crate::text::visible;
use crate::tools::CHECKS_TOOL;
use crate::ui::term::BaseMode;
use crate::workspace::LayerKind;
use serde_json::json;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What the journal and the audit log say of it.
const BY: &str = "placet checks detect";

pub(super) fn detect(write: bool, options: &Options) -> Result<u8, CliError> {
    // Where a person is, the proposal is asked about; elsewhere it is printed.
    let write = write || approvals::can_ask() && io::stdout().is_terminal();
    // A command line starts in read mode, and the person asked for this change.
    let mode = options.mode.clone().or_else(|| write.then(|| Mode::Ask.name().to_string()));
    let options = &Options { mode, ..options.clone() };
    let app = start::app(options)?;
    let known: Vec<String> = app.config.checks().into_iter().map(|(name, _)| name).collect();
    let dir = app.cwd();
    let file = AppDirs::project_file(dir, home_dir().as_deref());
    let file = file.unwrap_or_else(|| dir.join(".placet/config.toml"));
    let before = settings_file::read(&file)?;
    let added = match proposed_addition(dir, &known, &before) {
        Ok(added) => added,
        Err(why) => {
            warn(&format!("nothing to propose: {why}"));
            return Ok(report::DONE);
        }
    };
    added.missing_words().iter().for_each(|words| warn(&format!("note: {words}")));
    if !write {
        print(&format!(
            "# would be added to {}\n{}",
            visible::path(&file),
            visible::block(added.text.trim_start())
        ))?;
        warn("hint: `placet checks detect --write` proposes the change");
        return Ok(report::DONE);
    }
    let settings = ProposedSettings::new(&file, format!("{before}{}", added.text), &app.paths.trust_file());
    let settings = settings.map_err(|problem| {
        CliError::new(format!("the settings would not be valid: {problem}")).hint("nothing was changed")
    })?;
    refuse_second(&app, &file)?;
    CheckProposal::stage(&app, (file, settings), added.text)?.settle(options)
}

/// Two pending changes that add the same checks would be a conflict.
fn refuse_second(app: &App, file: &Path) -> Result<(), CliError> {
    for waiting in app.waiting_and_unread().0 {
        let set = waiting.view.changes(LayerKind::Pending).map_err(CliError::new)?;
        if set.get(file).is_some() {
            let shown = visible::path(file);
            let session = visible::name(&waiting.name);
            return Err(CliError::new(format!("a change to {shown} is pending already"))
                .hint(format!("apply or discard it first: `placet changes --session {session}` shows it")));
        }
    }
    Ok(())
}

/// The proposed checks, as a change to the project's settings.
struct CheckProposal<'a> {
    app: &'a App,
    file: PathBuf,
    settings: ProposedSettings,
    /// `None` where the mode applied the change at once.
    chosen: Option<SelectedView>,
}

impl<'a> CheckProposal<'a> {
    fn stage(
        app: &'a App,
        (file, settings): (PathBuf, ProposedSettings),
        content: String,
    ) -> Result<CheckProposal<'a>, CliError> {
        let name = app.fresh_view();
        let env = app.env(Arc::new(Scratchpads::in_memory()), &name);
        let view = env.workspace.view().cloned().ok_or_else(|| CliError::new("there is no view"))?;
        view.begin_single_call(0, BY.into());
        let input = json!({ "path": file.to_string_lossy(), "content": content });
        let call =
            ToolCall { id: CallId::new("call"), name: CHECKS_TOOL.into(), input: CallInput::Object(input) };
        let origin = CallOrigin {
            interceptors: Arc::clone(&app.gate),
            session: None,
            entry_point: EntryPoint::CommandLine,
        };
        let (registry, policy) = (Arc::clone(&app.registry), Arc::clone(&app.policy));
        let (reply, cancel) = (ApprovalReply::Nobody, CancellationToken::new());
        let single = SingleCall { registry, env, policy, origin, call, reply, cancel };
        let (result, _) = start::runtime()?.block_on(single.run(warn));
        if result.outcome != CallOutcome::Done {
            let words: Vec<_> = result.parts.iter().filter_map(crate::conversation::Part::words).collect();
            let failed = CliError::new(words.join("\n").trim_end().to_string());
            let code = if result.outcome == CallOutcome::Denied { report::REFUSED } else { report::ERROR };
            return Err(CliError { code, ..failed });
        }
        let chosen = view.turn().held.then(|| SelectedView::of(app, name, view.clone()));
        Ok(CheckProposal { app, file, settings, chosen })
    }

    /// Asks a person who is there, or does what the options say.
    fn settle(&self, options: &Options) -> Result<u8, CliError> {
        let Some(chosen) = &self.chosen else { return self.applied(report::DONE) };
        let shown = chosen.view.shown().map_err(CliError::new)?;
        let approval = named_and_pending(&[&shown], &chosen.workspace, options)?.pop();
        let prompt = ApprovalPrompt::here(self.app);
        let code = match (approval.filter(|approval| !approval.is_none()), prompt) {
            (Some(approval), _) => {
                let wanted = ApplyRequest { approval, only_approved: true, ..ApplyRequest::default() };
                let told =
                    changes::apply(shown, &wanted, cli_label(&chosen.name, BY), UNDO, &|path: &Path| {
                        chosen.workspace.shortened(path)
                    });
                report_outcome(self.app, AuditKind::Apply, BY, &told, options.changes.apply_loss)?
            }
            (None, Some(ApprovalPrompt::Pane(_))) => self.ask_in_pane(chosen)?,
            (None, Some(prompt @ ApprovalPrompt::Lines)) => self.ask_in_lines(chosen, &prompt, options)?,
            (None, None) => report::DONE,
        };
        if self.is_pending(chosen)? {
            let code = pending::after(&chosen.workspace, code);
            let shown = visible::path(&chosen.workspace.shortened(&self.file));
            // Without the session, which is the one that changed something last: the command fits a row of 80 columns.
            warn(&format!("hint: `placet apply --apply-protected {shown}` applies it without a question"));
            return Ok(code);
        }
        let exists = settings_file::read(&self.file).is_ok_and(|text| !text.is_empty());
        if exists { self.applied(code) } else { Ok(code) }
    }

    fn ask_in_pane(&self, chosen: &SelectedView) -> Result<u8, CliError> {
        loop {
            let decision = {
                let _base = BaseMode::enter_any().map_err(CliError::new)?;
                let asked = CommandLineQuestion { label: cli_label(&chosen.name, BY), sends_to: None };
                let asking = apply_question::ask(self.app, (&chosen.workspace, None), asked, BY);
                start::runtime()?.block_on(asking)?
            };
            let again = decision == TurnDecision::Review && review::from_question(self.app, chosen)?.is_left;
            if !again {
                return Ok(report::DONE);
            }
        }
    }

    fn ask_in_lines(
        &self,
        chosen: &SelectedView,
        prompt: &ApprovalPrompt<'_>,
        options: &Options,
    ) -> Result<u8, CliError> {
        let label = cli_label(&chosen.name, BY);
        let waiting = std::slice::from_ref(&self.file);
        let mut code = report::DONE;
        prompt.one_by_one(chosen, waiting, &label, &mut |kind, told| {
            code = code.max(report_outcome(self.app, kind, BY, &told, options.changes.apply_loss)?);
            Ok(())
        })?;
        Ok(code)
    }

    fn is_pending(&self, chosen: &SelectedView) -> Result<bool, CliError> {
        let set = chosen.view.changes(LayerKind::Pending).map_err(CliError::new)?;
        Ok(set.get(&self.file).is_some())
    }

    fn applied(&self, code: u8) -> Result<u8, CliError> {
        match self.settings.accept(&self.app.paths.trust_file()).map_err(CliError::new)? {
            true => warn("the checks are in effect"),
            false => warn("hint: `placet config trust` accepts the file as it is now"),
        }
        Ok(code)
    }
}
