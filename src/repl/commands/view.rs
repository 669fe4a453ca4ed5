//! `/view FILE[:LINE]`: a file as the conversation has it, with what the model has seen of it.
//!
//! It is opened as a tool would open it: through what is pending, and never against a rule that hides it. The model
//! learns nothing of it.

use super::review::{blamed, turn_numbers};
use crate::agent::Agent;
use crate::media;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::conversation::ShellConversation;
use crate::repl::output::{ShellOutput, is_interactive};
use crate::repl::prompt::words;
use crate::text::{DetectedEncoding, TextEncoding};
use crate::tools::data_kind;
use crate::ui::picture::PictureProtocol;
use crate::ui::viewer::{self, PictureViewer, Viewer, ViewerText};
use crate::ui::{editor, pager};
use crate::workspace::{
    LayerKind, OpenConsent, OpenedFile, ReadLedger, ResolvedPath, SeenLines, SeenWindow, TextFile, Workspace,
    WorkspaceError,
};
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::sync::{Arc, MutexGuard, PoisonError};
use thiserror::Error;

/// A file up to this size is read whole: it gets its colours from the first line on.
const WHOLE: u64 = 16_000_000;
/// The largest file that is looked at for a picture, and the largest that is named by its hash.
const PICTURE: u64 = 256 << 20;

/// What a file holds, as far as a person can be shown it.
enum ViewableContent {
    Text {
        text: ViewerText,
        seen: SeenLines,
        windows: Vec<SeenWindow>,
        facts: Vec<String>,
    },
    /// A picture, and its description.
    Picture(Arc<Vec<u8>>, String),
    /// The description of a file that cannot be shown.
    Other(String),
}

/// Why a file cannot be shown.
#[derive(Debug, Error)]
pub(super) enum ViewFileError {
    #[error("`{}` is not shown: a rule denies reading it", .0.display())]
    Hidden(PathBuf),
    #[error("cannot read `{}`: {cause}", .path.display())]
    Read { path: PathBuf, cause: std::io::Error },
    #[error(transparent)]
    Workspace(WorkspaceError),
}

impl From<WorkspaceError> for ViewFileError {
    fn from(error: WorkspaceError) -> ViewFileError {
        match error {
            WorkspaceError::Hidden(path) => ViewFileError::Hidden(path),
            other => ViewFileError::Workspace(other),
        }
    }
}

impl From<ViewFileError> for CommandStop {
    fn from(error: ViewFileError) -> CommandStop {
        CommandStop::error(error.to_string())
    }
}

/// `src/main.rs:12`, `src/main.rs:12:5`, or a path alone.
fn parse(rest: &str, exists: impl Fn(&str) -> bool) -> (String, Option<usize>) {
    let path = words(rest).join(" ");
    let path = path.strip_prefix('@').unwrap_or(&path).to_string();
    let mut left = path.as_str();
    let mut line = None;
    for _ in 0..2 {
        if exists(left) {
            break;
        }
        let Some((before, number)) = left.rsplit_once(':') else { break };
        let Ok(number) = number.parse() else { break };
        (left, line) = (before, Some(number));
    }
    if exists(left) { (left.to_string(), line) } else { (path, None) }
}

pub(super) fn view(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    if rest.is_empty() {
        let hint = "/view src/main.rs, /view src/main.rs:120";
        return Err(CommandStop::with_hint("/view needs a file", hint));
    }
    match show_file(context, rest)? {
        Some(sentence) => Err(CommandStop::note(sentence)),
        None => Ok(CommandFollowUp::Nothing),
    }
}

fn shows_pictures(output: &ShellOutput<'_>) -> bool {
    !output.is_linear() && output.display().protocol != PictureProtocol::Words && is_interactive()
}

/// Shows a file until its screen closes, or gives the sentence that says what it is instead of text.
pub(super) fn show_file(context: &CommandContext<'_>, rest: &str) -> Result<Option<String>, ViewFileError> {
    let (output, conversation) = (&context.output, &context.conversation);
    let workspace = conversation.workspace();
    let there = |path: &str| workspace.resolve(path).is_ok_and(|at| at.exists);
    let (path, line) = parse(rest, there);
    let at = workspace.resolve(&path)?;
    let opened = workspace.open(&at, OpenConsent::Prepared)?;
    let pending = is_pending(&workspace, &at);
    let (text, seen, windows, mut facts) = match content(conversation, &at, opened)? {
        ViewableContent::Text { text, seen, windows, facts } => (text, seen, windows, facts),
        ViewableContent::Picture(bytes, about) if shows_pictures(output) => {
            let about = if pending { format!("{about}, pending") } else { about };
            let (name, keys) = (workspace.shown(&at.path), output.keymap("pager", pager::KEYS));
            let mut pane = PictureViewer::new(bytes, (&name, about), &output.theme, keys, output.display());
            output.show(&mut pane);
            return Ok(None);
        }
        ViewableContent::Picture(_, sentence) | ViewableContent::Other(sentence) => {
            return Ok(Some(format!("{}: {sentence}", workspace.shown(&at.path))));
        }
    };
    if pending {
        facts.insert(0, "pending".into());
    }
    let (program, clipboard, real) = (output.editor(), output.clipboard(), at.path.clone());
    let hands = viewer::ViewerCallbacks {
        keys: output.keymap("viewer", viewer::KEYS),
        pager: output.keymap("pager", pager::KEYS),
        copy: Box::new(move |text| clipboard.copy(text).map_or_else(|e| e.to_string(), |c| c.words())),
        edit: Box::new(move |line| match pending {
            true => Err(viewer::ViewerEditError::Pending),
            false => Ok(editor::open(&program, &real, line)?),
        }),
    };
    let name = workspace.shown(&at.path);
    let pane = Viewer::new(text, &name, line, &output.theme, hands);
    let mut pane = pane.with_seen(seen).with_windows(windows).with_facts(facts);
    if let Some(view) = workspace.view().cloned() {
        let (path, turns) = (at.path.clone(), turn_numbers(conversation.messages(), &view));
        pane = pane.with_provenance(Box::new(move || {
            blamed(&view, &path, &turns).unwrap_or_else(|error| vec![error.to_string()])
        }));
    }
    output.show(&mut pane);
    Ok(None)
}

fn content(
    conversation: &ShellConversation<'_>,
    at: &ResolvedPath,
    mut opened: OpenedFile,
) -> Result<ViewableContent, ViewFileError> {
    let failed = |cause: std::io::Error| ViewFileError::Read { path: at.path.clone(), cause };
    let mut head = Vec::new();
    (&mut opened.file).take(8192).read_to_end(&mut head).map_err(failed)?;
    opened.file.rewind().map_err(failed)?;
    let size = opened.size;
    if media::sniff(&head, &at.written).is_some() {
        return picture(&mut opened, at, &head);
    }
    if let Some(kind) = data_kind(&head) {
        return Ok(ViewableContent::Other(binary(kind, &mut opened)));
    }
    if size > WHOLE {
        return Ok(large(conversation, at, opened, &head));
    }
    let bytes = opened.read_all(&at.path, WHOLE)?;
    let bytes = Arc::new(bytes);
    let Ok(file) = TextFile::new(Arc::clone(&bytes)) else {
        return Ok(ViewableContent::Other(binary("binary data", &mut opened)));
    };
    let seen = match &conversation.agent {
        Some(agent) => ledger(agent).shown_now(&at.path, &bytes, blake3::hash(&bytes)),
        None => SeenLines::default(),
    };
    let facts = facts(&file);
    let text = match file.detected().stray {
        // Read from the file it can be shown byte for byte.
        true => ViewerText::on_disk(opened.file, size, file.encoding()),
        false => ViewerText::in_memory(file.text().as_ref().into()),
    };
    Ok(ViewableContent::Text { text, seen, windows: Vec::new(), facts })
}

/// A file that is read where it is looked at.
fn large(
    conversation: &ShellConversation<'_>,
    at: &ResolvedPath,
    mut opened: OpenedFile,
    head: &[u8],
) -> ViewableContent {
    // Cut in the middle of a letter, the head would seem to be of another encoding.
    let end = memchr::memrchr(b'\n', head).map_or(head.len(), |feed| feed + 1);
    let detected = DetectedEncoding::of(head.get(..end).unwrap_or(head));
    let encoding = match detected {
        Ok(detected) if detected.encoding.unit() == 1 => detected.encoding,
        Ok(detected) => {
            let advice = "too large to decode here: `iconv -t UTF-8` makes it readable";
            return ViewableContent::Other(format!(
                "{} text of {} bytes, {advice}",
                detected.encoding, opened.size
            ));
        }
        Err(_) => return ViewableContent::Other(binary("binary data", &mut opened)),
    };
    let windows = match &conversation.agent {
        Some(agent) => ledger(agent).windows(&at.path).to_vec(),
        None => Vec::new(),
    };
    let facts = vec![format!("{} MB", opened.size / 1_000_000)];
    let text = ViewerText::on_disk(opened.file, opened.size, encoding);
    ViewableContent::Text { text, seen: SeenLines::default(), windows, facts }
}

fn ledger(agent: &Agent) -> MutexGuard<'_, ReadLedger> {
    agent.env().ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_pending(workspace: &Workspace, at: &ResolvedPath) -> bool {
    let changes = workspace.view().and_then(|view| view.changes(LayerKind::Pending).ok());
    changes.is_some_and(|set| set.get(&at.path).is_some())
}

/// What is to be known of a text besides its lines.
fn facts(file: &TextFile) -> Vec<String> {
    let mut out = Vec::new();
    if file.encoding() != TextEncoding::Utf8 {
        out.push(file.encoding().to_string());
    }
    if file.detected().mark > 0 {
        out.push("byte order mark".into());
    }
    if file.line_ends().mixed() {
        out.push("mixed line ends".into());
    } else if file.line_ends().crlf > 0 {
        out.push("CRLF".into());
    }
    out
}

/// A picture and its description. For a picture that cannot be decoded, the description alone.
fn picture(
    opened: &mut OpenedFile,
    at: &ResolvedPath,
    head: &[u8],
) -> Result<ViewableContent, ViewFileError> {
    let Some(kind) = media::sniff(head, &at.written) else {
        return Ok(ViewableContent::Other(binary("binary data", opened)));
    };
    let bytes = opened.read_all(&at.path, PICTURE)?;
    let size = bytes.len();
    let bytes = Arc::new(bytes);
    Ok(match media::check(kind, &bytes) {
        Ok((width, height)) => ViewableContent::Picture(
            bytes,
            format!("a {kind} picture of {width}x{height} pixels, {size} bytes"),
        ),
        // The words of the tool that reads, so that a search finds both.
        Err(e) => ViewableContent::Other(format!("{e}, {size} bytes; {}", e.hint())),
    })
}

/// The description of a file that is not text.
fn binary(kind: &str, opened: &mut OpenedFile) -> String {
    let size = opened.size;
    let mut hasher = blake3::Hasher::new();
    let mut read = || opened.file.rewind().and_then(|()| hasher.update_reader(&mut opened.file).map(drop));
    match size <= PICTURE && read().is_ok() {
        true => format!("{kind}, {size} bytes, blake3 {}", hasher.finalize().to_hex()),
        false => format!("{kind}, {size} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_follow_the_path_and_a_name_may_have_colons() {
        let there = |path: &str| matches!(path, "a.rs" | "odd:7" | "two words");
        for (rest, want) in [
            ("a.rs", ("a.rs", None)),
            ("@a.rs:12", ("a.rs", Some(12))),
            ("a.rs:12:5", ("a.rs", Some(12))),
            ("odd:7", ("odd:7", None)),
            ("odd:7:9", ("odd:7", Some(9))),
            ("\"two words\":3", ("two words", Some(3))),
            ("none:3", ("none:3", None)),
        ] {
            let (path, line) = parse(rest, there);
            assert_eq!((path.as_str(), line), want, "{rest}");
        }
    }
}
