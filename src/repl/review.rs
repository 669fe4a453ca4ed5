//! `/review`: what is pending, on the whole screen or line by line, and what is carried out of it.
//!
//! Whatever face asked, the decisions are in one [`Review`]; carrying them out is one apply (all of it or nothing), and
//! only when that succeeded are the rejected parts discarded, so that `/undo` can bring them back.

use super::changes::{label, paths};
use super::prompt::PromptEditor;
use super::{ReplError, Shell, plain_review};
use crate::agent::TurnStart;
use crate::audit::AuditKind;
use crate::config::Config;
use crate::conversation::{Message, Part as Said};
use crate::serve::changes::UserReport;
use crate::ui::full_screen;
use crate::ui::keymap::{KeyBinding, Keymap};
use crate::ui::line_ui;
use crate::ui::review::{
    self, AppliedPart, CombinedDecision, PendingPart, Review, ReviewContext, ReviewDecision, ReviewOutcome,
    ReviewPane, ReviewSubject, SavedReview, TABLE,
};
use crate::workspace::{
    ApprovedBy, ChangeApproval, ChangeSelection, DiscardBackup, LargeLoss, LayerKind, LineAttribution,
    LineStatus, SelectedPart, TransactionLabel, View, Workspace,
};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a view's review is remembered.
pub fn memory_of(view: &View) -> PathBuf {
    view.dir().join("review.json")
}

impl Shell<'_> {
    /// Shows what is pending at these paths. What comes back is a turn that the person wants to begin with it.
    pub(super) fn review_pending(
        &mut self,
        prompter: &mut PromptEditor,
        rest: &str,
    ) -> Result<Option<TurnStart>, ReplError> {
        let Some((workspace, view)) = self.viewed() else { return Ok(None) };
        let only = match paths(&workspace, rest) {
            Ok(only) => only,
            Err(e) => {
                self.error(&e, None);
                return Ok(None);
            }
        };
        let review = match review_of(&workspace, &view, &only) {
            Ok(Some(review)) => review,
            Ok(None) => {
                self.note("nothing is pending");
                return Ok(None);
            }
            Err(e) => {
                self.error(&format!("cannot read the pending changes: {e}"), None);
                return Ok(None);
            }
        };
        let keys = self.keymap("review", TABLE);
        let memory = SavedReview::load(&memory_of(&view));
        let (review, outcome) = match self.is_linear() {
            true => plain_review::run(self, prompter, review, &memory_of(&view))?,
            false => {
                let (blaming, turns, board) = (view.clone(), self.turn_numbers(&view), self.clipboard());
                let desk = ReviewContext {
                    theme: self.theme.clone(),
                    keys,
                    editor: self.app.config().text("editor").map(String::from),
                    memory: Some(memory_of(&view)),
                    outbox: memory.outbox.clone(),
                    blame: Arc::new(move |path| blamed(&blaming, path, &turns)),
                    display: self.display(),
                    copy: Box::new(move |text| {
                        board.copy(text).map_or_else(|e| format!("not copied: {e}"), |copied| copied.words())
                    }),
                };
                let mut pane = ReviewPane::new(review, desk);
                if let Err(e) = full_screen::run(&mut pane) {
                    self.error(&format!("the terminal failed: {e}"), Some("your decisions are saved"));
                    return Ok(None);
                }
                let outcome = pane.outcome;
                (pane.into_review(), outcome)
            }
        };
        let start = match outcome {
            ReviewOutcome::Left => {
                if review.tally() != (0, 0) || review.visible_comments().next().is_some() {
                    self.hint("your decisions and comments are saved; /review continues");
                }
                None
            }
            ReviewOutcome::Apply { tell } => self.apply_decisions(&workspace, &view, &review, tell),
        };
        if let left @ 1.. = self.pending() {
            self.note(&format!("{left} still pending"));
        }
        Ok(start)
    }

    /// Carries the decisions out; what comes back is the turn in which the agent learns of them.
    fn apply_decisions(
        &mut self,
        workspace: &Workspace,
        view: &View,
        review: &Review,
        tell: bool,
    ) -> Option<TurnStart> {
        let confirm = |losses: &[LargeLoss]| {
            line_ui::confirm_losses(losses, &|path: &Path| workspace.shortened(path), line_ui::consent)
        };
        let carried = match apply_review(workspace, view, review, confirm, label(view, "/review")) {
            Ok(carried) => carried,
            Err(e) => {
                self.error(&format!("nothing was applied: cannot read the pending changes: {e}"), None);
                return None;
            }
        };
        for (kind, told) in carried.steps {
            self.done(kind, "/review", told);
        }
        match carried.outbox {
            Some(report) if tell => Some(TurnStart::Say(vec![Said::text(&report)])),
            Some(_) => {
                self.note("your rejections and comments will be sent with your next message");
                None
            }
            None => None,
        }
    }

    /// What the agent has still to be sent, for the next message.
    pub(super) fn review_report(&self) -> Option<String> {
        let (_, view) = self.viewed()?;
        SavedReview::load(&memory_of(&view)).outbox
    }

    /// It was sent.
    pub(super) fn review_reported(&mut self) {
        let Some((_, view)) = self.viewed() else { return };
        let file = memory_of(&view);
        let mut memory = SavedReview::load(&file);
        if memory.outbox.take().is_some()
            && let Err(e) = memory.save(&file)
        {
            tracing::warn!("the state of the review was not saved: {e}");
        }
    }

    /// Reading line by line: for screen readers, and where nothing may be repainted.
    pub(super) fn is_linear(&self) -> bool {
        self.app.config().flag("ui.linear").unwrap_or(false)
    }
}

/// The person's keys of a screen; the error says what contradicts.
pub fn keymap<A: Copy + PartialEq>(
    config: &Config,
    screen: &str,
    table: &'static [KeyBinding<A>],
) -> Result<Keymap<A>, String> {
    let own: Vec<(String, String)> = config
        .names_below(&format!("keys.{screen}"))
        .into_iter()
        .filter_map(|name| {
            let keys = config.text(&format!("keys.{screen}.{name}"))?.to_string();
            Some((name, keys))
        })
        .collect();
    Keymap::new(screen, table, &own).map_err(|e| e.to_string())
}

/// What carrying out came to.
pub struct AppliedReview {
    /// What was done, in the order in which it was done.
    pub steps: Vec<(AuditKind, UserReport)>,
    /// What the agent should learn; it is remembered until it was.
    pub outbox: Option<String>,
}

/// The largest file that is compared with what it was when the change was made.
const LARGEST: u64 = 64 << 20;

/// What is pending at these paths as a review; `None` when nothing is.
pub fn review_of(workspace: &Workspace, view: &View, only: &[PathBuf]) -> io::Result<Option<Review>> {
    let mut set = view.changes(LayerKind::Pending)?;
    if !only.is_empty() {
        set.changes.retain(|c| only.iter().any(|p| c.path.starts_with(p)));
    }
    let classes = view.classify(&set);
    let mut files = review::pending(&set, &classes, view.objects(), &|path| workspace.shortened(path));
    if files.is_empty() {
        return Ok(None);
    }
    for file in &mut files {
        let path = file.renamed.as_ref().unwrap_or(&file.path);
        let before = set.get(path).and_then(|change| change.before.hash());
        let moved_on =
            |hash| crate::text::regular_file::read(path, LARGEST).is_ok_and(|now| blake3::hash(&now) != hash);
        if before.is_some_and(moved_on) {
            let words = "changed in the workspace in the meantime: both changes are merged if possible; where the same lines changed, reject those lines";
            file.facts.insert(0, words.into());
        }
    }
    for repository in view.git_events(&set) {
        let Some(outermost) = set.repositories.of(&repository.path) else { continue };
        let name = |path: &Path| visible::path_name(&workspace.shortened(path));
        if let Some(file) = files.iter_mut().find(|file| file.path == outermost) {
            file.facts
                .extend(repository.lines(outermost, &name).iter().map(|line| line.trim_start().to_string()));
        }
    }
    let mut review = Review::new("pending changes", ReviewSubject::Pending, files);
    review.partial = !only.is_empty();
    Ok(Some(review))
}

/// Applies what was accepted, discards what was rejected, and stores what the agent should know. `confirm` asks about large
/// losses in what was accepted; it is true where there are none. Applying is all or nothing; when it fails every decision
/// stays remembered.
pub fn apply_review(
    workspace: &Workspace,
    view: &View,
    review: &Review,
    confirm: impl FnOnce(&[LargeLoss]) -> bool,
    label: TransactionLabel,
) -> io::Result<AppliedReview> {
    let (land, drop_out) = choices(review);
    let mut steps = Vec::new();
    if !land.is_empty() {
        // A file that runs later is accepted by itself, with its content in sight: the review sees to that.
        let own =
            review.files.iter().filter(|f| f.runs_later.is_some() && f.verdict().0 != AppliedPart::Nothing);
        let approval = own.flat_map(|f| &f.paths).fold(ChangeApproval::none(), |all, path| all.named(path));
        let set = view.changes(LayerKind::Pending)?;
        let losses = view.classify(&set).unapproved_losses(&set, &land, &approval);
        let approval = if confirm(&losses) { approval.seen(&losses) } else { approval };
        let report = view.apply_and_report(&set, land, &approval, label);
        let told = UserReport::of(&report, &|path| workspace.shortened(path));
        let failed = !told.done;
        steps.push((AuditKind::Apply, told));
        if failed {
            // What was rejected goes all the same: it may be what cannot be merged with what is there now.
            let rejected = rejections(review);
            let also = match view.set_aside(&rejected) {
                Ok(DiscardBackup::Kept) if !rejected.is_empty() => {
                    "; discarded the rejected changes, /undo restores them"
                }
                Ok(DiscardBackup::TooLarge) => {
                    "; discarded the rejected changes permanently: too large for undo"
                }
                Ok(DiscardBackup::Kept) | Err(_) => "",
            };
            let lines = vec![format!(
                "the accepted changes are still pending, and your decisions are saved{also}: /review continues"
            )];
            steps.push((AuditKind::Discard, UserReport { lines, ..UserReport::default() }));
            return Ok(AppliedReview { steps, outbox: None });
        }
    }
    if !drop_out.is_empty() {
        match view.set_aside(&drop_out) {
            Ok(aside) => {
                steps.extend(rejected(review.tally().1, aside).map(|told| (AuditKind::Discard, told)))
            }
            Err(e) => {
                let lines = vec![format!("the rejected changes are still pending: {e}")];
                steps.push((AuditKind::Discard, UserReport { lines, ..UserReport::default() }));
            }
        }
    }
    let file = memory_of(view);
    let before = SavedReview::load(&file);
    let outbox = join(before.outbox.clone(), review::report(review));
    // What is still pending keeps its reviewed marks; what was decided is decided no more.
    let memory = match review_of(workspace, view, &[]) {
        Ok(Some(mut rest)) => {
            drop(before.restore_into(&mut rest));
            rest.comments.retain(|c| !review.is_here(c));
            rest.reopen(|file| !review.partial || review.files.iter().any(|f| f.path == file.path));
            SavedReview::of(&rest, outbox.clone())
        }
        Ok(None) | Err(_) => SavedReview::only(outbox.clone()),
    };
    // What landed has landed: a full disk here must not make it look otherwise.
    if let Err(e) = memory.save(&file) {
        let lines = vec![format!("applied, but the report for the agent could not be saved: {e}")];
        steps.push((AuditKind::Discard, UserReport { lines, ..UserReport::default() }));
    }
    Ok(AppliedReview { steps, outbox })
}

/// Reports what was rejected, and how it is brought back.
fn rejected(count: usize, aside: DiscardBackup) -> Option<UserReport> {
    let (s, them) = if count == 1 { ("", "it") } else { ("s", "them") };
    let back = match aside {
        DiscardBackup::Kept => format!("/undo restores {them}"),
        DiscardBackup::TooLarge => "too large for undo".into(),
    };
    let lines = vec![format!("{count} hunk{s} rejected; {back}")];
    (count > 0).then(|| UserReport { lines, done: true, ..UserReport::default() })
}

/// What is applied, and what is discarded after that.
fn choices(review: &Review) -> (ChangeSelection, ChangeSelection) {
    let (mut land, mut out) = (ChangeSelection::new(), ChangeSelection::new());
    for file in &review.files {
        let (landing, leaving) = file.verdict();
        if let Some(old) = &file.renamed {
            match file.old_path_goes() {
                Some(true) => drop(land.insert(old.clone(), SelectedPart::Whole)),
                Some(false) => drop(out.insert(old.clone(), SelectedPart::Whole)),
                None => {}
            }
        }
        for path in &file.paths {
            let part = match &landing {
                AppliedPart::Nothing => None,
                AppliedPart::Whole => Some(SelectedPart::Whole),
                AppliedPart::Content(bytes) => Some(SelectedPart::Content(Arc::new(bytes.clone()))),
            };
            let whole = part == Some(SelectedPart::Whole);
            if let Some(part) = part {
                land.insert(path.clone(), part);
            }
            match &leaving {
                PendingPart::AsItIs => {}
                PendingPart::Nothing if whole => {}
                PendingPart::Nothing => drop(out.insert(path.clone(), SelectedPart::Whole)),
                PendingPart::Content(bytes) => {
                    drop(out.insert(path.clone(), SelectedPart::Content(Arc::new(bytes.clone()))))
                }
            }
        }
    }
    (land, out)
}

/// What was rejected and nothing else: what was accepted stays pending.
fn rejections(review: &Review) -> ChangeSelection {
    let mut out = ChangeSelection::new();
    for file in review.files.iter().filter(|f| f.is_rejected_in_part()) {
        let part =
            match file.lines().filter(|_| file.standing() != CombinedDecision::All(ReviewDecision::Rejected))
            {
                Some(lines) => SelectedPart::Content(Arc::new(lines.unrejected_content())),
                None => SelectedPart::Whole,
            };
        if let (Some(old), SelectedPart::Whole) = (&file.renamed, &part) {
            out.insert(old.clone(), SelectedPart::Whole);
        }
        out.extend(file.paths.iter().map(|path| (path.clone(), part.clone())));
    }
    out
}

fn join(before: Option<String>, now: Option<String>) -> Option<String> {
    match (before, now) {
        (Some(before), Some(now)) => Some(format!("{before}\n{now}")),
        (before, now) => before.or(now),
    }
}

/// Turns of a conversation by the names they have in the journal, counted as people count them.
pub type TurnNumbers = BTreeMap<String, usize>;

impl Shell<'_> {
    /// The turns of this conversation.
    pub(super) fn turn_numbers(&self, view: &View) -> TurnNumbers {
        let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let messages = self.conversation.agent.as_ref().map_or(&[][..], |a| a.transcript().messages());
        let said = messages.iter().enumerate().filter(|(_, m)| matches!(m, Message::User { .. }));
        said.enumerate().map(|(n, (index, _))| (TransactionLabel::turn_of(&name, index, 0), n + 1)).collect()
    }
}

/// Who wrote each line, in the width of a gutter: turn, what, consent.
pub fn blamed(view: &View, path: &Path, turns: &TurnNumbers) -> Result<Vec<String>, String> {
    let blame = view.blame(path).map_err(|e| e.to_string())?;
    Ok(blame.lines.iter().map(|line| words(&line.claim, turns)).collect())
}

fn words(claim: &LineAttribution, turns: &TurnNumbers) -> String {
    let who = match (&claim.standing, &claim.assent) {
        (LineStatus::Before, _) => return String::new(),
        (LineStatus::Outside { .. }, _) => return "you, outside".into(),
        (LineStatus::Unknown { .. }, _) => return "?".into(),
        (LineStatus::Pending, _) => "pending",
        (_, ApprovedBy::You { .. }) => "you",
        (_, ApprovedBy::Rule { .. }) => "rule",
        (_, ApprovedBy::Mode { .. }) => "mode",
        (_, ApprovedBy::Unknown) => "-",
    };
    let origin = claim.origin.as_deref();
    let turn = origin.map_or("", |o| o.turn.as_str());
    // What another conversation did is named as `placet blame` names it.
    let turn = match turns.get(TransactionLabel::place_of(turn)) {
        Some(number) => number.to_string(),
        None => turn.rsplit_once('#').map_or_else(String::new, |(_, index)| format!("#{index}")),
    };
    let tool = origin.map_or("", |o| o.tool.as_str());
    format!("{turn} {who} {tool}").trim().to_string()
}
