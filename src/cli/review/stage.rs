//! `placet review` and `placet review --staged` in a git repository: what was accepted is staged, what was rejected of the
//! staged changes is unstaged, as `git add -p` and `git reset -p` do. The work tree does not change.

use super::git_diff::{self, IndexSide};
use super::review_screen::{leave, shown};
use crate::app::App;
use crate::cli::command_line::review_args::ReviewArgs;
use crate::cli::report::{self, CliError, warn};
use crate::cli::startup::start;
use crate::text::patch::{StripLevels, parse};
use crate::text::{count, visible};
use crate::ui::review::{
    IndexDirection, Review, ReviewFile, ReviewOutcome, ReviewSubject, file_patch, of_patch, refused_file,
    sections, whole_file,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(in crate::cli) fn review(args: &ReviewArgs, app: &App) -> Result<u8, CliError> {
    let cwd = app.cwd();
    let side = if args.staged { IndexSide::Staged } else { IndexSide::WorkTree };
    let text = git_diff::of_index(cwd, side)?;
    if args.output.is_none() {
        // Before anybody decides something that cannot be done.
        git_diff::refuse_links_out(cwd)?;
    }
    let sections = sections(&text);
    let conflicted = git_diff::conflicted(cwd)?;
    let mut changed = git_diff::changed(cwd, side)?;
    changed.retain(|path| !conflicted.contains(path));
    if changed.len() != sections.len() {
        return Err(CliError::new("the files changed while git compared them").hint("start the review again"));
    }
    let mut files: Vec<ReviewFile> =
        changed.iter().zip(&sections).map(|(path, section)| file_of(path, section)).collect();
    if side == IndexSide::WorkTree {
        refuse_filtered(cwd, &changed, &mut files)?;
    }
    files.extend(conflicted.iter().map(|name| {
        let why =
            format!("in conflict: resolve it, and then stage it with `git add {}`", visible::path(name));
        refused_file(name, 'U', &why)
    }));
    if files.is_empty() {
        warn(match side {
            IndexSide::WorkTree => {
                "nothing to stage: the work tree is as the index has it; `placet review --staged` shows what is staged"
            }
            IndexSide::Staged => "nothing is staged",
        });
        return Ok(report::DONE);
    }
    let (title, subject) = match (&args.output, side) {
        (Some(_), IndexSide::WorkTree) => ("not staged", ReviewSubject::Patch),
        (Some(_), IndexSide::Staged) => ("staged", ReviewSubject::Patch),
        (None, IndexSide::WorkTree) => ("not staged", ReviewSubject::Stage),
        (None, IndexSide::Staged) => ("staged", ReviewSubject::Unstage),
    };
    // git was asked for whole files: what did not change is folded.
    files.iter_mut().filter_map(ReviewFile::lines_mut).for_each(|lines| lines.opened.clear());
    let source = format!("{}\0{title}\0index", cwd.display());
    let name = blake3::hash(source.as_bytes()).to_hex();
    let memory =
        start::paths()?.state.join("reviews").join(format!("{}.json", name.get(..24).unwrap_or_default()));
    let mut review = Review::new(title, subject, files);
    review.task.output = args.output.as_deref().map(visible::path);
    let blame = Arc::new(|_: &Path| Err(std::io::Error::other("it is a difference of git")));
    let Some((review, outcome)) = shown(args, app, review, memory, blame, None)? else {
        return Ok(report::DONE);
    };
    if args.output.is_none() && matches!(outcome, ReviewOutcome::Apply { .. }) {
        stage(cwd, &review, &sections)?;
    }
    leave(args, &review, outcome)
}

/// One file of the difference.
fn file_of(path: &Path, section: &[u8]) -> ReviewFile {
    let mut found = parse(section, StripLevels::Auto).map(|patch| of_patch(&patch)).unwrap_or_default();
    match (found.pop(), found.is_empty()) {
        (Some(file), true) if file.path == path => file,
        _ => whole_file(path, section),
    }
}

/// A file whose filter is switched off would be staged with other bytes than git stages.
fn refuse_filtered(cwd: &Path, changed: &[PathBuf], files: &mut [ReviewFile]) -> Result<(), CliError> {
    let off = git_diff::switched_off_filters(cwd, changed)?;
    for (file, path) in files.iter_mut().zip(changed) {
        if let Some(filter) = off.get(path) {
            let name = visible::path(path);
            let filter = visible::guard_line(filter);
            let why = format!(
                "its filter `{filter}` is set by this repository, and placet does not run it: stage it with `git add {name}`"
            );
            *file = refused_file(path, file.letter, &why);
        }
    }
    Ok(())
}

fn stage(cwd: &Path, review: &Review, sections: &[&[u8]]) -> Result<(), CliError> {
    let direction = match review.task.subject {
        ReviewSubject::Stage => IndexDirection::Stage,
        ReviewSubject::Unstage => IndexDirection::Unstage,
        ReviewSubject::Pending | ReviewSubject::Patch | ReviewSubject::Compare => return Ok(()),
    };
    let parts = review.files.iter().zip(sections);
    let patch: Vec<u8> =
        parts.filter_map(|(file, section)| file_patch(file, section, direction)).flatten().collect();
    let (hunks, files) = review.counted(direction.picks());
    let done = if direction == IndexDirection::Stage { "staged" } else { "unstaged" };
    if patch.is_empty() {
        warn(&format!("nothing was {done}"));
        return Ok(());
    }
    git_diff::apply_to_index(cwd, patch, direction)?;
    warn(&format!("{done} {} in {}", count::of(hunks, "hunk"), count::of(files, "file")));
    Ok(())
}
