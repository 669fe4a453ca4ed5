//! Questions of the command line about what is approved by itself: large losses, and each path that runs later. They
//! are those of the shell. The pane asks them where standard input and output are a terminal; elsewhere a person types a
//! line for each answer, through the same guarded reader.

use super::apply_question;
use super::pending::SelectedView;
use crate::agent::{ProtectedAnswer, TurnEvent, ask_about_losses, ask_about_path};
use crate::app::App;
use crate::audit::AuditKind;
use crate::cli::report::{CliError, UNDO, pass_on_rendered, warn};
use crate::cli::review;
use crate::cli::startup::start;
use crate::permission::{Mode, ModeCell};
use crate::serve::changes::{self, ApplyRequest, UserReport};
use crate::text::visible;
use crate::ui::term::BaseMode;
use crate::ui::{Theme, line_ui, verbatim};
use crate::workspace::{ChangeClasses, PathPatch, ShownChanges, TransactionLabel, Workspace, shown_patches};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// The longest difference that is shown whole. What is longer is not asked about here.
const MOST: usize = 1 << 20;

/// True where a person reads what is written and types what is read.
pub(in crate::cli) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// How the person is asked.
pub(in crate::cli) enum ApprovalPrompt<'a> {
    Pane(&'a App),
    Lines,
}

/// Reports what was done, and records it.
pub(in crate::cli) type OutcomeReporter<'a> =
    &'a mut dyn FnMut(AuditKind, UserReport) -> Result<(), CliError>;

impl ApprovalPrompt<'_> {
    /// `None` where nobody can be asked.
    pub(in crate::cli) fn here(app: &App) -> Option<ApprovalPrompt<'_>> {
        if io::stdin().is_terminal() && io::stdout().is_terminal() {
            return Some(ApprovalPrompt::Pane(app));
        }
        can_ask().then_some(ApprovalPrompt::Lines)
    }

    /// Asks for the word that confirms the large losses in the request, and approves the losses if the person types it.
    pub(in crate::cli) fn confirm_losses(
        &self,
        shown: &ShownChanges,
        workspace: &Workspace,
        wanted: &mut ApplyRequest,
    ) -> Result<(), CliError> {
        let name = |path: &Path| workspace.shortened(path);
        let losses = wanted.losses(shown, &name);
        if losses.is_empty() {
            return Ok(());
        }
        let confirmed = match self {
            ApprovalPrompt::Lines => line_ui::confirm_losses(&losses, &name, line_ui::consent_alone),
            ApprovalPrompt::Pane(app) => {
                let asking = async |events| ask_about_losses(&losses, workspace, &events).await;
                in_pane(app, asking)?
            }
        };
        if confirmed {
            wanted.approval = std::mem::take(&mut wanted.approval).seen(&losses);
        }
        Ok(())
    }

    /// Shows each of `waiting` and asks about it alone, and about the rest again after a review that decided nothing.
    pub(in crate::cli) fn one_by_one(
        &self,
        chosen: &SelectedView,
        waiting: &[PathBuf],
        label: &TransactionLabel,
        report: OutcomeReporter<'_>,
    ) -> Result<(), CliError> {
        loop {
            let is_review_wanted = self.each_alone(chosen, waiting, label, report)? == AskedPaths::Review;
            match self {
                ApprovalPrompt::Pane(app) if is_review_wanted => {
                    if !review::from_question(app, chosen)?.is_left {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn each_alone(
        &self,
        SelectedView { view, workspace, .. }: &SelectedView,
        waiting: &[PathBuf],
        label: &TransactionLabel,
        report: OutcomeReporter<'_>,
    ) -> Result<AskedPaths, CliError> {
        let shown = |path: &Path| workspace.shortened(path);
        for path in waiting {
            let Ok(of) = view.shown() else { break };
            let classes = of.classes();
            if classes.approved_with(of.set(), path).is_empty() {
                continue;
            }
            let answer = match self {
                ApprovalPrompt::Pane(app) => {
                    let asking = async |events| ask_about_path(&of, path, workspace, &events).await;
                    in_pane(app, asking)?
                }
                ApprovalPrompt::Lines if show(&of, path, workspace) => ask(what_is(classes, path)),
                ApprovalPrompt::Lines => ProtectedAnswer::Keep,
            };
            match answer {
                ProtectedAnswer::Apply => {
                    let approval = classes.approval_of(of.set(), path);
                    let wanted = ApplyRequest { approval, only_approved: true, ..ApplyRequest::default() };
                    let told = changes::apply(of, &wanted, label.clone(), UNDO, &shown);
                    // What is left is asked about next, and listed at the end.
                    let lines = told.lines.iter().take(1).cloned().collect();
                    report(AuditKind::Apply, UserReport { lines, waiting: Vec::new(), ..told })?;
                }
                ProtectedAnswer::Discard => {
                    let told = changes::discard(of, std::slice::from_ref(path), UNDO, &shown);
                    report(AuditKind::Discard, told)?;
                }
                ProtectedAnswer::Keep => {}
                // There is no program that could get a message.
                ProtectedAnswer::KeepRest | ProtectedAnswer::SendBack => break,
                ProtectedAnswer::Review => return Ok(AskedPaths::Review),
            }
        }
        Ok(AskedPaths::All)
    }
}

/// How far the questions about single paths went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AskedPaths {
    All,
    /// The person wants to look at the rest in the review.
    Review,
}

/// One question in the pane.
fn in_pane<T>(app: &App, asking: impl AsyncFnOnce(UnboundedSender<TurnEvent>) -> T) -> Result<T, CliError> {
    let runtime = start::runtime()?;
    let _base = BaseMode::enter_any().map_err(CliError::new)?;
    let mode = ModeCell::new(Mode::Ask);
    // Nothing runs that could be stopped: Ctrl-C closes the question.
    runtime.block_on(apply_question::with_pane(app, &mode, &CancellationToken::new(), asking))
}

/// What a path to approve is, in one word.
fn what_is(classes: &ChangeClasses, path: &Path) -> &'static str {
    if classes.waiting_repository(path).is_some() { "repository" } else { "file" }
}

/// Shows the whole change; false where it is too long for that, so that nobody can be asked.
fn show(of: &ShownChanges, path: &Path, workspace: &Workspace) -> bool {
    let (set, classes) = (of.set(), of.classes());
    let name = visible::path(&workspace.shortened(path));
    let why = classes.reason_to_wait(path).map(|r| r.why.clone()).unwrap_or_default();
    let why = visible::guard_line(&why).into_owned();
    let with = classes.approved_with(set, path);
    let part = of.part(|c| with.contains(&c.path));
    let what = what_is(classes, path);
    // What git did has rows of its own; the files of an operation are files.
    let files = part.part(|c| what == "file" || classes.operation_around(&c.path).is_some());
    let patches: Vec<PathPatch> = shown_patches(files.set(), of.view().objects(), workspace.cwd()).collect();
    let missing: u64 = patches.iter().map(|patch| patch.missing).sum();
    let bytes: Vec<u8> = patches.into_iter().flat_map(|patch| patch.bytes).collect();
    if bytes.len() > MOST || missing > 0 {
        let size = bytes.len() as u64 + missing;
        warn(&format!("! {name}: {why}; its diff of {size} bytes is not shown here"));
        warn(&format!("hint: `placet review` shows it; `--apply-protected {name}` applies this {what} too"));
        return false;
    }
    if what == "repository" && !show_repository((&name, &why), &part, workspace) {
        return false;
    }
    if what == "file" {
        let verb = set.get(path).map_or("changed", |change| change.verb().word());
        warn(&format!("! {name} ({verb}): {why}"));
    }
    verbatim::diff(&bytes, &Theme::plain()).iter().for_each(|line| pass_on_rendered(&line.to_string()));
    true
}

/// Shows what git did, and the patches of the commits; false where they are too long.
fn show_repository((name, why): (&str, &str), part: &ShownChanges, workspace: &Workspace) -> bool {
    let listed = part.rows(|path| workspace.shortened(path));
    if let Some(why) = listed.iter().filter(|row| row.is_blocked()).find_map(|row| row.moved.as_ref()) {
        warn(&format!("! {name}: {why}"));
        return false;
    }
    let patches = || listed.iter().filter_map(|row| Some((row, row.commit.as_ref()?)));
    let size: usize = patches().map(|(_, patch)| patch.bytes.len() + patch.left_out).sum();
    if size > MOST || patches().any(|(_, patch)| patch.left_out > 0) {
        warn(&format!(
            "! {name}: {why}; the patches of its commits have {size} bytes and are not shown here"
        ));
        warn(&format!(
            "hint: `placet review` shows them; `--apply-protected {name}` applies the repository too"
        ));
        return false;
    }
    warn(&format!("! {name}: {why}"));
    for row in &listed {
        pass_on_rendered(&row.line());
        let patch = row.commit.iter().flat_map(|patch| verbatim::diff(&patch.bytes, &Theme::plain()));
        patch.for_each(|line| pass_on_rendered(&line.to_string()));
    }
    true
}

fn ask(what: &str) -> ProtectedAnswer {
    let asked = format!("apply this {what}? yes, no, discard, or keep (leave the rest pending): ");
    loop {
        let answer = line_ui::consent_alone(&asked);
        match answer.as_deref().map(str::trim) {
            Some("yes" | "y") => return ProtectedAnswer::Apply,
            Some("discard" | "d") => return ProtectedAnswer::Discard,
            Some("" | "no" | "n") => return ProtectedAnswer::Keep,
            None | Some("keep" | "k") => return ProtectedAnswer::KeepRest,
            Some(_) => warn("not an answer: type `yes`, `no`, `discard` or `keep`, and Enter"),
        }
    }
}
