//! `placet apply`: applies what is pending, and asks where a person is about what needs an approval of its own.

use super::apply_progress;
use super::approvals::{ApprovalPrompt, PathOutcome, UNDO};
use super::args::Options;
use super::changes::{SelectedView, approval, chosen, cli_label, report_outcome, resolved, waits};
use super::report::{self, CliError, warn};
use super::session_selector::SessionSelector;
use super::{review, start};
use crate::audit::AuditKind;
use crate::serve::changes::{self, ApplyRequest, UserReport};
use crate::workspace::LayerKind;
use std::path::PathBuf;

pub(super) fn apply(paths: &[PathBuf], which: &SessionSelector, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let Some(chosen) = chosen(&app, which)? else {
        warn("nothing is pending");
        return Ok(report::DONE);
    };
    let SelectedView { name, view, workspace } = &chosen;
    let approval = approval(resolved(workspace, &options.apply_protected)?, options);
    let mut wanted = ApplyRequest { paths: resolved(workspace, paths)?, approval, only_approved: false };
    let prompt = ApprovalPrompt::here(&app);
    if let Some(prompt) = &prompt {
        prompt.confirm_losses(view, workspace, &mut wanted)?;
    }
    let label = cli_label(name, "placet apply");
    let told = apply_progress::shown(view, || {
        changes::apply(view, &wanted, label.clone(), UNDO, &|path| workspace.shortened(path))
    });
    let Some(prompt) = prompt.filter(|_| !told.waiting.is_empty()) else {
        return report_outcome(&app, AuditKind::Apply, "placet apply", &told, options.apply_loss);
    };
    let first = told.before_questions();
    let mut incomplete = false;
    if !first.lines.is_empty() {
        incomplete = report_outcome(&app, AuditKind::Apply, "placet apply", &first, options.apply_loss)?
            == report::INCOMPLETE;
    }
    loop {
        let asked = prompt.one_by_one(view, workspace, &told.waiting, &label)?;
        for PathOutcome { kind, told } in asked.done {
            let told = UserReport { waiting: Vec::new(), ..told };
            let code = report_outcome(&app, kind, "placet apply", &told, options.apply_loss)?;
            incomplete |= code == report::INCOMPLETE;
        }
        if !asked.review || !review::from_question(&app, &chosen)? {
            break;
        }
    }
    let left = view.changes(LayerKind::Pending).map_err(CliError::new)?;
    let stays = told.waiting.iter().any(|path| !left.below(path).is_empty());
    if stays {
        waits(name);
    }
    Ok(match stays || !told.losses.is_empty() {
        _ if incomplete => report::INCOMPLETE,
        true => report::REFUSED,
        false => report::DONE,
    })
}
