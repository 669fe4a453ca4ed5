//! Questions of the command line about what is approved by itself: large losses, and each path that runs later. They
//! are those of the shell, asked through the same guarded reader, a line for each answer.

use super::report::{pass_on_rendered, warn};
use crate::audit::AuditKind;
use crate::serve::changes::{self, ApplyRequest, UserReport};
use crate::text::visible;
use crate::ui::{Theme, line_ui, verbatim};
use crate::workspace::{
    ChangeApproval, ChangeClasses, ChangeSelection, ChangeSet, FileChange, LayerKind, SelectedPart,
    TransactionLabel, View, Workspace, shown_patches,
};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// The longest difference that is shown whole. What is longer is not asked about here.
const MOST: usize = 1 << 20;

/// True where a person reads what is written and types what is read.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for the word that confirms the large losses in the request, and approves the losses if the person types it.
pub(super) fn confirm_losses(view: &View, workspace: &Workspace, wanted: &mut ApplyRequest) {
    let shown = |path: &Path| workspace.shortened(path);
    let losses = changes::losses_of(view, wanted, &shown);
    if line_ui::confirm_losses(&losses, &shown, line_ui::consent_alone) {
        wanted.approval = std::mem::take(&mut wanted.approval).seen(&losses);
    }
}

/// What was done with one path.
pub(super) struct PathOutcome {
    pub(super) kind: AuditKind,
    pub(super) told: UserReport,
}

enum PathAnswer {
    Apply,
    Keep,
    KeepRest,
    Discard,
}

/// Shows each of `waiting` and asks about it alone.
pub(super) fn one_by_one(
    view: &View,
    workspace: &Workspace,
    waiting: &[PathBuf],
    label: &TransactionLabel,
) -> Vec<PathOutcome> {
    let shown = |path: &Path| workspace.shortened(path);
    let mut done = Vec::new();
    for path in waiting {
        let Ok(set) = view.changes(LayerKind::Pending) else { break };
        let classes = view.classify(&set);
        let Some(change) = set.get(path) else { continue };
        if !show(&set, &classes, change, (view, workspace)) {
            continue;
        }
        match ask() {
            PathAnswer::Apply => {
                let approval = approval_of(&set, &classes, change);
                let wanted = ApplyRequest { approval, only_approved: true, ..ApplyRequest::default() };
                let told = changes::apply(view, &wanted, label.clone(), &shown);
                // What is left is asked about next, and listed at the end.
                let lines = told.lines.iter().take(1).cloned().collect();
                done.push(PathOutcome { kind: AuditKind::Apply, told: UserReport { lines, ..told } });
            }
            PathAnswer::Discard => {
                let told = changes::discard(view, std::slice::from_ref(path), "placet undo", &shown);
                done.push(PathOutcome { kind: AuditKind::Discard, told });
            }
            PathAnswer::Keep => {}
            PathAnswer::KeepRest => break,
        }
    }
    done
}

/// The person saw this change with all that goes with it.
fn approval_of(set: &ChangeSet, classes: &ChangeClasses, change: &FileChange) -> ChangeApproval {
    let approval = ChangeApproval::none().shown(change);
    let all: ChangeSelection =
        set.below(&change.path).into_iter().map(|path| (path, SelectedPart::Whole)).collect();
    let losses = classes.unapproved_losses(set, &all, &approval);
    approval.seen(&losses)
}

/// Shows the whole change; false where it is too long for that, so that nobody can be asked.
fn show(
    set: &ChangeSet,
    classes: &ChangeClasses,
    change: &FileChange,
    (view, workspace): (&View, &Workspace),
) -> bool {
    let part = set.part(|c| c.path.starts_with(&change.path));
    let name = visible::path(&workspace.shortened(&change.path));
    let why = classes.runner(&change.path).map(|r| r.why.clone()).unwrap_or_default();
    let why = visible::guard_line(&why).into_owned();
    let patches = shown_patches(&part, view.objects(), workspace.cwd());
    let missing: u64 = patches.iter().map(|patch| patch.missing).sum();
    let bytes: Vec<u8> = patches.into_iter().flat_map(|patch| patch.bytes).collect();
    if bytes.len() > MOST || missing > 0 {
        let size = bytes.len() as u64 + missing;
        warn(&format!("! {name}: {why}; its diff of {size} bytes is not shown here"));
        warn(&format!("hint: `placet review` shows it; `--apply-protected {name}` applies this file too"));
        return false;
    }
    warn(&format!("! {name} ({}): {why}", change.verb().word()));
    verbatim::diff(&bytes, &Theme::plain()).iter().for_each(|line| pass_on_rendered(&line.to_string()));
    true
}

fn ask() -> PathAnswer {
    loop {
        let answer =
            line_ui::consent_alone("apply this file? yes, no, discard, or keep (leave the rest pending): ");
        match answer.as_deref().map(str::trim) {
            Some("yes" | "y") => return PathAnswer::Apply,
            Some("discard" | "d") => return PathAnswer::Discard,
            Some("" | "no" | "n") => return PathAnswer::Keep,
            None | Some("keep" | "k") => return PathAnswer::KeepRest,
            Some(_) => warn("not an answer: type `yes`, `no`, `discard` or `keep`, and Enter"),
        }
    }
}
