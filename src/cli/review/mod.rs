//! `placet review`: the review pane on what is pending, on a git difference, or on a patch.

pub(super) mod compare;
pub(super) mod git_diff;
pub(super) mod git_special_files;
pub(super) mod review_screen;
pub(super) mod stage;

use super::changes::apply_progress;
use super::changes::apply_question::check_env;
use super::changes::pending::{SelectedView, chosen, cli_label, report_applied};
use super::command_line::options::Options;
use super::command_line::review_args::ReviewArgs;
use super::report::{self, CliError, UNDO, warn};
use super::screen::check_output;
use super::startup::start;
use crate::app::App;
use crate::audit::AuditKind;
use crate::repl::{
    ReviewApply, SENT_LATER, TurnNumbers, accepted_changes, apply_review, blamed, memory_of, review_of,
};
use crate::text::patch::{PatchSet, StripLevels, parse, unquoted};
use crate::text::visible;
use crate::tools::{CheckBoard, passed_checks, passed_words};
use crate::ui::line_ui;
use crate::ui::review::{
    Review, ReviewChecks, ReviewOpenedFrom, ReviewOutcome, ReviewSubject, add_binary_file, of_patch,
};
use crate::workspace::{LargeLoss, LayerKind, TransactionLabel};
use git_diff::MOST;
use review_screen::{leave, shown};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) fn run(args: &ReviewArgs, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    if args.what.is_none()
        && !args.staged
        && let Some(chosen) = chosen(&app, &args.which)?
    {
        return pending(args, &app, &chosen);
    }
    if args.what.is_none() {
        return stage::review(args, &app);
    }
    if let Some((chosen, path)) = pending_at(args, &app)? {
        return pending_of(args, &app, &chosen, vec![path]);
    }
    let (title, text) = difference(args, app.cwd())?;
    if text.iter().all(u8::is_ascii_whitespace) {
        warn("nothing to review");
        return Ok(report::DONE);
    }
    let (text, binary) = without_binary_notes(text);
    let patch = match parse(&text, StripLevels::Auto) {
        Err(_) if !binary.is_empty() => PatchSet::default(),
        other => other.map_err(|e| CliError::new(&e).hint(e.hint()))?,
    };
    let mut files = of_patch(&patch);
    binary.iter().for_each(|name| add_binary_file(&mut files, name));
    if args.what.as_deref().is_none_or(|w| !is_patch(w, app.cwd())) {
        // git was asked for whole files: what did not change is folded.
        files.iter_mut().filter_map(|f| f.lines_mut()).for_each(|lines| lines.opened.clear());
    }
    if files.is_empty() {
        warn("nothing to review");
        return Ok(report::DONE);
    }
    let source = format!("{}\0{title}", app.cwd().display());
    let name = blake3::hash(source.as_bytes()).to_hex();
    let memory =
        start::paths()?.state.join("reviews").join(format!("{}.json", name.get(..24).unwrap_or_default()));
    let mut review = Review::new(&title, ReviewSubject::Patch, files);
    review.task.output = args.output.as_deref().map(visible::path);
    let Some((review, outcome)) = shown(
        args,
        &app,
        review,
        memory,
        Arc::new(|_: &Path| Err(std::io::Error::other("it is a patch"))),
        None,
    )?
    else {
        return Ok(report::DONE);
    };
    leave(args, &review, outcome)
}

/// Reviews the pending changes from the apply question.
pub(super) fn from_question(app: &App, chosen: &SelectedView) -> Result<PendingReview, CliError> {
    let label = cli_label(&chosen.name, "placet review");
    let opened = ReviewOpening { opened_from: ReviewOpenedFrom::ApplyQuestion, ..ReviewOpening::default() };
    let ended = reviewed(&ReviewArgs::default(), (app, chosen), opened, label)?;
    name_report(ended, &chosen.name);
    Ok(ended)
}

/// Says how the rejections and comments of a review are sent, where there are any.
fn name_report(ended: PendingReview, name: &str) {
    if ended.has_report {
        warn(&format!("{SENT_LATER} ({name})"));
    }
}

/// The program that made the changes of a review.
pub(super) struct ReviewedProgram {
    /// Made safe.
    pub(super) name: String,
    /// For the journal.
    pub(super) label: TransactionLabel,
    /// It can be given the rejections and comments.
    pub(super) gets_report: bool,
}

/// What opened a review of pending changes, and the program that made the changes.
#[derive(Default)]
struct ReviewOpening {
    program: Option<String>,
    /// Nobody gets the rejections and comments.
    is_unread: bool,
    opened_from: ReviewOpenedFrom,
    /// Only the changes at these paths, if there are any.
    only: Vec<PathBuf>,
    /// What else was asked about, and is not in this review.
    elsewhere: Option<String>,
}

/// How a review of pending changes ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PendingReview {
    pub(super) code: u8,
    /// There are rejections or comments to report.
    pub(super) has_report: bool,
    /// The person wants to report them now.
    pub(super) sends_now: bool,
    /// The person left the review without applying the decisions.
    pub(super) is_left: bool,
}

/// The pending changes at the path that is to be reviewed; `None` where it names none, or is the file of a patch.
fn pending_at(args: &ReviewArgs, app: &App) -> Result<Option<(SelectedView, PathBuf)>, CliError> {
    let Some(what) = args.what.as_deref().filter(|what| !what.starts_with('-')) else { return Ok(None) };
    let file = app.cwd().join(what);
    let is_patch = || {
        let text = File::open(&file).map_err(CliError::new).and_then(bounded).unwrap_or_default();
        parse(&text, StripLevels::Auto).is_ok_and(|patch| !patch.files.is_empty())
    };
    if app.waiting_and_unread().0.is_empty() || file.is_file() && is_patch() {
        return Ok(None);
    }
    let Some(chosen) = chosen(app, &args.which)? else { return Ok(None) };
    let Ok(path) = chosen.workspace.pending_path(what) else { return Ok(None) };
    let set = chosen.view.changes(LayerKind::Pending).map_err(CliError::new)?;
    Ok(set.changes.iter().any(|change| change.path.starts_with(&path)).then_some((chosen, path)))
}

/// Reviews the pending changes and applies the decisions, as in the shell.
pub(super) fn pending(args: &ReviewArgs, app: &App, chosen: &SelectedView) -> Result<u8, CliError> {
    pending_of(args, app, chosen, Vec::new())
}

/// The same of the changes at these paths; without any, of all.
fn pending_of(
    args: &ReviewArgs,
    app: &App,
    chosen: &SelectedView,
    only: Vec<PathBuf>,
) -> Result<u8, CliError> {
    let name = &chosen.name;
    let label = cli_label(name, "placet review");
    let ended = reviewed(args, (app, chosen), ReviewOpening { only, ..ReviewOpening::default() }, label)?;
    name_report(ended, name);
    Ok(ended.code)
}

/// The same of what a program changed, which gets the comments; the journal names the program.
pub(super) fn of_program(
    app: &App,
    chosen: &SelectedView,
    ReviewedProgram { name, label, gets_report }: ReviewedProgram,
    elsewhere: Option<String>,
) -> Result<PendingReview, CliError> {
    let opened = ReviewOpening {
        program: Some(name),
        is_unread: !gets_report,
        elsewhere,
        opened_from: ReviewOpenedFrom::ApplyQuestion,
        ..ReviewOpening::default()
    };
    reviewed(&ReviewArgs::default(), (app, chosen), opened, label)
}

fn reviewed(
    args: &ReviewArgs,
    (app, chosen): (&App, &SelectedView),
    opened: ReviewOpening,
    label: TransactionLabel,
) -> Result<PendingReview, CliError> {
    let SelectedView { view, workspace, .. } = chosen;
    let review = review_of(workspace, view, &opened.only).map_err(CliError::new)?;
    let Some((of, mut review)) = review else {
        warn("nothing is pending");
        return Ok(PendingReview::default());
    };
    (review.task.program, review.task.opened_from) = (opened.program, opened.opened_from);
    review.task.is_unread = opened.is_unread;
    review.footer.advice = opened.elsewhere;
    let blaming = view.clone();
    let blame = Arc::new(move |path: &Path| blamed(&blaming, path, &TurnNumbers::new()));
    let env = check_env(app, workspace).ok_or_else(|| CliError::new("there is no view"))?;
    let runtime = if env.checks.is_empty() { None } else { Some(start::runtime()?) };
    let board = runtime.as_ref().and_then(|runtime| CheckBoard::new(&env, runtime.handle().clone()));
    let checks = match board {
        Some(board) => {
            let (selection, output) = (Box::new(accepted_changes), check_output(app, workspace)?);
            Some(ReviewChecks { board, selection, output })
        }
        None => None,
    };
    let Some((review, outcome)) = shown(args, app, review, memory_of(view), blame, checks)? else {
        return Ok(PendingReview::default());
    };
    let ReviewOutcome::Apply { tell } = outcome else {
        return Ok(PendingReview { is_left: true, ..PendingReview::default() });
    };
    let shown = |path: &Path| workspace.shortened(path);
    let confirm = |losses: &[LargeLoss]| line_ui::confirm_losses(losses, &shown, line_ui::consent_alone);
    let checks = passed_checks(&env, view, (of.set(), &accepted_changes(&review))).map_err(|e| CliError {
        code: report::REFUSED,
        ..CliError::new(e).hint("your decisions are saved; `t` in the review runs the checks")
    })?;
    let label = TransactionLabel { checks: checks.clone(), ..label };
    let run = |apply: ReviewApply<'_>| apply_progress::shown(view, apply);
    let carried = apply_review(workspace, (of, &review), (confirm, run), label.clone(), UNDO);
    let mut code = report::DONE;
    for (kind, mut told) in carried.steps {
        if kind == AuditKind::Apply && told.done {
            told.lines.extend(passed_words(&checks));
            told.checks.clone_from(&checks);
        }
        let of = ((view, workspace), &label);
        code = code.max(report_applied(app, (kind, "placet review"), &told, of, None)?);
    }
    let has_report = carried.outbox.is_some();
    Ok(PendingReview { code, has_report, sends_now: has_report && tell, is_left: false })
}

fn is_patch(what: &str, cwd: &Path) -> bool {
    what == "-" || cwd.join(what).is_file()
}

/// The difference that is meant, and what to call it.
fn difference(args: &ReviewArgs, cwd: &Path) -> Result<(String, Vec<u8>), CliError> {
    match args.what.as_deref() {
        Some("-") => Ok(("standard input".into(), bounded(io::stdin().lock())?)),
        Some(what) if cwd.join(what).is_file() => {
            let file = File::open(cwd.join(what));
            let file = file.map_err(|e| CliError::new(format!("cannot read `{what}`: {e}")))?;
            Ok((what.into(), bounded(file)?))
        }
        Some(what) if what.starts_with('-') => Err(CliError::usage(format!("`{what}` is not a revision"))),
        Some(what) => Ok((what.into(), git_diff::difference(cwd, &[what])?)),
        None => Err(CliError::usage("nothing to review")),
    }
}

fn bounded(from: impl Read) -> Result<Vec<u8>, CliError> {
    let mut out = Vec::new();
    from.take(MOST + 1).read_to_end(&mut out).map_err(CliError::new)?;
    if out.len() as u64 > MOST {
        return Err(CliError::new(format!("the diff has more than {MOST} bytes"))
            .hint("review a part of it: `git diff REV..REV -- PATH > part.diff; placet review part.diff`"));
    }
    Ok(out)
}

/// `Binary files a/x and b/x differ` says nothing that can be applied, but names a file: the rest of the difference,
/// and these names.
fn without_binary_notes(text: Vec<u8>) -> (Vec<u8>, Vec<String>) {
    let name = |line: &[u8]| -> Option<String> {
        let line = String::from_utf8_lossy(line).trim_end().to_string();
        let (old, new) = line.strip_prefix("Binary files ")?.strip_suffix(" differ")?.rsplit_once(" and ")?;
        let side = if new == "/dev/null" { old } else { new };
        let side = unquoted(side.as_bytes()).unwrap_or_else(|| side.to_string());
        Some(side.strip_prefix("a/").or(side.strip_prefix("b/")).unwrap_or(&side).to_string())
    };
    let names: Vec<String> = text.split(|b| *b == b'\n').filter_map(name).collect();
    if names.is_empty() {
        return (text, names);
    }
    let kept = text.split_inclusive(|b| *b == b'\n').filter(|line| name(line).is_none());
    (kept.collect::<Vec<_>>().concat(), names)
}
