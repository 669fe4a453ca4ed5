//! render_image: shows the model a picture that is not in a file.

use super::super::super::{
    CallPreview, CallSummary, DisplayDetail, HintTool, OutputFacts, Plan, PlanResult, ReadScope, RunContext,
    RunFuture, Tool, ToolContext, ToolError, ToolOutput, TouchedPaths, hint,
};
use crate::blocking::blocking;
use crate::files::read::picture_error;
use crate::toolset::foreign_tool::ForeignTool;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet_media::{self as media, OversizePolicy};
use placet_permission::{Access, Permit};
use placet_session::session::{ScratchpadEntry, ScratchpadError};
use placet_text::conversation::{CallOutcome, Image, Part};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    /// The picture in base64, or a data URL.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    data: Option<String>,
    /// Instead of data: the scratchpad that holds the picture, or its base64.
    name: Option<String>,
}

pub(super) fn render_image(nothing: &Arc<()>) -> Arc<dyn Tool> {
    let description = "Look at a picture that is given in base64 or in a scratchpad.";
    let tool = ForeignTool::new("render_image", description, nothing, plan).touching(|input, ()| {
        let name = input.get("name").and_then(serde_json::Value::as_str);
        TouchedPaths {
            reads: name.map(|name| format!("scratchpad:{name}")).into_iter().collect(),
            ..TouchedPaths::default()
        }
    });
    tool.build()
}

fn plan(args: &Args, _: &ToolContext, _: &Arc<()>) -> PlanResult {
    let source = match (&args.data, &args.name) {
        (Some(data), None) => AgshImageSource::Data(data.clone()),
        (None, Some(name)) => AgshImageSource::Scratchpad(name.clone()),
        (None, None) => {
            return Err(ToolError::new("`data` or `name` is missing: one of them gives the picture"));
        }
        (Some(_), Some(_)) => return Err(ToolError::new("`data` and `name` exclude each other")),
    };
    Ok(Box::new(AgshRenderPlan(source)))
}

enum AgshImageSource {
    Data(String),
    Scratchpad(String),
}

impl AgshImageSource {
    fn name(&self) -> &str {
        match self {
            AgshImageSource::Data(_) => "data",
            AgshImageSource::Scratchpad(name) => name,
        }
    }

    fn image(&self, env: &ToolContext) -> Result<Image, ToolError> {
        let text = match self {
            AgshImageSource::Data(data) => data.clone(),
            AgshImageSource::Scratchpad(name) => match env.scratchpads.get(name).map_err(|e| missing(&e))? {
                ScratchpadEntry::Image(image) => return Ok(image),
                ScratchpadEntry::Text(text) => text,
            },
        };
        let name = self.name();
        let bytes = decoded(&text).ok_or_else(|| ToolError::new(format!("`{name}` is not base64")))?;
        let Some(kind) = media::sniff(&bytes, "") else {
            return Err(ToolError::new(format!("`{name}` is not a picture of a known format")));
        };
        let loaded = media::load(kind, name, bytes, env.limits.image_bytes, OversizePolicy::Refuse);
        loaded.map(|loaded| loaded.image).map_err(|e| picture_error(name, &e))
    }
}

fn missing(error: &ScratchpadError) -> ToolError {
    match error {
        ScratchpadError::Missing { .. } => {
            ToolError::hint(error.to_string(), hint!["see them with ", HintTool::ScratchpadList])
        }
        _ => ToolError::new(error.to_string()),
    }
}

/// The bytes of base64 with line breaks in it, or of a data URL.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let text = match text.strip_prefix("data:") {
        Some(url) => url.split_once(";base64,")?.1,
        None => text,
    };
    let plain: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    STANDARD.decode(plain).ok()
}

struct AgshRenderPlan(AgshImageSource);

impl Plan for AgshRenderPlan {
    fn reach(&self) -> Vec<Access> {
        vec![Access::Session]
    }

    fn title(&self) -> String {
        format!("look at {}", self.0.name())
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, ctx: RunContext) -> RunFuture {
        let title = self.title();
        blocking(title.clone(), move || {
            let image = self.0.image(&ctx.env)?;
            let line = format!("{title} {}x{}", image.width, image.height);
            let for_model = vec![Part::text(image.describe()), Part::Image(image.clone())];
            let for_person = CallSummary::new(line, DisplayDetail::Image(image));
            let (outcome, facts, recorded) = (CallOutcome::Done, OutputFacts::None, Vec::new());
            Ok(ToolOutput { outcome, for_model, for_person, facts, recorded })
        })
    }
}
