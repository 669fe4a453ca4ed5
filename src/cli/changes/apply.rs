//! `placet apply`: applies what is pending. At a terminal it asks the apply question first; where the command line says what
//! is applied, or nobody can be asked, it asks only about what needs an approval of its own.

use super::approvals::ApprovalPrompt;
use super::pending::{SelectedView, approval, chosen, cli_label, report_applied, resolved, unread, waits};
use super::{apply_progress, apply_question};
use crate::agent::{CommandLineQuestion, TurnDecision};
use crate::app::App;
use crate::audit::AuditKind;
use crate::cli::command_line::options::Options;
use crate::cli::command_line::session_selector::SessionSelector;
use crate::cli::report::{self, CliError, UNDO, warn};
use crate::cli::startup::start;
use crate::cli::{review, screen};
use crate::repl::reviewed_at;
use crate::serve::changes::{self, ApplyRequest, UserReport};
use crate::ui::term::BaseMode;
use crate::workspace::LayerKind;
use std::path::PathBuf;

/// What the audit log says of it.
const BY: &str = "placet apply";

/// Whether the command line is the person's yes to ordinary changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum ApplyConsent {
    /// The person is asked, if there is one.
    Asked,
    Given,
}

pub(in crate::cli) fn apply(
    paths: &[PathBuf],
    consent: ApplyConsent,
    which: &SessionSelector,
    options: &Options,
) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let Some(chosen) = chosen(&app, which)? else {
        warn("nothing is pending");
        return Ok(report::DONE);
    };
    let SelectedView { name, view, workspace } = &chosen;
    let approval = approval(resolved(workspace, &options.changes.apply_protected)?, options);
    let prompt = ApprovalPrompt::here(&app);
    let says_what = !paths.is_empty() || !approval.is_none();
    if let (Some(ApprovalPrompt::Pane(_)), ApplyConsent::Asked, false) = (&prompt, consent, says_what) {
        return ask(&app, &chosen);
    }
    let paths = resolved(workspace, paths)?;
    let shown = view.shown().map_err(|e| unread(&e))?;
    let reviewed = reviewed_at(workspace, &shown, &paths);
    let decided = reviewed.as_ref().map(|reviewed| reviewed.decision.clone());
    let mut wanted = ApplyRequest { paths, approval, only_approved: false, reviewed: decided };
    if let Some(prompt) = &prompt {
        prompt.confirm_losses(&shown, workspace, &mut wanted)?;
    }
    let label = cli_label(name, BY);
    let told = apply_progress::shown(view, || {
        changes::apply(shown, &wanted, label.clone(), UNDO, &|path| workspace.shortened(path))
    });
    if let Some(reviewed) = reviewed.filter(|_| told.done) {
        warn(&format!("as reviewed: {}", reviewed.words));
        (reviewed.finish)().iter().for_each(|line| warn(line));
    }
    let report = |kind, told: &UserReport| {
        report_applied(&app, (kind, BY), told, ((view, workspace), &label), options.changes.apply_loss)
    };
    let Some(prompt) = prompt.filter(|_| !told.waiting.is_empty()) else {
        return report(AuditKind::Apply, &told);
    };
    let first = told.before_questions();
    let mut incomplete = false;
    let mut each = |kind, told: UserReport| {
        incomplete |= report(kind, &told)? == report::INCOMPLETE;
        Ok(())
    };
    if !first.lines.is_empty() {
        each(AuditKind::Apply, first)?;
    }
    prompt.one_by_one(&chosen, &told.waiting_paths(), &label, &mut each)?;
    let left = view.changes(LayerKind::Pending).map_err(CliError::new)?;
    let stays = told.waiting.iter().any(|one| !left.below(&one.path).is_empty());
    if stays {
        waits(name);
    }
    Ok(match stays || !told.losses.is_empty() {
        _ if incomplete => report::INCOMPLETE,
        true => report::REFUSED,
        false => report::DONE,
    })
}

/// The apply question about everything that is pending.
fn ask(app: &App, chosen: &SelectedView) -> Result<u8, CliError> {
    let SelectedView { name, view, workspace } = chosen;
    let runtime = start::runtime()?;
    let code = loop {
        let decision = {
            let _base = BaseMode::enter_any().map_err(CliError::new)?;
            // The question is the first thing that this process draws: its colours are those of the terminal.
            drop(screen::theme_of_screen(app)?);
            let asked = CommandLineQuestion { label: cli_label(name, BY), sends_to: None };
            runtime.block_on(apply_question::ask(app, (workspace, None), asked, BY))?
        };
        match decision {
            TurnDecision::Review => {
                let ended = review::from_question(app, chosen)?;
                if !ended.is_left {
                    break ended.code;
                }
            }
            TurnDecision::Applied | TurnDecision::Nothing => break report::DONE,
            // Not 0: a script must not continue as if the changes were applied.
            _ => break report::REFUSED,
        }
    };
    if view.changes(LayerKind::Pending).map_err(CliError::new)?.is_empty() {
        return Ok(code);
    }
    waits(name);
    Ok(if code == report::DONE { report::REFUSED } else { code })
}
