//! Resolves the names in a patch to files. Reads no content.
//!
//! A patch is text from anywhere: its names must be inside the workspace in every mode. Only the call's own `path`
//! follows the rules of every tool's paths.

use crate::files::staged_files::is_link;
use crate::{CallFailure, HintTool, ToolContext, ToolError, hint};
use placet_permission::AccessLocation;
use placet_text::text::patch::{FilePatch, FilePatchKind};
use placet_workspace::{ResolvedPath, WorkspaceError};

/// One file of a patch, with its places.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedFilePatch {
    pub(crate) patch: FilePatch,
    pub(crate) kind: FilePatchKind,
    /// Where the content comes from, and where it goes: equal for an edit; only one is present for a new or deleted
    /// file.
    pub(crate) from: Option<ResolvedPath>,
    pub(crate) to: Option<ResolvedPath>,
    /// How the file was chosen, if the names were ambiguous.
    pub(crate) note: Option<String>,
}

impl ResolvedFilePatch {
    pub(crate) fn writes(&self) -> impl Iterator<Item = &ResolvedPath> {
        let source = self.from.as_ref().filter(|_| self.kind != FilePatchKind::Copy);
        source.into_iter().chain(&self.to)
    }

    pub(crate) fn reads(&self) -> impl Iterator<Item = &ResolvedPath> {
        self.from.as_ref().filter(|_| self.kind == FilePatchKind::Copy).into_iter()
    }

    /// The file's name, or both names.
    pub(crate) fn shown(&self, env: &ToolContext) -> String {
        let name = |at: &Option<ResolvedPath>| at.as_ref().map(|at| env.workspace.shown(&at.path));
        match (name(&self.from), name(&self.to)) {
            (Some(from), Some(to)) if from != to => format!("{from} -> {to}"),
            (from, to) => to.or(from).unwrap_or_default(),
        }
    }
}

/// The steps of a patch. `path` is the call's own file, for a patch of one file.
pub(crate) fn steps(
    files: Vec<FilePatch>,
    path: Option<String>,
    env: &ToolContext,
) -> Result<Vec<ResolvedFilePatch>, ToolError> {
    match (path, files.len()) {
        (Some(path), 1) => files.into_iter().map(|file| at_path(file, &path, env)).collect(),
        (Some(_), count) => Err(ToolError::hint(
            format!("`path` names one file, and the patch has {count}"),
            "leave `path` out: the patch names its files",
        )),
        (None, _) => {
            // Files that the patch itself makes exist for the steps that follow.
            let mut made: Vec<std::path::PathBuf> = Vec::new();
            files
                .into_iter()
                .map(|file| {
                    let step = by_names(file, env, &made)?;
                    made.extend(step.to.as_ref().map(|at| at.path.clone()));
                    Ok(step)
                })
                .collect()
        }
    }
}

fn at_path(patch: FilePatch, path: &str, env: &ToolContext) -> Result<ResolvedFilePatch, ToolError> {
    let at = env.resolve_staged(path)?;
    let kind = match patch.kind {
        FilePatchKind::Edit if !at.exists && patch.starts_from_nothing() => FilePatchKind::Create,
        FilePatchKind::Edit if !at.exists => return Err(env.path_error(&WorkspaceError::Missing(at.path))),
        kind => kind,
    };
    let other = |name: &Option<String>| name.as_deref().map(|name| inside(name, env)).transpose();
    let (from, to) = match kind {
        FilePatchKind::Edit => (Some(at.clone()), Some(at)),
        FilePatchKind::Create => (None, Some(at)),
        FilePatchKind::Delete => (Some(at), None),
        FilePatchKind::Rename | FilePatchKind::Copy => (Some(at), other(&patch.new)?),
    };
    Ok(ResolvedFilePatch { patch, kind, from, to, note: None })
}

fn by_names(
    patch: FilePatch,
    env: &ToolContext,
    made: &[std::path::PathBuf],
) -> Result<ResolvedFilePatch, ToolError> {
    let there = |at: &ResolvedPath| at.exists || made.contains(&at.path);
    let (old, new) = (patch.old.clone(), patch.new.clone());
    if old.is_none() && new.is_none() {
        return Err(ToolError::hint("the patch names no file", "name it: path: \"src/main.rs\""));
    }
    let step = |kind, from, to, note| Ok(ResolvedFilePatch { patch: patch.clone(), kind, from, to, note });
    let found = |name: &Option<String>| name.as_deref().map(|name| existing(name, env, &there)).transpose();
    match patch.kind {
        FilePatchKind::Create => {
            let to = new.map(|n| inside(&n, env)).transpose()?;
            to.iter().try_for_each(|to| refuse_link(to, env))?;
            step(FilePatchKind::Create, None, to, None)
        }
        FilePatchKind::Delete => {
            let (from, note) = found(&old)?.unzip();
            step(FilePatchKind::Delete, from, None, note.flatten())
        }
        FilePatchKind::Rename | FilePatchKind::Copy => {
            let (from, note) = found(&old)?.unzip();
            let to = new.map(|name| inside(&name, env)).transpose()?;
            step(patch.kind, from, to, note.flatten())
        }
        FilePatchKind::Edit => {
            let (at, note) = edited(old, new, env, &there)?;
            // git and GNU patch do not patch through a link; the program that defined the envelope does.
            if !patch.hunks().iter().any(|hunk| hunk.envelope) {
                refuse_link(&at, env)?;
            }
            match there(&at) {
                true => step(FilePatchKind::Edit, Some(at.clone()), Some(at), note),
                false if patch.starts_from_nothing() => step(FilePatchKind::Create, None, Some(at), note),
                false => Err(env.path_error(&WorkspaceError::Missing(at.path))),
            }
        }
    }
}

/// Refuses a name that is a link: the patch names the link, and the link's target would change.
fn refuse_link(at: &ResolvedPath, env: &ToolContext) -> Result<(), ToolError> {
    if !is_link(env, at).map_err(|e| env.path_error(&e))? {
        return Ok(());
    }
    let target = env.workspace.shown(&at.path);
    let error = ToolError::hint(
        format!("`{}` is a symbolic link to `{target}`; a patch does not write through a link", at.written),
        format!("name `{target}` in the patch"),
    );
    Err(error.because(CallFailure::Link))
}

type PatchPath = (ResolvedPath, Option<String>);

/// The file of an edit whose sides may have different names: the file that exists; of two, the file that GNU patch
/// takes.
fn edited(
    old: Option<String>,
    new: Option<String>,
    env: &ToolContext,
    there: &impl Fn(&ResolvedPath) -> bool,
) -> Result<PatchPath, ToolError> {
    let (old, new) = match (old, new) {
        (Some(old), Some(new)) if old != new => (old, new),
        (old, new) => return existing(&old.or(new).unwrap_or_default(), env, there),
    };
    let (first, second) = (existing(&old, env, there)?, existing(&new, env, there)?);
    let said = |(at, _): PatchPath, other: &str| {
        let note = format!("the patch names `{old}` and `{new}`; not `{other}`");
        (at, Some(note))
    };
    let weight = |name: &str| {
        let base = name.rsplit('/').next().unwrap_or(name).len();
        (name.split('/').count(), base, name.len())
    };
    Ok(match (there(&first.0), there(&second.0)) {
        (false, true) => said(second, &old),
        (true, true) if weight(&new) < weight(&old) => said(second, &old),
        _ => said(first, &new),
    })
}

/// The file of a name; `a/x` and `b/x` also mean `x` if only `x` exists.
fn existing(
    name: &str,
    env: &ToolContext,
    there: &impl Fn(&ResolvedPath) -> bool,
) -> Result<PatchPath, ToolError> {
    let at = inside(name, env)?;
    if !there(&at)
        && let Some(rest) = name.strip_prefix("a/").or(name.strip_prefix("b/"))
        && let Ok(other) = inside(rest, env)
        && there(&other)
    {
        return Ok((other, Some(format!("`{name}` does not exist, but `{rest}` does"))));
    }
    Ok((at, None))
}

fn inside(name: &str, env: &ToolContext) -> Result<ResolvedPath, ToolError> {
    let at = env.resolve_staged(name)?;
    if at.place != AccessLocation::Outside {
        return Ok(at);
    }
    let outside = ToolError::hint(
        format!("the patch names `{name}`, which is outside the workspace; nothing was written"),
        hint![
            "a patch cannot leave the workspace; change that file with ",
            HintTool::EditFile,
            ", which asks for it"
        ],
    );
    Err(outside.because(CallFailure::Outside))
}
