//! `placet blame`: who wrote each line of a file.

use super::args::{Options, Which};
use super::changes::chosen;
use super::report::{self, Failure, print, print_foreign, warn};
use super::start;
use crate::serve::blame::{notes, object, range, table};
use crate::text::sanitize;
use crate::workspace::{BlameLine, Workspace};
use std::path::{Path, PathBuf};

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Table,
    Json,
}

pub(super) fn run(
    file: &Path,
    lines: Option<&str>,
    form: Form,
    which: &Which,
    options: &Options,
) -> Result<u8, Failure> {
    let wanted = lines.map(range).transpose().map_err(Failure::usage)?;
    let app = start::app(options)?;
    let (view, workspace) = match chosen(&app, which)? {
        Some(chosen) => (chosen.view, chosen.workspace),
        None => {
            let view = app.view("blame");
            (view.clone(), app.workspace.with_view(view))
        }
    };
    let blame = view.blame(&resolved(&workspace, file)?).map_err(Failure::new)?;
    let count = blame.lines.len();
    if let Some(wanted) = wanted.as_ref().filter(|wanted| *wanted.start() > count) {
        return Err(Failure::usage(format!("there is no line {}: the file has {count}", wanted.start())));
    }
    let meant = |line: &&BlameLine| wanted.as_ref().is_none_or(|wanted| wanted.contains(&line.number));
    let lines: Vec<&BlameLine> = blame.lines.iter().filter(meant).collect();
    match form {
        Form::Json => {
            let objects = lines.iter().map(|line| format!("{}\n", object(line)));
            print(&objects.collect::<String>())?;
        }
        Form::Table => {
            let rows = table(lines).into_iter().map(|row| row + "\n");
            print_foreign(&rows.collect::<String>())?;
        }
    }
    for note in notes(&blame) {
        warn(&format!("note: {}", sanitize::line(&note)));
    }
    Ok(report::DONE)
}

/// The file as the view knows it. A name that is no text is taken as it is: the words of tools cannot spell it.
fn resolved(workspace: &Workspace, file: &Path) -> Result<PathBuf, Failure> {
    if let Some(words) = file.to_str() {
        return workspace.resolve(words).map(|at| at.path).map_err(Failure::new);
    }
    let path = workspace.cwd().join(file);
    let dir = path.parent().and_then(Path::to_str).map(|dir| workspace.resolve(dir)).transpose();
    let dir = dir.map_err(Failure::new)?.map(|at| at.path);
    Ok(dir.zip(path.file_name()).map_or(path.clone(), |(dir, name)| dir.join(name)))
}
