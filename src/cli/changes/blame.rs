//! `placet blame`: who wrote each line of a file.

use super::pending::chosen;
use crate::cli::command_line::options::Options;
use crate::cli::command_line::session_selector::SessionSelector;
use crate::cli::report::{self, CliError, print, print_foreign, warn};
use crate::cli::startup::start;
use crate::serve::blame::{notes, object, range, table};
use crate::text::sanitize;
use crate::workspace::{BlameLine, Workspace};
use std::path::{Path, PathBuf};

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum BlameOutputFormat {
    Table,
    Json,
}

pub(in crate::cli) fn run(
    file: &Path,
    lines: Option<&str>,
    form: BlameOutputFormat,
    which: &SessionSelector,
    options: &Options,
) -> Result<u8, CliError> {
    let wanted = lines.map(range).transpose().map_err(CliError::usage)?;
    let app = start::app(options)?;
    let (view, workspace) = match chosen(&app, which)? {
        Some(chosen) => (chosen.view, chosen.workspace),
        None => {
            let view = app.view("blame");
            (view.clone(), app.workspace.with_view(view))
        }
    };
    let blame = view.blame(&resolved(&workspace, file)?).map_err(CliError::new)?;
    let count = blame.lines.len();
    if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted.start() > count) {
        let has = crate::text::count::of(count, "line");
        let message = format!("line {} is past the end: the file has {has}", wanted.start());
        return Err(CliError::usage(message));
    }
    let meant = |line: &&BlameLine| wanted.as_ref().is_none_or(|wanted| wanted.contains(&line.number));
    let lines: Vec<&BlameLine> = blame.lines.iter().filter(meant).collect();
    match form {
        BlameOutputFormat::Json => {
            let objects = lines.iter().map(|line| format!("{}\n", object(line)));
            print(&objects.collect::<String>())?;
        }
        BlameOutputFormat::Table => {
            let rows = table(lines).into_iter().map(|row| row + "\n");
            print_foreign(&rows.collect::<String>())?;
        }
    }
    for note in notes(&blame) {
        warn(&format!("note: {}", sanitize::line(&note)));
    }
    Ok(report::DONE)
}

/// The path of the file in the view. A name that is not valid UTF-8 is used as it is, because the path syntax of tools
/// cannot express it.
fn resolved(workspace: &Workspace, file: &Path) -> Result<PathBuf, CliError> {
    if let Some(words) = file.to_str() {
        return workspace.resolve(words).map(|at| at.path).map_err(CliError::new);
    }
    let path = workspace.cwd().join(file);
    let dir = path.parent().and_then(Path::to_str).map(|dir| workspace.resolve(dir)).transpose();
    let dir = dir.map_err(CliError::new)?.map(|at| at.path);
    Ok(dir.zip(path.file_name()).map_or(path.clone(), |(dir, name)| dir.join(name)))
}
