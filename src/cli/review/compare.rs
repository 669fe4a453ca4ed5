//! `placet compare A B`: two tries against each other, and parts of the second taken into the first.

use super::review_screen::shown;
use crate::cli::command_line::options::Options;
use crate::cli::command_line::review_args::ReviewArgs;
use crate::cli::command_line::session_selector::{session_of, try_name_now};
use crate::cli::command_line::try_args::CompareArgs;
use crate::cli::report::{self, CliError, print, warn};
use crate::cli::startup::start;
use crate::repl::accepted_changes;
use crate::text::{count, visible};
use crate::ui::review::{Review, ReviewOutcome, ReviewSubject, pending};
use crate::ui::{Theme, verbatim};
use crate::workspace::{TakeError, patch};
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;

pub(in crate::cli) fn run(args: &CompareArgs, options: &Options) -> Result<u8, CliError> {
    let CompareArgs { into, from, .. } = args;
    if into == from {
        return Err(CliError::usage("compare needs two different tries"));
    }
    let app = start::app(options)?;
    let (into_id, from_id) = (session_of(&app, into)?, session_of(&app, from)?);
    let (view, other) = (app.view(into_id.as_str()), app.view(from_id.as_str()));
    let workspace = app.workspace.with_view(view.clone());
    let difference = view.difference(&other).map_err(CliError::new)?;
    if difference.git_files > 0 {
        let files = count::of(difference.git_files, "file");
        warn(&format!(
            "note: {files} of git repositories differ and are not compared: a repository is applied whole"
        ));
    }
    if difference.set.is_empty() {
        warn(&format!("{into} and {from} have the same files"));
        return Ok(report::DONE);
    }
    if args.patch || !(std::io::stdout().is_terminal() || args.linear) {
        let bytes = patch(&difference.set, view.objects(), workspace.cwd());
        if std::io::stdout().is_terminal() {
            // A person looks at it: nothing in it may act, and nothing may hide. A pipe gets the bytes.
            let lines = verbatim::diff(&bytes, &Theme::plain());
            return print(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
                .map(|()| report::DONE);
        }
        let mut out = std::io::stdout().lock();
        report::written(out.write_all(&bytes).and_then(|()| out.flush()))?;
        return Ok(report::DONE);
    }
    let of = view.shown_as(difference.set.clone());
    let renamed = view.renamed(&difference.set);
    let files = pending(of.set(), of.classes(), &renamed, view.objects(), &|path| workspace.shortened(path));
    let mut review = Review::new(&format!("{into} against {from}"), ReviewSubject::Compare, files);
    review.task.output = Some(into.to_string());
    (review.task.count, review.task.line_counts) =
        (difference.set.count(&renamed), difference.set.lines(view.objects(), &renamed, of.classes()));
    let memory = view.dir().join(format!("compare-{from}.json"));
    let no_blame = Arc::new(|_: &Path| Err(std::io::Error::other("a comparison has no turns")));
    let review_args = ReviewArgs { linear: args.linear, ..ReviewArgs::default() };
    let Some((review, outcome)) = shown(&review_args, &app, review, memory.clone(), no_blame, None)? else {
        return Ok(report::DONE);
    };
    if !matches!(outcome, ReviewOutcome::Apply { .. }) {
        return Ok(report::DONE);
    }
    let choice = accepted_changes(&review);
    if choice.is_empty() {
        warn("nothing was accepted, so nothing was taken");
        return Ok(report::DONE);
    }
    // Another placet may have renamed them while the person looked.
    let (into, from) = (try_name_now(&app, &into_id, into)?, try_name_now(&app, &from_id, from)?);
    view.take(&other, &difference, &choice).map_err(|e| match e {
        TakeError::Changed(path) => CliError::new(format!(
            "nothing was taken: `{}` has changed since it was compared",
            visible::path(&workspace.shortened(&path))
        ))
        .hint(format!("compare again: `placet compare {into} {from}`")),
        TakeError::Io(e) => CliError::new(format!("nothing was taken: {e}")),
    })?;
    // The decisions are carried out; the next comparison begins without them.
    drop(std::fs::remove_file(memory));
    let taken = view.count_of(&difference.set, |change| choice.contains_key(&change.path));
    warn(&format!(
        "took changes to {taken} from {from}; they are pending in {into}, and `placet undo` takes them out again"
    ));
    Ok(report::DONE)
}
