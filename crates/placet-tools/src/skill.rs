//! skill: reads a skill, or one of its files, when the model needs it. The conversation only has names and descriptions.

use super::arguments::ToolSchema;
use super::blocking::blocking;
use super::{
    CallPreview, CallSummary, Hint, OutputDelivery, Plan, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use placet_permission::{Access, AccessLocation, Permit};
use placet_session::guidance::{Skill, SkillCatalog};
use placet_text::conversation::ToolSpec;
use placet_text::text::{nearest, regular_file, visible};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// Its name: without this tool the model is not told of skills.
pub const SKILL_TOOL: &str = "skill";
/// The largest file of a skill that the model reads.
const LARGEST: u64 = 1 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    name: String,
    file: Option<String>,
}

pub(super) struct SkillTool(ToolSchema);

impl Default for SkillTool {
    fn default() -> SkillTool {
        SkillTool(ToolSchema::of::<Args>(SKILL_TOOL, include_str!("../prompts/tools/skill.md")))
    }
}

impl Tool for SkillTool {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths::default()
    }

    fn is_of_conversation(&self) -> bool {
        true
    }

    fn delivery(&self) -> OutputDelivery {
        OutputDelivery::Spilled
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let Args { name, file } = self.0.parse(input)?;
        let catalog = env.guidance.skills();
        let skill = catalog.find(&name).ok_or_else(|| unknown(&name, &catalog))?.clone();
        if !skill.is_trusted {
            let message = format!("the person does not trust the skill `{name}` of this project yet");
            return Err(ToolError::hint(message, "ask them to look at it with /skills trust"));
        }
        let path = match &file {
            Some(file) => skill.path_of(file).map_err(|e| {
                ToolError::hint(e.to_string(), format!("skill(name: \"{name}\") lists its files"))
            })?,
            None => skill.file(),
        };
        Ok(Box::new(SkillPlan { skill, file, path }))
    }
}

fn unknown(name: &str, catalog: &SkillCatalog) -> ToolError {
    let names: Vec<&str> =
        catalog.skills.iter().filter(|skill| skill.is_trusted).map(|skill| skill.name.as_str()).collect();
    let meant = nearest(name, names.iter().copied());
    let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    let hint: Hint = match names.is_empty() {
        true => "there are no skills here".into(),
        false => "the list of skills at the beginning of the conversation has the names".into(),
    };
    ToolError::hint(format!("unknown skill `{name}`{meant}"), hint)
}

struct SkillPlan {
    skill: Skill,
    file: Option<String>,
    path: PathBuf,
}

impl Plan for SkillPlan {
    /// As inside of the workspace, wherever it is: the person put it there for the model, or trusts it. A rule that denies
    /// reading the file applies.
    fn reach(&self) -> Vec<Access> {
        vec![Access::Read { path: self.path.clone(), place: AccessLocation::Inside }]
    }

    fn title(&self) -> String {
        match &self.file {
            Some(file) => format!("skill {}: {file}", self.skill.name),
            None => format!("skill {}", self.skill.name),
        }
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: super::DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, _: RunContext) -> RunFuture {
        blocking(self.title(), move || {
            let text = match &self.file {
                Some(_) => {
                    let text = regular_file::read_to_string(&self.path, LARGEST);
                    let text = text.map_err(|e| {
                        ToolError::new(format!("cannot read {}: {e}", visible::path(&self.path)))
                    })?;
                    visible::guard(&text).into_owned()
                }
                None => {
                    let body = self
                        .skill
                        .body()
                        .map_err(|e| ToolError::hint(e.to_string(), "call again: placet lists it again"))?;
                    self.skill.for_model(&body)
                }
            };
            let lines = placet_text::text::count::of(text.lines().count(), "line");
            let summary = CallSummary::line(format!("{}: {lines}", self.title()));
            Ok(ToolOutput::done(text, summary))
        })
    }
}
