//! ls, read_file and file_data.

use super::super::super::look::{At, LookPlan, credit_all, load_text, rows};
use super::super::super::read_file::{self, ReadPlan};
use super::super::super::{Env, Fault, Output, Plan, RunCtx, Summary, Tool, ToolError};
use super::super::foreign::Foreign;
use super::path::{Named, mounts_below};
use super::{MOST, Surface, cut, python_list};
use crate::workspace::{Consent, EntryKind, Show, TextFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// The longest row, in characters; the rest of a line follows in rows `5.1`, `5.2`.
const ROW: usize = 5000;
const LINES: i64 = 100;
/// Entries listed.
const ENTRIES: usize = 10_000;
const EMPTY: &str = "System reminder: File exists but has empty contents";

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Ls {
    /// Absolute path of the directory.
    path: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Read {
    /// Absolute path of the file.
    file_path: String,
    /// Line to begin with, from 0.
    offset: Option<i64>,
    /// Most lines to read (100).
    limit: Option<i64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Data {
    file_path: String,
}

pub(super) fn ls(surface: &Arc<Surface>) -> Arc<dyn Tool> {
    let tool = Foreign::new("ls", "List the files of a directory.", surface, plan_ls)
        .judged_like(|_| Some("list_directory"))
        .touching(|input, s| s.reads(input, "path"))
        .whole();
    Arc::new(tool)
}

/// What is no directory is listed as an empty one.
fn plan_ls(args: &Ls, env: &Env, surface: &Arc<Surface>) -> Result<Box<dyn Plan>, ToolError> {
    let named = surface.named(env, args.path.as_deref().unwrap_or("/"))?;
    let (place, surface) = (named.clone(), Arc::clone(surface));
    let look = move |consent: Consent<'_>, ctx: &RunCtx| {
        let listed = rows(&ctx.env, &place.at, consent, (Show::All, 1, ENTRIES));
        let (rows, _) = or_nothing(listed)?;
        let path = |row: &super::super::super::look::Row| {
            let slash = if row.kind == EntryKind::Directory { "/" } else { "" };
            format!("{}{slash}", surface.below(&place, &row.relative))
        };
        let mut paths: Vec<String> = rows.iter().map(path).collect();
        paths.extend(mounts_below(&ctx.env, &place.shown));
        paths.sort();
        paths.dedup();
        let text = cut(python_list(&paths));
        Ok(Output::done(text.clone(), Summary::text(format!("ls {}: {}", place.shown, paths.len()), text)))
    };
    Ok(Box::new(LookPlan::new(named.at, format!("ls {}", named.shown), At::Anything, look)))
}

/// Nothing, where there is no such place.
pub(super) fn or_nothing<T: Default>(found: Result<T, ToolError>) -> Result<T, ToolError> {
    match found {
        Err(e) if matches!(e.fault, Fault::Missing | Fault::NotDirectory) => Ok(T::default()),
        found => found,
    }
}

pub(super) fn read_file(surface: &Arc<Surface>) -> Arc<dyn Tool> {
    let description = "Read a file: at most 100 lines from the beginning, or `limit` lines from line `offset` on. Lines are numbered as cat -n does; lines over 5000 characters go on in rows 5.1, 5.2 and so on. Pictures are shown.";
    let tool = Foreign::new("read_file", description, surface, plan_read)
        .touching(|input, s| s.reads(input, "file_path"))
        .whole()
        .failing(|args: &Read, _, _, error| match error.fault {
            Fault::Missing | Fault::Directory | Fault::NotDirectory => {
                Some(format!("Error: File '{}' not found", args.file_path))
            }
            _ => None,
        });
    Arc::new(tool)
}

fn plan_read(args: &Read, env: &Env, surface: &Arc<Surface>) -> Result<Box<dyn Plan>, ToolError> {
    let named = surface.named(env, &args.file_path)?;
    let media = [".png", ".jpg", ".jpeg", ".gif", ".webp"];
    if media.iter().any(|end| named.shown.to_ascii_lowercase().ends_with(end)) {
        let path = named.at.written.clone();
        return Ok(Box::new(ReadPlan::new(read_file::Args { path, ..read_file::Args::default() }, env)?));
    }
    let title = format!("read {}", named.shown);
    let (place, window) = (named.clone(), (args.offset.unwrap_or(0), args.limit.unwrap_or(LINES)));
    let look = move |consent: Consent<'_>, ctx: &RunCtx| read(&place, window, consent, &ctx.env);
    Ok(Box::new(LookPlan::new(named.at, title, At::File, look)))
}

fn read(
    place: &Named,
    (offset, limit): (i64, i64),
    consent: Consent<'_>,
    env: &Env,
) -> Result<Output, ToolError> {
    let (file, hash) = load_text(env, &place.at, consent)?;
    let line = format!("read {}", place.shown);
    if file.text().trim().is_empty() {
        credit_all(env, &place.at, &file, hash);
        return Ok(Output::done(EMPTY, Summary::line(line)));
    }
    let (total, first) = (file.line_count(), usize::try_from(offset).unwrap_or(0));
    if limit <= 0 {
        let text = format!(
            "System reminder: no lines were read because limit was {limit}. Pass a limit of at least 1."
        );
        return Ok(Output::done(text, Summary::line(line)));
    }
    if first >= total {
        let words = format!("Error: Line offset {offset} exceeds file length ({total} lines)");
        return Err(ToolError::worded(words));
    }
    let last = first.saturating_add(usize::try_from(limit).unwrap_or(usize::MAX)).min(total);
    let (mut text, shown) = numbered(&file, first, last);
    env.ledger().saw(&place.at.path, file.bytes(), hash, first..shown);
    if shown < last {
        text.push_str("[Output was truncated due to size limits. The file content is very large. Read on with offset and limit.]\n");
    }
    if offset < 0 {
        text.push_str(&format!(
            "[Requested offset {offset} is before the start of the file; read from line 1 instead.]\n"
        ));
    }
    let line = format!("{line} {}-{shown}", first + 1);
    Ok(Output::done(text.clone(), Summary::text(line, text)))
}

/// Lines as `cat -n` shows them, up to the size limit; and the line after the last one shown.
fn numbered(file: &TextFile, first: usize, last: usize) -> (String, usize) {
    let (mut out, mut chars) = (String::new(), 0);
    for (number, range) in (first..last).zip(file.lines(first)) {
        let before = (out.len(), chars);
        let line = file.line_text(&range);
        let mut rest: &str = &line;
        let mut piece = 0;
        loop {
            let at = rest.char_indices().nth(ROW).map_or(rest.len(), |(at, _)| at);
            let (row, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
            match piece {
                0 => out.push_str(&format!("{:6}\t{row}\n", number + 1)),
                n => out.push_str(&format!("{:>6}\t{row}\n", format!("{}.{n}", number + 1))),
            }
            chars += row.chars().count() + 8;
            rest = after;
            piece += 1;
            if rest.is_empty() {
                break;
            }
        }
        if chars >= MOST && number > first {
            out.truncate(before.0);
            return (out, number);
        }
    }
    (out, last)
}

pub(super) fn file_data(surface: &Arc<Surface>) -> Arc<dyn Tool> {
    let description =
        "The stored form of a text file: its lines, when it was created and when it was modified.";
    let tool = Foreign::new("file_data", description, surface, plan_data)
        .judged_like(|_| Some("read_file"))
        .touching(|input, s| s.reads(input, "file_path"))
        .whole()
        .failing(|args: &Data, _, _, error| match error.fault {
            Fault::Missing | Fault::Directory => Some(format!("Error: File '{}' not found", args.file_path)),
            _ => None,
        });
    Arc::new(tool)
}

fn plan_data(args: &Data, env: &Env, surface: &Arc<Surface>) -> Result<Box<dyn Plan>, ToolError> {
    let named = surface.named(env, &args.file_path)?;
    let title = format!("file data of {}", named.shown);
    let place = named.clone();
    let look = move |consent: Consent<'_>, ctx: &RunCtx| {
        let (file, hash) = load_text(&ctx.env, &place.at, consent)?;
        credit_all(&ctx.env, &place.at, &file, hash);
        let content = file.text();
        let lines: Vec<&str> = content.split('\n').collect();
        let (created_at, modified_at) = times(&ctx.env, &place, consent)?;
        let data =
            json!({"content": lines, "created_at": created_at, "modified_at": modified_at}).to_string();
        if data.chars().count() > MOST {
            return Err(ToolError::worded(format!(
                "Error: File '{}' is too large for file_data, which gives at most {MOST} characters. Use read_file with offset and limit.",
                place.shown
            )));
        }
        Ok(Output::done(data, Summary::line(format!("file data of {}", place.shown))))
    };
    Ok(Box::new(LookPlan::new(named.at, title, At::File, look)))
}

/// When the file was made and last changed. Where the file system keeps no birth, that is the change.
fn times(env: &Env, place: &Named, consent: Consent<'_>) -> Result<(String, String), ToolError> {
    let opened = env.workspace.open(&place.at, consent).map_err(|e| env.path_error(&e))?;
    let meta = opened.file.metadata().map_err(|e| ToolError::new(e.to_string()))?;
    let modified = meta.modified().unwrap_or(std::time::UNIX_EPOCH);
    let created = meta.created().unwrap_or(modified).min(modified);
    let iso = |time: std::time::SystemTime| {
        jiff::Timestamp::try_from(time).map(|t| t.to_string()).unwrap_or_default()
    };
    Ok((iso(created), iso(modified)))
}

impl Surface {
    pub(super) fn reads(&self, input: &serde_json::Value, argument: &str) -> super::super::super::Touches {
        let touches = super::super::foreign::reads(input, argument, "/");
        touches.resolved(|path| Some(self.real(&spelled(path), path)))
    }

    pub(super) fn writes(&self, input: &serde_json::Value, argument: &str) -> super::super::super::Touches {
        let touches = super::super::foreign::writes(input, argument);
        touches.resolved(|path| Some(self.real(&spelled(path), path)))
    }
}

/// For ordering only.
fn spelled(path: &str) -> String {
    format!("/{}", Path::new(&path.replace('\\', "/")).to_string_lossy().trim_start_matches('/'))
}
