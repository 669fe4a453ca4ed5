//! The single tool of this tool set: it takes `sQuestion`, or a batch.

use super::super::super::{OutputDelivery, Plan, PlanResult, Tool, ToolContext, ToolError, TouchedPaths};
use super::TypestackBases;
use super::batch::TypestackBatch;
use crate::arguments::ToolSchema;
use crate::batch::operations::MOST;
use crate::files::staged_files::StagedFiles;
use crate::files::staged_plan::{StagedPlan, StagedReport};
use crate::toolset::json_answer::answer;
use placet_text::conversation::ToolSpec;
use placet_text::text::count;
use placet_workspace::OpenConsent;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    /// TEST, PING, FILE-TEST, a JSON text with aOperations, or anything else, which is repeated.
    #[serde(rename = "sQuestion")]
    #[schemars(extend("contentMediaType" = "text/plain"))]
    question: Option<String>,
    /// Operations, each with sTool, sBase (app, web, core), sPath, sMode (overwrite, append, replace, read) and what
    /// the mode needs: sContent, or sSearch and sReplace.
    #[serde(rename = "aOperations")]
    #[schemars(extend("contentMediaType" = "text/plain"))]
    operations: Option<Vec<Value>>,
}

pub(super) struct TypestackPrompt {
    shape: ToolSchema,
    bases: TypestackBases,
}

impl TypestackPrompt {
    pub(super) fn new(bases: TypestackBases) -> TypestackPrompt {
        let description = "Several file operations at once, in order; each answers for itself, and one that fails does not stop the others.";
        TypestackPrompt { shape: ToolSchema::of::<Args>("agent_prompt", description), bases }
    }

    fn batch(&self, asked: Value, operations: &[Value], env: &ToolContext) -> PlanResult {
        if operations.len() > MOST {
            let most = operations.len();
            return Err(ToolError::new(format!("{most} operations are more than the {MOST} of one batch")));
        }
        let batch = Arc::new(TypestackBatch::read(operations, &self.bases, env));
        let (writes, reads) = batch.places();
        let title = count::of(operations.len(), "operation");
        let unseen = operations.iter().map(|one| format!("{one}\n")).collect();
        let (unwritten, sent) = (Arc::clone(&batch), asked.clone());
        let failing = move |error: &ToolError| {
            let results = unwritten.failed(&error.message);
            let fields = json!({"bSuccess": false, "aOperations": sent, "aOpResults": results});
            answer(fields, [("sMessage", Some(json!("no operation was done")))])
        };
        let work = move |env: &ToolContext, draft: &mut StagedFiles, consent: OpenConsent<'_>| {
            let results = batch.perform(env, draft, consent);
            let failed = results.iter().filter(|r| r.get("bSuccess") != Some(&Value::Bool(true))).count();
            let line =
                (failed > 0).then(|| format!("{}, {failed} failed", count::of(results.len(), "operation")));
            let fields = json!({"bSuccess": failed == 0, "aOperations": asked, "aOpResults": results});
            let failures =
                (failed > 0).then(|| json!(format!("{failed} of {} operations failed", results.len())));
            let text = answer(fields, [("sMessage", failures)]);
            if failed > 0 && failed == results.len() {
                return Err(ToolError::worded(text));
            }
            Ok(StagedReport { text, line, ..StagedReport::default() })
        };
        let plan = StagedPlan::new(title, &writes, &reads, unseen, Box::new(work));
        Ok(Box::new(plan.failing(Box::new(failing))))
    }

    fn asked(&self, question: &str, env: &ToolContext) -> PlanResult {
        let trimmed = question.trim();
        match trimmed {
            "TEST" | "PING" => Ok(said(answer_to_test(trimmed))),
            "FILE-TEST" => {
                let now = jiff::Timestamp::now();
                let operation = json!({"sTool": "fs", "sBase": "app", "sPath": "data/agent/fs-test.txt",
                    "sMode": "overwrite", "sContent": format!("FILE-TEST {now}\n")});
                self.batch(json!([operation]), std::slice::from_ref(&operation), env)
            }
            _ if trimmed.starts_with('{') => {
                let parsed: Value = serde_json::from_str(trimmed).map_err(|e| {
                    ToolError::hint(
                        format!("sQuestion starts with {{ but is not JSON: {e}"),
                        "nothing was done",
                    )
                })?;
                let Some(Value::Array(operations)) = parsed.get("aOperations") else {
                    return Err(ToolError::hint(
                        "sQuestion is JSON without a list aOperations",
                        "nothing was done",
                    ));
                };
                self.batch(json!(operations), operations, env)
            }
            _ => Ok(said(json!({"bSuccess": true, "sMode": "echo", "sQuestion": question,
                "sMessage": question, "aDebug": ["Mode: echo", "Note: no file operation."]}))),
        }
    }
}

fn answer_to_test(question: &str) -> Value {
    let now = jiff::Timestamp::now();
    json!({"bSuccess": true, "sMode": "test", "sMessage": "AgentPrompt test route OK.", "sQuestion": question,
        "aDebug": ["Mode: test", format!("Time: {now}"), "Note: this route never touches the filesystem."]})
}

/// An answer without any access.
fn said(answer: Value) -> Box<dyn Plan> {
    let text = answer.to_string();
    let work = move |_: &ToolContext, _: &mut StagedFiles, _: OpenConsent<'_>| {
        Ok(StagedReport { text: text.clone(), line: Some("answered".into()), ..StagedReport::default() })
    };
    Box::new(StagedPlan::new("answer".into(), &[], &[], String::new(), Box::new(work)))
}

impl Tool for TypestackPrompt {
    fn spec(&self) -> ToolSpec {
        self.shape.spec()
    }

    fn name(&self) -> String {
        self.shape.name()
    }

    /// A batch names paths by bases, and so it simply never runs in parallel with another call.
    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths { anything: true, ..TouchedPaths::default() }
    }

    fn judged_as(&self, _: &Value) -> String {
        "operations".into()
    }

    fn delivery(&self) -> OutputDelivery {
        OutputDelivery::Whole
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> PlanResult {
        let args: Args = self.shape.parse(input)?;
        match (args.question, args.operations) {
            (Some(question), None) => self.asked(&question, env),
            (None, Some(operations)) => self.batch(json!(operations), &operations, env),
            _ => Err(ToolError::new("send either `sQuestion` or `aOperations`")),
        }
    }
}
