//! remember: one line at the end of an instructions file, as a change that the person reviews. Nothing is remembered
//! anywhere else.

use super::arguments::ToolSchema;
use super::blocking::consent_of;
use super::files::edit::UnreadPolicy;
use super::files::write::{WriteFileMode, WritePlan};
use super::output::failed;
use super::{
    CallPreview, DisplayDetail, Plan, ReadScope, RunContext, RunFuture, Tool, ToolContext, ToolError,
    TouchedPaths,
};
use placet_permission::{Access, AccessLocation, Permit};
use placet_session::guidance::instruction_file_of;
use placet_text::conversation::ToolSpec;
use placet_workspace::{OpenConsent, ResolvedPath, TextFile, WorkspaceError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// Its name: `/remember` calls it as well.
pub const REMEMBER_TOOL: &str = "remember";
/// The tool with which `/init` writes a new file.
pub const INIT_TOOL: &str = "init_instructions";
/// The tool with which `/checks detect` adds its proposals to a settings file.
pub const CHECKS_TOOL: &str = "propose_checks";
/// The most characters of a line.
const LONGEST: usize = 2000;
const LARGEST: u64 = 8 << 20;
/// The section at the end of the file.
const TITLE: &str = "## Remembered";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RememberScope {
    #[default]
    Project,
    Person,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    text: String,
    scope: Option<RememberScope>,
}

pub(super) struct RememberTool(ToolSchema);

impl Default for RememberTool {
    fn default() -> RememberTool {
        RememberTool(ToolSchema::of::<Args>(REMEMBER_TOOL, include_str!("../prompts/tools/remember.md")))
    }
}

impl Tool for RememberTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        // Two lines for one file, one after the other.
        TouchedPaths { writes: vec!["remember:".into()], ..TouchedPaths::default() }
    }

    fn judged_as(&self, _: &Value) -> String {
        "write_file".into()
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let Args { text, scope } = self.0.parse(input)?;
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            return Err(ToolError::new("`text` is empty"));
        }
        if line.chars().count() > LONGEST {
            return Err(ToolError::new(format!("`text` is longer than {LONGEST} characters")));
        }
        let path = file_of(scope.unwrap_or_default(), env)?.to_string_lossy().into_owned();
        let at = env.resolve(&path)?;
        Ok(Box::new(RememberPlan { line, at, path, writing: None }))
    }
}

/// The file that gets the line: of the nearest directory that has instructions, or a new one.
fn file_of(scope: RememberScope, env: &ToolContext) -> Result<PathBuf, ToolError> {
    match scope {
        RememberScope::Person => {
            let own = env.guidance.places().own_instructions();
            own.ok_or_else(|| ToolError::hint("there is no person here", "use the scope \"project\""))
        }
        RememberScope::Project => {
            let (cwd, roots) = (env.workspace.cwd(), env.workspace.roots());
            let root = roots.iter().find(|root| cwd.starts_with(root));
            Ok(instruction_file_of(cwd, root.map_or(cwd, PathBuf::as_path)))
        }
    }
}

struct RememberPlan {
    line: String,
    at: ResolvedPath,
    path: String,
    writing: Option<WritePlan>,
}

impl RememberPlan {
    /// The append that adds the line to the present file.
    fn append(&self, env: &ToolContext, consent: OpenConsent<'_>) -> Result<WritePlan, ToolError> {
        let old = match env.workspace.load(&self.at, consent, LARGEST) {
            Ok((bytes, _)) => TextFile::new(bytes).map(|file| file.text().to_string()).map_err(|_| {
                ToolError::new(format!("`{}` contains data, not text", env.workspace.shown(&self.at.path)))
            })?,
            Err(WorkspaceError::Missing(_)) => String::new(),
            Err(e) => return Err(env.path_error(&e)),
        };
        let row = format!("- {}", self.line);
        if old.lines().any(|line| line.trim_end() == row) {
            let name = env.workspace.shown(&self.at.path);
            return Err(ToolError::new(format!("{name} contains this line already")));
        }
        let text = addition(&old, &row);
        let target = (self.at.clone(), self.path.clone());
        WritePlan::at(target, text, WriteFileMode::Append, UnreadPolicy::Allow, env)
    }
}

/// What is appended to `old`: the row, with the title of its section unless the file ends with this section.
fn addition(old: &str, row: &str) -> String {
    if old.trim().is_empty() {
        return format!("# Instructions for agents\n\n{TITLE}\n\n{row}\n");
    }
    let last_title = old.lines().rfind(|line| line.starts_with('#'));
    let end = if old.ends_with('\n') { "" } else { "\n" };
    match last_title.is_some_and(|title| title.trim_end() == TITLE) {
        true => format!("{end}{row}\n"),
        false => format!("{end}\n{TITLE}\n\n{row}\n"),
    }
}

impl Plan for RememberPlan {
    fn reach(&self) -> Vec<Access> {
        vec![self.at.write()]
    }

    fn title(&self) -> String {
        format!("remember: {}", placet_text::text::width::cut(&self.line, 80))
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        if self.at.place == AccessLocation::Outside && sight == ReadScope::InsideOnly {
            let detail = DisplayDetail::Text(format!("- {}", self.line));
            return Ok(CallPreview { line: self.title(), detail });
        }
        let mut writing = self.append(env, consent_of(sight))?;
        let preview = writing.prepare(env, sight)?;
        self.writing = Some(writing);
        Ok(preview)
    }

    fn run(mut self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        let writing = match self.writing.take() {
            Some(writing) => Ok(writing),
            None => self.append(&ctx.env, OpenConsent::Permit(&permit)),
        };
        match writing {
            Ok(writing) => Box::new(writing).run(permit, ctx),
            Err(error) => Box::pin(std::future::ready(failed(&self.title(), &error))),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CommandWriteArgs {
    path: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: String,
}

/// Writes a file for a command of the person, as a change that the person reviews. No model is offered it: every tool
/// set has a tool that writes files.
pub(super) struct CommandWriteTool {
    schema: ToolSchema,
    mode: WriteFileMode,
    unread: UnreadPolicy,
}

impl CommandWriteTool {
    /// A new file, for `/init`.
    pub(super) fn of_init() -> CommandWriteTool {
        CommandWriteTool {
            schema: ToolSchema::of::<CommandWriteArgs>(INIT_TOOL, "Writes a new file of instructions."),
            mode: WriteFileMode::Create,
            unread: UnreadPolicy::Refuse,
        }
    }

    /// An addition to a settings file, for `/checks detect`.
    pub(super) fn of_checks() -> CommandWriteTool {
        CommandWriteTool {
            schema: ToolSchema::of::<CommandWriteArgs>(CHECKS_TOOL, "Adds checks to a settings file."),
            mode: WriteFileMode::Append,
            unread: UnreadPolicy::Allow,
        }
    }
}

impl Tool for CommandWriteTool {
    fn spec(&self) -> ToolSpec {
        self.schema.spec()
    }

    fn name(&self) -> String {
        self.schema.name()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        TouchedPaths::writing(input, "path")
    }

    fn judged_as(&self, _: &Value) -> String {
        "write_file".into()
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let CommandWriteArgs { path, content } = self.schema.parse(input)?;
        Ok(Box::new(WritePlan::of_text(path, content, self.mode, self.unread, env)?))
    }
}

#[cfg(test)]
mod tests {
    use super::addition;

    #[test]
    fn a_line_goes_to_the_section_at_the_end_or_begins_it() {
        assert_eq!(addition("", "- x"), "# Instructions for agents\n\n## Remembered\n\n- x\n");
        assert_eq!(addition("# A\ntext", "- x"), "\n\n## Remembered\n\n- x\n");
        assert_eq!(addition("# A\n\n## Remembered\n\n- w\n", "- x"), "- x\n");
        assert_eq!(addition("## Remembered\n- w\n# B\n", "- x"), "\n## Remembered\n\n- x\n");
    }
}
