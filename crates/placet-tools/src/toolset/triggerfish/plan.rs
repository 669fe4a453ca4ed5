//! plan_manage: nothing is written until the person approves the plan.
//!
//! The model may enter plan mode and present a plan; only the person's own yes ends plan mode. `/plan` in the shell
//! shows and changes the same state, and the prompt shows read mode meanwhile.

use super::super::super::{
    CallPreview, CallSummary, DisplayDetail, Plan, PlanResult, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput,
};
use super::state::{TriggerfishPlan, TriggerfishState};
use crate::blocking::blocking;
use crate::toolset::foreign_tool::ForeignTool;
use placet_permission::{Access, Permit, PlanModeState};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, MutexGuard, PoisonError};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TriggerfishPlanAction {
    Enter,
    Exit,
    Approve,
    Reject,
    Status,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    action: TriggerfishPlanAction,
    /// enter
    goal: Option<String>,
    /// enter
    scope: Option<String>,
    /// exit: the plan, as the person is to read it: a text or an object.
    plan: Option<Value>,
}

/// A plan as text. An object becomes an outline, which the person reads.
fn plan_text(plan: &Value) -> Option<String> {
    let text = match plan {
        Value::String(text) => text.clone(),
        Value::Object(_) | Value::Array(_) => {
            let mut out = String::new();
            outline(plan, 0, &mut out);
            out.trim_end().to_string()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

fn outline(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let mut line = |label: &str, value: &Value| match value {
        Value::Object(_) | Value::Array(_) => {
            out.push_str(&format!("{indent}{label}\n"));
            outline(value, depth + 1, out);
        }
        Value::String(text) => {
            let text = text.replace('\n', &format!("\n{indent}  "));
            out.push_str(&format!("{indent}{label} {text}\n"));
        }
        other => out.push_str(&format!("{indent}{label} {other}\n")),
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| line(&format!("{name}:"), value)),
        Value::Array(items) => items.iter().for_each(|item| line("-", item)),
        other => line("-", other),
    }
}

pub(super) fn plan_manage(surface: &Arc<TriggerfishState>) -> Arc<dyn Tool> {
    let description = "Plan mode: enter(goal, scope?) blocks every write; exit(plan) presents the plan to the person; approve asks again; reject goes back to planning; status.";
    ForeignTool::new("plan_manage", description, surface, make).build()
}

fn make(args: &Args, env: &ToolContext, surface: &Arc<TriggerfishState>) -> PlanResult {
    let state = env.mode.planning();
    let wrong = |words: &str| Err(ToolError::worded(format!("Error: {words}")));
    match (args.action, state) {
        (TriggerfishPlanAction::Enter, PlanModeState::No)
            if args.goal.as_deref().unwrap_or("").trim().is_empty() =>
        {
            return wrong("plan_manage(enter) requires a 'goal' argument (string).");
        }
        (TriggerfishPlanAction::Enter, PlanModeState::Making | PlanModeState::Presented) => {
            return wrong("already in plan mode.");
        }
        (TriggerfishPlanAction::Exit, _) if args.plan.is_none() => {
            return wrong("plan_manage(exit) requires a 'plan' argument: what the person is to approve.");
        }
        (TriggerfishPlanAction::Exit, PlanModeState::No) => return wrong("not in plan mode."),
        (TriggerfishPlanAction::Exit | TriggerfishPlanAction::Approve, _)
            if args.plan.as_ref().is_some_and(|plan| plan_text(plan).is_none()) =>
        {
            return wrong("the 'plan' is empty: give a text or an object that the person can approve.");
        }
        (
            TriggerfishPlanAction::Approve | TriggerfishPlanAction::Reject,
            PlanModeState::No | PlanModeState::Making,
        ) => {
            return wrong("no plan is waiting for approval.");
        }
        _ => {}
    }
    Ok(Box::new(TriggerfishManagePlan { args: args.clone(), surface: Arc::clone(surface) }))
}

struct TriggerfishManagePlan {
    args: Args,
    surface: Arc<TriggerfishState>,
}

impl TriggerfishState {
    fn plan(&self) -> MutexGuard<'_, TriggerfishPlan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TriggerfishManagePlan {
    fn asks(&self) -> bool {
        matches!(self.args.action, TriggerfishPlanAction::Exit | TriggerfishPlanAction::Approve)
    }

    fn text(&self) -> String {
        self.args.plan.as_ref().and_then(plan_text).unwrap_or_else(|| self.surface.plan().text.clone())
    }

    fn carry_out(&self, env: &ToolContext) -> String {
        let mut plan = self.surface.plan();
        match self.args.action {
            TriggerfishPlanAction::Enter => {
                plan.goal = self.args.goal.clone().unwrap_or_default();
                plan.scope.clone_from(&self.args.scope);
                env.mode.plan(PlanModeState::Making);
                "Plan mode: nothing can be written now. Look around, then plan_manage(action: \"exit\", plan: ...).".into()
            }
            // Both actions need a permission answer before they run: here the person has agreed.
            TriggerfishPlanAction::Exit | TriggerfishPlanAction::Approve => {
                env.mode.plan(PlanModeState::No);
                format!("The person approved the plan. Carry it out.\n{}", plan.text)
            }
            TriggerfishPlanAction::Reject => {
                env.mode.plan(PlanModeState::Making);
                "The plan was rejected; plan mode goes on.".into()
            }
            TriggerfishPlanAction::Status => {
                let state = match env.mode.planning() {
                    PlanModeState::No => "normal",
                    PlanModeState::Making => "plan",
                    PlanModeState::Presented => "awaiting_approval",
                };
                let scope = plan.scope.as_ref().map(|s| format!("\nscope: {s}")).unwrap_or_default();
                format!("state: {state}\ngoal: {}{scope}\nplan: {}", plan.goal, plan.text)
            }
        }
    }
}

impl Plan for TriggerfishManagePlan {
    fn reach(&self) -> Vec<Access> {
        vec![if self.asks() { Access::Approval } else { Access::Session }]
    }

    fn title(&self) -> String {
        let action = match self.args.action {
            TriggerfishPlanAction::Enter => "enter plan mode",
            TriggerfishPlanAction::Exit => "present the plan",
            TriggerfishPlanAction::Approve => "approve the plan",
            TriggerfishPlanAction::Reject => "reject the plan",
            TriggerfishPlanAction::Status => "plan status",
        };
        action.into()
    }

    /// From here on the plan counts as presented, whatever the answer: after a refusal the plan still waits.
    fn prepare(&mut self, env: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        let text = self.text();
        if self.asks() {
            // The person approves the text that they read, also if `approve` brings another plan.
            self.surface.plan().text.clone_from(&text);
            env.mode.plan(PlanModeState::Presented);
        }
        let detail = if self.asks() { DisplayDetail::Text(text) } else { DisplayDetail::None };
        Ok(CallPreview { line: Plan::title(self), detail })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        let title = Plan::title(self.as_ref());
        blocking(title.clone(), move || {
            if !Plan::reach(self.as_ref()).iter().all(|one| permit.covers(one)) {
                return Err(ToolError::new("nobody has consented to this plan"));
            }
            Ok(ToolOutput::done(self.carry_out(&ctx.env), CallSummary::line(title)))
        })
    }
}
