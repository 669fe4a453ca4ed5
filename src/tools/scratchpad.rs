//! scratchpad: the session's named notes, results and pictures.

use super::edit_file::Unread;
use super::input::Shape;
use super::output::size_of;
use super::page::{GUTTER, ROW};
use super::read_file::picture_error;
use super::work::{blocking, consent_of};
use super::write_file::{Content, WritePlan};
use super::{
    Detail, Env, Facts, HintTool, Output, Plan, Preview, RunCtx, Running, Sight, Summary, Tool, ToolError,
    Touches, hint,
};
use crate::conversation::{CallOutcome, Part, ToolSpec};
use crate::media;
use crate::permission::{Access, Permit};
use crate::session::{MAX_ENTRY, ScratchpadEntry, ScratchpadError, check_name};
use crate::text::{LineDiff, for_model};
use crate::workspace::{OpenConsent, ResolvedPath, TextFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;

const LINES: usize = 2000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
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
    action: Action,
    name: Option<String>,
    content: Option<String>,
    offset: Option<usize>,
    limit: Option<usize>,
    old_string: Option<String>,
    new_string: Option<String>,
    to: Option<String>,
    from: Option<Vec<String>>,
    path: Option<String>,
    /// save: over lines never read.
    force: Option<bool>,
}

/// What to do, with everything it needs.
enum Deed {
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

pub(super) struct Scratchpad(Shape);

impl Default for Scratchpad {
    fn default() -> Scratchpad {
        Scratchpad(Shape::of::<Args>("scratchpad", include_str!("../../prompts/tools/scratchpad.md")))
    }
}

impl Tool for Scratchpad {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn touches(&self, input: &Value) -> Touches {
        let word = |name: &str| input.get(name).and_then(Value::as_str);
        let pads = ["name", "to"].into_iter().filter_map(word).map(|name| format!("scratchpad:{name}"));
        let path = word("path").map(String::from);
        match word("action") {
            Some("read") => Touches { reads: pads.collect(), ..Touches::default() },
            Some("load") => {
                Touches { reads: path.into_iter().collect(), writes: pads.collect(), anything: false }
            }
            Some("save") => {
                Touches { reads: pads.collect(), writes: path.into_iter().collect(), anything: false }
            }
            // A list shows all of them, a merge reads many.
            _ => Touches {
                writes: pads.chain(std::iter::once("scratchpad:*".into())).collect(),
                ..Touches::default()
            },
        }
    }

    fn plan(&self, input: &Value, env: &Env) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        let action = args.action;
        if action == Action::Save {
            return save(&args, env);
        }
        let deed = deed(args, env)?;
        Ok(Box::new(PadPlan { deed }))
    }
}

impl Scratchpad {
    /// One action as a tool of its own.
    pub(super) fn shape_of(&self, name: &str, description: &str, parameters: &[&str]) -> Shape {
        self.0.narrowed(name, description, parameters)
    }
}

fn needed<T>(value: Option<T>, action: &str, parameter: &str) -> Result<T, ToolError> {
    value.ok_or_else(|| ToolError::new(format!("`{parameter}` is missing: the action \"{action}\" needs it")))
}

fn deed(args: Args, env: &Env) -> Result<Deed, ToolError> {
    let named = |action: &str| {
        let name = needed(args.name.clone(), action, "name")?;
        check_name(&name).map(|()| name).map_err(|e| pad_error(&e))
    };
    let is_empty = |parameter: &str| Err(ToolError::new(format!("`{parameter}` is empty")));
    if args.action == Action::Edit && args.old_string.as_deref() == Some("") {
        return is_empty("old_string");
    }
    if args.action == Action::Merge && args.from.as_ref().is_some_and(Vec::is_empty) {
        return is_empty("from");
    }
    Ok(match args.action {
        Action::Write => {
            Deed::Write { name: named("write")?, content: needed(args.content, "write", "content")? }
        }
        Action::Append => {
            Deed::Append { name: named("append")?, content: needed(args.content, "append", "content")? }
        }
        Action::Read => {
            Deed::Read { name: named("read")?, offset: args.offset.unwrap_or(0), limit: args.limit }
        }
        Action::Edit => Deed::Edit {
            name: named("edit")?,
            old: needed(args.old_string, "edit", "old_string")?,
            new: needed(args.new_string, "edit", "new_string")?,
        },
        Action::List => Deed::List,
        Action::Rename => Deed::Rename { name: named("rename")?, to: needed(args.to, "rename", "to")? },
        Action::Merge => Deed::Merge { name: named("merge")?, from: needed(args.from, "merge", "from")? },
        Action::Delete => Deed::Delete { name: named("delete")? },
        Action::Load | Action::Save => {
            let path = needed(args.path, "load", "path")?;
            Deed::Load { name: named("load")?, at: env.resolve(&path)? }
        }
    })
}

/// Saving is writing a file, by the rules of write_file and with its reach.
fn save(args: &Args, env: &Env) -> Result<Box<dyn Plan>, ToolError> {
    let name = needed(args.name.clone(), "save", "name")?;
    let path = needed(args.path.clone(), "save", "path")?;
    let content = match env.scratchpads.get(&name).map_err(|e| pad_error(&e))? {
        ScratchpadEntry::Text(text) => Content::Text(text),
        ScratchpadEntry::Image(image) => Content::Bytes(image.bytes),
    };
    let at = env.resolve(&path)?;
    Ok(Box::new(WritePlan::saving(
        at,
        path,
        content,
        if args.force == Some(true) { Unread::Allow } else { Unread::Refuse },
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

struct PadPlan {
    deed: Deed,
}

impl Plan for PadPlan {
    fn reach(&self) -> Vec<Access> {
        match &self.deed {
            Deed::Load { at, .. } => vec![Access::Session, at.read()],
            _ => vec![Access::Session],
        }
    }

    fn title(&self) -> String {
        match &self.deed {
            Deed::Write { name, .. } => format!("scratchpad write {name}"),
            Deed::Append { name, .. } => format!("scratchpad append {name}"),
            Deed::Read { name, .. } => format!("scratchpad read {name}"),
            Deed::Edit { name, .. } => format!("scratchpad edit {name}"),
            Deed::List => "scratchpad list".into(),
            Deed::Rename { name, to } => format!("scratchpad rename {name} -> {to}"),
            Deed::Merge { name, from } => format!("scratchpad merge {} -> {name}", from.join(" + ")),
            Deed::Delete { name } => format!("scratchpad delete {name}"),
            Deed::Load { name, at } => format!("scratchpad load {} -> {name}", at.written),
        }
    }

    fn prepare(&mut self, env: &Env, sight: Sight) -> Result<Preview, ToolError> {
        if let Deed::Load { at, .. } = &self.deed {
            match env.workspace.open(at, consent_of(sight)) {
                Err(crate::workspace::WorkspaceError::Outside(_)) if sight == Sight::InsideOnly => {}
                opened => drop(opened.map_err(|e| env.path_error(&e))?),
            }
        }
        Ok(Preview { line: self.title(), detail: Detail::None })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunCtx) -> Running {
        let title = self.title();
        blocking(title.clone(), move || {
            let text = |text: String| Output::done(text.clone(), Summary::text(title.clone(), text));
            self.perform(&permit, &ctx.env, &title).map(|done| match done {
                Told::Text(t) => text(t),
                Told::Output(output) => *output,
            })
        })
    }
}

enum Told {
    Text(String),
    Output(Box<Output>),
}

impl PadPlan {
    fn perform(self, permit: &Permit, env: &Env, title: &str) -> Result<Told, ToolError> {
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
        Ok(Told::Text(match self.deed {
            Deed::Write { name, content } => {
                format!("wrote the scratchpad `{name}`: {}", put(&name, content)?)
            }
            Deed::Append { name, content } => {
                let before = if pads.contains(&name) { get_text(&name)? } else { String::new() };
                format!("appended to the scratchpad `{name}`: now {}", put(&name, before + &content)?)
            }
            Deed::Read { name, offset, limit } => return read(env, title, &name, offset, limit),
            Deed::Edit { name, old, new } => {
                let text = get_text(&name)?;
                let after = edited(&name, &text, &old, &new)?;
                let diff = LineDiff::new(&text, &after).unified(2, 3000).text;
                let diff = for_model(&diff).into_owned();
                format!("edited the scratchpad `{name}`: {}\n{diff}", put(&name, after)?)
            }
            Deed::List => list(env),
            Deed::Rename { name, to } => {
                pads.rename(&name, &to).map_err(|e| pad_error(&e))?;
                format!("renamed the scratchpad `{name}` to `{to}`")
            }
            Deed::Merge { name, from } => {
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
            Deed::Delete { name } => {
                pads.delete(&name).map_err(|e| pad_error(&e))?;
                format!("deleted the scratchpad `{name}`")
            }
            Deed::Load { name, at } => {
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

/// A file as an entry: a picture stays one, anything else must be text.
fn loaded(
    path: &str,
    bytes: std::sync::Arc<Vec<u8>>,
    env: &Env,
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
    let text = file.text().into_owned();
    let size = size_of(&text);
    Ok((ScratchpadEntry::Text(text), size))
}

fn edited(name: &str, text: &str, old: &str, new: &str) -> Result<String, ToolError> {
    match text.matches(old).count() {
        1 => Ok(text.replacen(old, new, 1)),
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

/// Pages through an entry by rows: its lines, the long ones split, so that even one endless line can be paged.
fn read(env: &Env, title: &str, name: &str, offset: usize, limit: Option<usize>) -> Result<Told, ToolError> {
    let text = match env.scratchpads.get(name).map_err(|e| pad_error(&e))? {
        ScratchpadEntry::Text(text) => text,
        ScratchpadEntry::Image(image) => {
            let for_model = vec![Part::text(image.describe()), Part::Image(image.clone())];
            let for_person = Summary { line: title.into(), detail: Detail::Image(image) };
            let (outcome, facts, recorded) = (CallOutcome::Done, Facts::None, Vec::new());
            return Ok(Told::Output(Box::new(Output { outcome, for_model, for_person, facts, recorded })));
        }
    };
    let total = rows_of(&text).count();
    if total == 0 {
        return Ok(Told::Text(format!("[the scratchpad `{name}` is empty]")));
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
        page.push_str("[a row that ends in ↩ goes on in the next one without a line break]\n");
    }
    Ok(Told::Text(page))
}

/// Rows of a text; true with those that the next one continues.
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

fn list(env: &Env) -> String {
    let lines: Vec<String> =
        env.scratchpads.list().into_iter().map(|(name, bytes)| format!("{name}  {bytes} bytes")).collect();
    if lines.is_empty() { "[there is no scratchpad yet]".into() } else { lines.join("\n") }
}
