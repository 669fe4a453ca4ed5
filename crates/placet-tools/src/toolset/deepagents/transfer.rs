//! upload_files and download_files: many files at once, each with its own success or error.

use super::super::super::{
    CallFailure, CallSummary, PlanResult, RunContext, Tool, ToolContext, ToolError, ToolOutput,
};
use super::options::DeepagentsOptions;
use super::path::{DeepagentsPath, reason};
use crate::batch::file_operation::{NeededLines, allowed};
use crate::files::edit::UnreadPolicy;
use crate::files::lookup::LookupPlan;
use crate::files::staged_files::StagedFiles;
use crate::files::staged_plan::{StagedPlan, StagedReport};
use crate::toolset::foreign_tool::ForeignTool;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet_workspace::{EditError, OpenConsent, ResolvedPath, TextFile, WorkspaceError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use thiserror::Error;

/// The largest file and the most files of one transfer.
const LARGEST: u64 = 16 << 20;
const FILES: usize = 1000;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsUploadFile {
    path: String,
    /// The bytes, in base64.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsUpload {
    files: Vec<DeepagentsUploadFile>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsDownload {
    paths: Vec<String>,
}

/// Why one file was not transferred. The first four use the wording of DeepAgents' own protocol.
#[derive(Clone, Debug, Error)]
enum TransferError {
    #[error("file_not_found")]
    Missing,
    #[error("permission_denied")]
    Denied,
    #[error("is_directory")]
    Directory,
    #[error("invalid_path")]
    InvalidPath,
    #[error(transparent)]
    Placeholder(#[from] EditError),
    /// The file changed since it was read: its unseen content must not be lost.
    #[error(transparent)]
    Unread(#[from] ToolError),
}

impl From<CallFailure> for TransferError {
    fn from(fault: CallFailure) -> TransferError {
        match fault {
            CallFailure::Missing => TransferError::Missing,
            CallFailure::Denied => TransferError::Denied,
            CallFailure::Directory => TransferError::Directory,
            _ => TransferError::InvalidPath,
        }
    }
}

/// One file of a transfer: where it goes.
type DeepagentsTarget = Result<DeepagentsPath, TransferError>;

/// The content of a file.
type DeepagentsBytes = Result<Vec<u8>, TransferError>;

fn place(surface: &DeepagentsOptions, env: &ToolContext, path: &str) -> DeepagentsTarget {
    let mut named = surface.named(env, path).map_err(|e| TransferError::from(e.fault))?;
    // A file that a rule hides, or that is read-only, must not stop the others.
    match env.workspace.is_hidden(&named.at.path) {
        true => Err(TransferError::Denied),
        false => {
            named.at = named.at.of_own_step();
            Ok(named)
        }
    }
}

fn error_of(env: &ToolContext, error: &WorkspaceError) -> TransferError {
    env.path_error(error).fault.into()
}

pub(super) fn upload(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    let description = "Write several files, given in base64. Each answers for itself: one that fails does not stop the others.";
    ForeignTool::new("upload_files", description, surface, plan_upload)
        .rule("write_file")
        .whole()
        .failing(|_, _, _, error| reason(error).map(|why| format!("Error uploading files: {why}")))
        .build()
}

fn plan_upload(args: &DeepagentsUpload, env: &ToolContext, surface: &Arc<DeepagentsOptions>) -> PlanResult {
    counted(args.files.len())?;
    let files: Vec<(String, DeepagentsTarget, DeepagentsBytes)> = args
        .files
        .iter()
        .map(|file| {
            let bytes = STANDARD.decode(&file.content).map_err(|_| TransferError::InvalidPath);
            (file.path.clone(), place(surface, env, &file.path), bytes)
        })
        .collect();
    let writes: Vec<ResolvedPath> =
        files.iter().filter_map(|(_, p, _)| p.as_ref().ok().map(|n| n.at.clone())).collect();
    let title = format!("upload {} files", files.len());
    let unseen = args.files.iter().map(|f| format!("write {}\n", f.path)).collect();
    let work = move |env: &ToolContext, draft: &mut StagedFiles, consent: OpenConsent<'_>| {
        let mut answers = Vec::new();
        for (path, place, bytes) in &files {
            let put = match (place, bytes) {
                (Ok(named), Ok(bytes)) => put(env, draft, (&named.at, path), bytes, consent),
                (Err(error), _) | (_, Err(error)) => Err(error.clone()),
            };
            answers.push(json!({"path": path, "error": put.err().map(|error| error.to_string())}));
        }
        Ok(StagedReport { text: Value::Array(answers).to_string(), ..StagedReport::default() })
    };
    Ok(Box::new(StagedPlan::new(title, &writes, &[], unseen, Box::new(work))))
}

fn put(
    env: &ToolContext,
    draft: &mut StagedFiles,
    (at, path): (&ResolvedPath, &str),
    bytes: &[u8],
    consent: OpenConsent<'_>,
) -> Result<(), TransferError> {
    let fail = |e: WorkspaceError| error_of(env, &e);
    let old = draft.held(env, at, consent).map_err(fail)?.bytes().cloned();
    if let (Some(old), Ok(text)) = (old.and_then(|old| TextFile::new(old).ok()), std::str::from_utf8(bytes)) {
        old.refuse_placeholders(text)?;
    }
    allowed(env, draft, (at, path), NeededLines::All, UnreadPolicy::Allow)?;
    draft.put(env, at, bytes.to_vec(), consent).map_err(fail)
}

pub(super) fn download(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    let description = "Read several files whole, in base64. Each answers for itself.";
    ForeignTool::new("download_files", description, surface, plan_download)
        .rule("read_file")
        .whole()
        .failing(|_, _, _, error| reason(error).map(|why| format!("Error downloading files: {why}")))
        .build()
}

fn plan_download(
    args: &DeepagentsDownload,
    env: &ToolContext,
    surface: &Arc<DeepagentsOptions>,
) -> PlanResult {
    counted(args.paths.len())?;
    let files: Vec<(String, DeepagentsTarget)> =
        args.paths.iter().map(|path| (path.clone(), place(surface, env, path))).collect();
    let reads: Vec<ResolvedPath> =
        files.iter().filter_map(|(_, p)| p.as_ref().ok().map(|n| n.at.clone())).collect();
    let title = format!("download {} files", files.len());
    let look = move |consent: OpenConsent<'_>, ctx: &RunContext| {
        let one = |(path, place): &(String, DeepagentsTarget)| {
            let bytes = match place {
                Ok(named) => {
                    ctx.env.workspace.load(&named.at, consent, LARGEST).map_err(|e| error_of(&ctx.env, &e))
                }
                Err(error) => Err(error.clone()),
            };
            match bytes {
                Ok((bytes, _)) => {
                    json!({"path": path, "content": STANDARD.encode(bytes.as_slice()), "error": null})
                }
                Err(error) => json!({"path": path, "content": null, "error": error.to_string()}),
            }
        };
        let answers: Vec<Value> = files.iter().map(one).collect();
        let line = format!("download {} files", answers.len());
        Ok(ToolOutput::done(Value::Array(answers).to_string(), CallSummary::line(line)))
    };
    Ok(Box::new(LookupPlan::many(reads, title, look)))
}

fn counted(files: usize) -> Result<(), ToolError> {
    match files {
        n if n > FILES => {
            Err(ToolError::worded(format!("Error: {n} files are more than the {FILES} of one transfer")))
        }
        _ => Ok(()),
    }
}
