//! scratchpad: the session's named notes, results and pictures.

use super::arguments::ToolSchema;
use super::blocking::{blocking, consent_of};
use super::files::edit::UnreadPolicy;
use super::files::edit_errors::bad_text;
use super::files::file_page::{GUTTER, ROW};
use super::files::read::picture_error;
use super::files::write::{WriteContent, WritePlan};
use super::output::size_of;
use super::{
    CallPreview, CallSummary, DisplayDetail, HintTool, OutputFacts, Plan, ReadScope, RunContext, RunFuture,
    Tool, ToolContext, ToolError, ToolOutput, TouchedPaths, hint,
};
use placet_media as media;
use placet_permission::{Access, Permit};
use placet_session::session::{MAX_ENTRY, ScratchpadEntry, ScratchpadError, check_name};
use placet_text::conversation::{CallOutcome, Part, ToolSpec};
use placet_text::text::{LineDiff, for_model};
use placet_workspace::{OpenConsent, Replacement, ResolvedPath, TextFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;

const LINES: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ScratchpadAction {
    Write,
    Append,
    Read,
    Edit,
    List,
    Rename,
    Merge,
    Delete,
    Load,
    Save,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    action: ScratchpadAction,
    name: Option<String>,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: Option<String>,
    offset: Option<usize>,
    limit: Option<usize>,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    old_string: Option<String>,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    new_string: Option<String>,
    to: Option<String>,
    from: Option<Vec<String>>,
    path: Option<String>,
    force: Option<bool>,
}

/// What to do, with everything it needs.
enum ScratchpadOp {
    Write { name: String, content: String },
    Append { name: String, content: String },
    Read { name: String, offset: usize, limit: Option<usize> },
    Edit { name: String, old: String, new: String },
    List,
    Rename { name: String, to: String },
    Merge { name: String, from: Vec<String> },
    Delete { name: String },
    Load { name: String, at: ResolvedPath },
}

pub(super) struct ScratchpadTool(ToolSchema);

impl Default for ScratchpadTool {
    fn default() -> ScratchpadTool {
        ScratchpadTool(ToolSchema::of::<Args>("scratchpad", include_str!("../prompts/tools/scratchpad.md")))
    }
}

impl Tool for ScratchpadTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        let word = |name: &str| input.get(name).and_then(Value::as_str);
        let pads = ["name", "to"].into_iter().filter_map(word).map(|name| format!("scratchpad:{name}"));
        let path = word("path").map(String::from);
        match word("action") {
            Some("read") => TouchedPaths { reads: pads.collect(), ..TouchedPaths::default() },
            Some("load") => {
                TouchedPaths { reads: path.into_iter().collect(), writes: pads.collect(), anything: false }
            }
            Some("save") => {
                TouchedPaths { reads: pads.collect(), writes: path.into_iter().collect(), anything: false }
            }
            // A list shows all entries, and a merge reads many.
            _ => TouchedPaths {
                writes: pads.chain(std::iter::once("scratchpad:*".into())).collect(),
                ..TouchedPaths::default()
            },
        }
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        let action = args.action;
        if action == ScratchpadAction::Save {
            return save(&args, env);
        }
        let deed = deed(args, env)?;
        Ok(Box::new(ScratchpadPlan { deed }))
    }
}

impl ScratchpadTool {
    /// One action as a separate tool.
    pub(super) fn shape_of(&self, name: &str, description: &str, parameters: &[&str]) -> ToolSchema {
        self.0.narrowed(name, description, parameters)
    }
}

fn needed<T>(value: Option<T>, action: &str, parameter: &str) -> Result<T, ToolError> {
    value.ok_or_else(|| ToolError::new(format!("`{parameter}` is missing: the action \"{action}\" needs it")))
}

fn deed(args: Args, env: &ToolContext) -> Result<ScratchpadOp, ToolError> {
    let named = |action: &str| {
        let name = needed(args.name.clone(), action, "name")?;
        check_name(&name).map(|()| name).map_err(|e| pad_error(&e))
    };
    let is_empty = |parameter: &str| Err(ToolError::new(format!("`{parameter}` is empty")));
    if args.action == ScratchpadAction::Edit && args.old_string.as_deref() == Some("") {
        return is_empty("old_string");
    }
    if args.action == ScratchpadAction::Merge && args.from.as_ref().is_some_and(Vec::is_empty) {
        return is_empty("from");
    }
    Ok(match args.action {
        ScratchpadAction::Write => {
            ScratchpadOp::Write { name: named("write")?, content: needed(args.content, "write", "content")? }
        }
        ScratchpadAction::Append => ScratchpadOp::Append {
            name: named("append")?,
            content: needed(args.content, "append", "content")?,
        },
        ScratchpadAction::Read => {
            ScratchpadOp::Read { name: named("read")?, offset: args.offset.unwrap_or(0), limit: args.limit }
        }
        ScratchpadAction::Edit => ScratchpadOp::Edit {
            name: named("edit")?,
            old: needed(args.old_string, "edit", "old_string")?,
            new: needed(args.new_string, "edit", "new_string")?,
        },
        ScratchpadAction::List => ScratchpadOp::List,
        ScratchpadAction::Rename => {
            ScratchpadOp::Rename { name: named("rename")?, to: needed(args.to, "rename", "to")? }
        }
        ScratchpadAction::Merge => {
            ScratchpadOp::Merge { name: named("merge")?, from: needed(args.from, "merge", "from")? }
        }
        ScratchpadAction::Delete => ScratchpadOp::Delete { name: named("delete")? },
        ScratchpadAction::Load | ScratchpadAction::Save => {
            let path = needed(args.path, "load", "path")?;
            ScratchpadOp::Load { name: named("load")?, at: env.resolve(&path)? }
        }
    })
}

/// A save is a file write, by the rules of write_file and with its accesses.
fn save(args: &Args, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
    let name = needed(args.name.clone(), "save", "name")?;
    let path = needed(args.path.clone(), "save", "path")?;
    let content = match env.scratchpads.get(&name).map_err(|e| pad_error(&e))? {
        ScratchpadEntry::Text(text) => WriteContent::Text(text),
        ScratchpadEntry::Image(image) => WriteContent::Bytes(image.bytes),
    };
    let at = env.resolve(&path)?;
    Ok(Box::new(WritePlan::saving(
        at,
        path,
        content,
        if args.force == Some(true) { UnreadPolicy::Allow } else { UnreadPolicy::Refuse },
        env,
    )))
}

fn pad_error(error: &ScratchpadError) -> ToolError {
    match error {
        ScratchpadError::Exists(_) => {
            ToolError::hint(error.to_string(), "delete it first, or choose another name")
        }
        ScratchpadError::Missing { .. } => {
            ToolError::hint(error.to_string(), hint!["see them with ", HintTool::ScratchpadList])
        }
        _ => ToolError::new(error.to_string()),
    }
}

struct ScratchpadPlan {
    deed: ScratchpadOp,
}

impl Plan for ScratchpadPlan {
    fn reach(&self) -> Vec<Access> {
        match &self.deed {
            ScratchpadOp::Load { at, .. } => vec![Access::Session, at.read()],
            _ => vec![Access::Session],
        }
    }

    fn title(&self) -> String {
        match &self.deed {
            ScratchpadOp::Write { name, .. } => format!("scratchpad write {name}"),
            ScratchpadOp::Append { name, .. } => format!("scratchpad append {name}"),
            ScratchpadOp::Read { name, .. } => format!("scratchpad read {name}"),
            ScratchpadOp::Edit { name, .. } => format!("scratchpad edit {name}"),
            ScratchpadOp::List => "scratchpad list".into(),
            ScratchpadOp::Rename { name, to } => format!("scratchpad rename {name} -> {to}"),
            ScratchpadOp::Merge { name, from } => format!("scratchpad merge {} -> {name}", from.join(" + ")),
            ScratchpadOp::Delete { name } => format!("scratchpad delete {name}"),
            ScratchpadOp::Load { name, at } => format!("scratchpad load {} -> {name}", at.written),
        }
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        if let ScratchpadOp::Load { at, .. } = &self.deed {
            match env.workspace.open(at, consent_of(sight)) {
                Err(placet_workspace::WorkspaceError::Outside(_)) if sight == ReadScope::InsideOnly => {}
                opened => drop(opened.map_err(|e| env.path_error(&e))?),
            }
        }
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        let title = self.title();
        blocking(title.clone(), move || {
            let text = |text: String| ToolOutput::lookup(title.clone(), text);
            self.perform(&permit, &ctx.env, &title).map(|done| match done {
                ScratchpadReply::Text(t) => text(t),
                ScratchpadReply::Output(output) => *output,
            })
        })
    }
}

enum ScratchpadReply {
    Text(String),
    Output(Box<ToolOutput>),
}

impl ScratchpadPlan {
    fn perform(self, permit: &Permit, env: &ToolContext, title: &str) -> Result<ScratchpadReply, ToolError> {
        let pads = &env.scratchpads;
        let get_text = |name: &str| match pads.get(name).map_err(|e| pad_error(&e))? {
            ScratchpadEntry::Text(text) => Ok(text),
            ScratchpadEntry::Image(image) => {
                Err(ToolError::new(format!("the scratchpad `{name}` is a picture: {}", image.describe())))
            }
        };
        let put = |name: &str, text: String| {
            let size = size_of(&text);
            pads.put(name, ScratchpadEntry::Text(text)).map_err(|e| pad_error(&e)).map(|()| size)
        };
        Ok(ScratchpadReply::Text(match self.deed {
            ScratchpadOp::Write { name, content } => {
                format!("wrote the scratchpad `{name}`: {}", put(&name, content)?)
            }
            ScratchpadOp::Append { name, content } => {
                let before = if pads.contains(&name) { get_text(&name)? } else { String::new() };
                format!("appended to the scratchpad `{name}`: now {}", put(&name, before + &content)?)
            }
            ScratchpadOp::Read { name, offset, limit } => return read(env, title, &name, offset, limit),
            ScratchpadOp::Edit { name, old, new } => {
                let text = get_text(&name)?;
                let after = edited(&name, &text, &old, &new)?;
                if after == text {
                    return Ok(ScratchpadReply::Text(format!(
                        "nothing to change in the scratchpad `{name}`"
                    )));
                }
                let diff = LineDiff::new(&text, &after).unified(2, 3000).text;
                let diff = for_model(&diff).into_owned();
                format!("edited the scratchpad `{name}`: {}\n{diff}", put(&name, after)?)
            }
            ScratchpadOp::List => list(env),
            ScratchpadOp::Rename { name, to } => {
                pads.rename(&name, &to).map_err(|e| pad_error(&e))?;
                format!("renamed the scratchpad `{name}` to `{to}`")
            }
            ScratchpadOp::Merge { name, from } => {
                let texts: Result<Vec<String>, ToolError> = from.iter().map(|from| get_text(from)).collect();
                let mut all = String::new();
                for text in texts? {
                    if !all.is_empty() && !all.ends_with('\n') {
                        all.push('\n');
                    }
                    all.push_str(&text);
                }
                format!("merged {} into the scratchpad `{name}`: {}", from.join(", "), put(&name, all)?)
            }
            ScratchpadOp::Delete { name } => {
                pads.delete(&name).map_err(|e| pad_error(&e))?;
                format!("deleted the scratchpad `{name}`")
            }
            ScratchpadOp::Load { name, at } => {
                let (bytes, _) = env
                    .workspace
                    .load(&at, OpenConsent::Permit(permit), MAX_ENTRY as u64)
                    .map_err(|e| env.path_error(&e))?;
                let (entry, what) = loaded(&at.written, bytes, env)?;
                pads.put(&name, entry).map_err(|e| pad_error(&e))?;
                format!("loaded {} into the scratchpad `{name}`: {what}", at.written)
            }
        }))
    }
}

/// A file as an entry: a picture remains a picture, anything else must be text. UTF-8 is stored as it is; of another
/// encoding the words say so.
fn loaded(
    path: &str,
    bytes: std::sync::Arc<Vec<u8>>,
    env: &ToolContext,
) -> Result<(ScratchpadEntry, String), ToolError> {
    if let Some(kind) = media::sniff(&bytes, path) {
        let bytes = std::sync::Arc::unwrap_or_clone(bytes);
        let loaded = media::load(kind, path, bytes, env.limits.image_bytes, media::OversizePolicy::ScaleDown);
        let image = loaded.map_err(|e| picture_error(path, &e))?.image;
        let words = image.describe();
        return Ok((ScratchpadEntry::Image(image), words));
    }
    let file = TextFile::new(bytes)
        .map_err(|_| ToolError::new(format!("`{path}` is neither text nor a picture")))?;
    // Byte for byte, with a byte order mark: what is saved again is the same file.
    if let Ok(text) = std::str::from_utf8(file.bytes()) {
        return Ok((ScratchpadEntry::Text(text.into()), size_of(text)));
    }
    let text = file.text();
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return Err(ToolError::hint(
            format!("`{path}` has bytes that are no text, which a scratchpad would lose"),
            "a command can copy or change it",
        ));
    }
    let what = format!("{}, decoded from {}: it is saved as UTF-8", size_of(&text), file.encoding());
    Ok((ScratchpadEntry::Text(text.into_owned()), what))
}

/// As edit_file edits a file: line breaks in the texts stand for the line ends that the entry has.
fn edited(name: &str, text: &str, old: &str, new: &str) -> Result<String, ToolError> {
    let replacement = Replacement::of_text(old, new);
    let file = TextFile::of_text(text);
    let places = file.places(&replacement, usize::MAX).map_err(|e| bad_text(&e))?;
    match places.len() {
        1 => {
            let spliced = file.splice(&places, &replacement).map_err(|e| bad_text(&e))?;
            Ok(String::from_utf8_lossy(&spliced.bytes).into_owned())
        }
        0 if file.has_line_ends_of(&replacement) => Ok(text.into()),
        0 => Err(ToolError::hint(
            format!("old_string is not in the scratchpad `{name}`"),
            "read it to copy the exact text",
        )),
        count => Err(ToolError::hint(
            format!("old_string occurs {count} times in the scratchpad `{name}`"),
            "add surrounding text until it is unique",
        )),
    }
}

/// Pages through an entry by rows: its lines, with long lines split, and so even one endless line can be paged.
fn read(
    env: &ToolContext,
    title: &str,
    name: &str,
    offset: usize,
    limit: Option<usize>,
) -> Result<ScratchpadReply, ToolError> {
    let text = match env.scratchpads.get(name).map_err(|e| pad_error(&e))? {
        ScratchpadEntry::Text(text) => text,
        ScratchpadEntry::Image(image) => {
            let for_model = vec![Part::text(image.describe()), Part::Image(image.clone())];
            let for_person = CallSummary::new(title, DisplayDetail::Image(image));
            let (outcome, facts, recorded) = (CallOutcome::Done, OutputFacts::None, Vec::new());
            return Ok(ScratchpadReply::Output(Box::new(ToolOutput {
                outcome,
                for_model,
                for_person,
                facts,
                recorded,
            })));
        }
    };
    let total = rows_of(&text).count();
    if total == 0 {
        return Ok(ScratchpadReply::Text(format!("[the scratchpad `{name}` is empty]")));
    }
    if offset >= total {
        return Err(ToolError::new(format!(
            "offset {offset} is past the end: the scratchpad `{name}` has {total} rows"
        )));
    }
    let budget = env.limits.inline().saturating_sub(300);
    let wanted = limit.unwrap_or(LINES).max(1);
    let (mut page, mut end, mut split) = (String::new(), offset, false);
    let width = offset.saturating_add(wanted).min(total).to_string().len();
    for (row, goes_on) in rows_of(&text).skip(offset).take(wanted) {
        if page.len() + row.len() > budget && end > offset {
            break;
        }
        end += 1;
        split |= goes_on;
        let _ = writeln!(page, "{end:>width$}{GUTTER}{row}{}", if goes_on { "↩" } else { "" });
    }
    if (offset, end) != (0, total) {
        let next = if end < total { format!("; continue with offset {end}") } else { String::new() };
        let _ = writeln!(page, "[rows {}-{end} of {total}{next}]", offset + 1);
    }
    if split {
        page.push_str("[a row that ends in ↩ continues in the next row without a line break]\n");
    }
    Ok(ScratchpadReply::Text(page))
}

/// The rows of a text; true for rows that the next row continues.
fn rows_of(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.lines().flat_map(|line| {
        let mut rest = Some(line);
        std::iter::from_fn(move || {
            let here = rest.take()?;
            match here.char_indices().nth(ROW) {
                None => Some((here, false)),
                Some((at, _)) => {
                    rest = here.get(at..);
                    Some((here.get(..at).unwrap_or(here), true))
                }
            }
        })
    })
}

fn list(env: &ToolContext) -> String {
    let lines: Vec<String> =
        env.scratchpads.list().into_iter().map(|(name, bytes)| format!("{name}  {bytes} bytes")).collect();
    if lines.is_empty() { "[no scratchpads yet]".into() } else { lines.join("\n") }
}
