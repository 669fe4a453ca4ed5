//! A batch: each operation is parsed separately, and so a mistake in one operation fails that operation only.

use super::super::super::{ToolContext, ToolError};
use super::TypestackBases;
use crate::batch::file_operation::{FileOperation, ReplacePolicy};
use crate::files::edit::UnreadPolicy;
use crate::files::staged_files::StagedFiles;
use crate::files::write::WriteEncoding;
use placet_permission::Access;
use placet_text::text::RangeSet;
use placet_workspace::{OpenConsent, ResolvedPath, WorkspaceError};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The largest content that one operation returns, in bytes.
const READ: usize = 4 << 20;

pub(super) struct TypestackBatch(Vec<TypestackOperation>);

/// Why an operation cannot be parsed, or was not done: the model reads it as `sError`.
#[derive(Debug, Error)]
enum TypestackError {
    #[error("the operation is not an object")]
    NotAnObject,
    #[error("the tool `{0}` is not there; placet has `fs`")]
    UnknownTool(String),
    #[error("`{0}` is missing, or is not a string")]
    MissingField(&'static str),
    #[error("the base `core` is read-only")]
    CoreIsReadOnly,
    #[error("the mode `{0}` is not one of overwrite, append, replace, read")]
    UnknownMode(String),
    #[error("`{0}` is hidden from all tools by a rule")]
    Hidden(String),
    #[error("sPath `{0}` names no file")]
    NoFile(String),
    #[error("sPath `{path}` leads out of the base `{base}`")]
    OutOfBase { path: String, base: String },
    #[error("the base `core` is not configured: set dialects.typestack.core")]
    NoCore,
    #[error(
        "there is no base `web`: neither DOCUMENT_ROOT nor public_html nor private_html; set dialects.typestack.web"
    )]
    NoWeb,
    #[error("the base `{0}` is not one of app, web, core")]
    UnknownBase(String),
    #[error(transparent)]
    Path(#[from] WorkspaceError),
}

/// An operation as it was sent, and its parsed form if it could be parsed.
struct TypestackOperation {
    sent: Map<String, Value>,
    what: Result<(FileOperation, ResolvedPath), TypestackError>,
}

impl TypestackBatch {
    pub(super) fn read(operations: &[Value], bases: &TypestackBases, env: &ToolContext) -> TypestackBatch {
        TypestackBatch(operations.iter().map(|sent| TypestackOperation::read(sent, bases, env)).collect())
    }

    /// The paths that the batch writes, and the paths that it only reads.
    pub(super) fn places(&self) -> (Vec<ResolvedPath>, Vec<ResolvedPath>) {
        let good = || self.0.iter().filter_map(|one| one.what.as_ref().ok());
        let writes = good().flat_map(|(o, _)| o.writes().into_iter().cloned().collect::<Vec<_>>());
        let reads = good().flat_map(|(o, _)| o.reads().into_iter().cloned().collect::<Vec<_>>());
        (writes.collect(), reads.collect())
    }

    pub(super) fn perform(
        &self,
        env: &ToolContext,
        draft: &mut StagedFiles,
        consent: OpenConsent<'_>,
    ) -> Vec<Value> {
        self.0.iter().map(|one| one.perform(env, draft, consent)).collect()
    }

    /// The results where nothing could be written.
    pub(super) fn failed(&self, why: &str) -> Vec<Value> {
        let one = |one: &TypestackOperation| {
            let mut result = one.named();
            result.insert("bSuccess".into(), json!(false));
            result.insert("sError".into(), json!(why));
            result.insert("aDebug".into(), json!([format!("Failed: {why}")]));
            Value::Object(result)
        };
        self.0.iter().map(one).collect()
    }
}

impl TypestackOperation {
    fn read(sent: &Value, bases: &TypestackBases, env: &ToolContext) -> TypestackOperation {
        let Value::Object(sent) = sent else {
            return TypestackOperation { sent: Map::new(), what: Err(TypestackError::NotAnObject) };
        };
        TypestackOperation { sent: sent.clone(), what: operation(sent, bases, env) }
    }

    /// The fields of a result that name its operation.
    fn named(&self) -> Map<String, Value> {
        let sent = ["sTool", "sBase", "sPath", "sMode"].into_iter();
        sent.filter_map(|name| Some((name.into(), self.sent.get(name)?.clone()))).collect()
    }

    fn perform(&self, env: &ToolContext, draft: &mut StagedFiles, consent: OpenConsent<'_>) -> Value {
        let mut result = self.named();
        let mut debug: Vec<String> = vec![format!("Mode: {}", text(&self.sent, "sMode").unwrap_or("(none)"))];
        let done = match &self.what {
            Err(why) => Err(why.to_string()),
            Ok((operation, at)) => {
                result.insert("sFullPath".into(), json!(env.real_name(&at.path)));
                debug.push(format!("Path: {}", env.full_name(&at.path)));
                let done = operation.perform(env, draft, consent, UnreadPolicy::Allow);
                done.map(|done| (operation, done)).map_err(|e| told(&e))
            }
        };
        match done {
            Err(why) => {
                result.insert("bSuccess".into(), json!(false));
                result.insert("sError".into(), json!(why));
                debug.push(format!("Failed: {why}"));
            }
            Ok((operation, done)) => {
                let content = done.content.unwrap_or_default();
                result.insert("bSuccess".into(), json!(true));
                match operation {
                    FileOperation::Read { at } => {
                        if let Some(lines) = read_out(&mut result, &content, &mut debug) {
                            draft.print(at, RangeSet::of(0..lines));
                        }
                    }
                    _ => {
                        result.insert("iNewLength".into(), json!(content.len()));
                        debug.push(format!("New length: {} bytes", content.len()));
                    }
                }
                if matches!(operation, FileOperation::Replace { .. }) {
                    debug.push(format!("Replaced: {}", done.places));
                }
            }
        }
        result.insert("aDebug".into(), json!(debug));
        Value::Object(result)
    }
}

/// Returns a content to the model, and the number of its lines if it can be returned.
fn read_out(result: &mut Map<String, Value>, content: &[u8], debug: &mut Vec<String>) -> Option<usize> {
    debug.push(format!("Read: {} bytes", content.len()));
    match std::str::from_utf8(content) {
        _ if content.len() > READ => {
            result.insert("bSuccess".into(), json!(false));
            result.insert(
                "sError".into(),
                json!(format!("the file has {} bytes; a batch hands out {READ}", content.len())),
            );
        }
        Ok(text) => {
            result.insert("sContent".into(), json!(text));
            return Some(text.split_inclusive('\n').count());
        }
        Err(_) => {
            result.insert("bSuccess".into(), json!(false));
            result.insert("sError".into(), json!("the file is not UTF-8 text"));
        }
    }
    None
}

fn told(error: &ToolError) -> String {
    error.message.clone()
}

fn text<'a>(sent: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    sent.get(name).and_then(Value::as_str)
}

fn operation(
    sent: &Map<String, Value>,
    bases: &TypestackBases,
    env: &ToolContext,
) -> Result<(FileOperation, ResolvedPath), TypestackError> {
    match text(sent, "sTool").unwrap_or("fs") {
        "fs" => {}
        other => return Err(TypestackError::UnknownTool(other.into())),
    }
    let needed =
        |name: &'static str| text(sent, name).map(String::from).ok_or(TypestackError::MissingField(name));
    let (base, mode) = (needed("sBase")?, needed("sMode")?);
    if base == "core" && mode != "read" {
        return Err(TypestackError::CoreIsReadOnly);
    }
    let at = place(&base, &needed("sPath")?, bases, env)?;
    let content = || needed("sContent");
    let operation = match mode.as_str() {
        "read" => FileOperation::Read { at: at.clone() },
        "overwrite" => {
            FileOperation::Write { at: at.clone(), content: content()?, form: WriteEncoding::Exact }
        }
        "append" => FileOperation::Append { at: at.clone(), content: content()?, form: WriteEncoding::Exact },
        "replace" => FileOperation::Replace {
            at: at.clone(),
            old: needed("sSearch")?,
            new: needed("sReplace")?,
            how: ReplacePolicy::Bytes,
        },
        other => return Err(TypestackError::UnknownMode(other.into())),
    };
    // The paths of each operation are checked separately: the whole batch needs one consent.
    let hidden =
        operation.writes().into_iter().chain(operation.reads()).find(|at| env.workspace.is_hidden(&at.path));
    match hidden {
        Some(at) => Err(TypestackError::Hidden(at.written.clone())),
        None => Ok((operation, at)),
    }
}

/// A path of a base, which must stay below the base through every link.
fn place(
    base: &str,
    path: &str,
    bases: &TypestackBases,
    env: &ToolContext,
) -> Result<ResolvedPath, TypestackError> {
    let root = base_dir(base, bases, env)?;
    let relative = path.trim_start_matches('/');
    if relative.is_empty() || relative.ends_with('/') {
        return Err(TypestackError::NoFile(path.into()));
    }
    let real_root = env.workspace.resolve(&root.to_string_lossy())?;
    let at = env.workspace.resolve_staged(&root.join(relative).to_string_lossy())?;
    if at.path == real_root.path || !at.path.starts_with(&real_root.path) {
        return Err(TypestackError::OutOfBase { path: path.into(), base: base.into() });
    }
    debug_assert!(matches!(at.read(), Access::Read { .. }));
    Ok(at.of_own_step())
}

fn base_dir(base: &str, bases: &TypestackBases, env: &ToolContext) -> Result<PathBuf, TypestackError> {
    let cwd = env.workspace.cwd();
    // Without redundant components: `.` is the usual value.
    let app: PathBuf = cwd.join(&bases.app).components().collect();
    match base {
        "app" => Ok(app),
        "core" => bases.core.as_ref().map(|core| cwd.join(core)).ok_or(TypestackError::NoCore),
        "web" => match &bases.web {
            Some(web) => Ok(cwd.join(web)),
            None => web_below(&app).ok_or(TypestackError::NoWeb),
        },
        other => Err(TypestackError::UnknownBase(other.into())),
    }
}

fn web_below(app: &Path) -> Option<PathBuf> {
    let root = std::env::var_os("DOCUMENT_ROOT").map(PathBuf::from).filter(|root| root.is_absolute());
    let below = ["public_html", "private_html"].into_iter().map(|name| app.join(name));
    root.into_iter().chain(below).find(|dir| dir.is_dir())
}
