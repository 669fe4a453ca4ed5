//! The agent: a turn as a pure state machine, and the driver that performs its effects.

mod agent;
mod budget;
mod calls;
mod compact;
mod config;
mod conversation;
mod cost_meter;
mod costs;
mod edit_baselines;
mod edit_checks;
mod end_of_turn;
mod event;
mod instructions;
mod lock;
mod queue;
mod request;
mod services;
mod session_checks;
mod subagent_pool;
mod subagents;
mod turn;
mod turn_checks;
mod turn_driver;
mod turn_transaction;
mod written_text;

pub use agent::Agent;
pub use calls::interceptor::secrets::SecretFilter;
pub use calls::origin::{CallInterceptors, CallOrigin, EntryPoint};
pub use calls::single_call::SingleCall;
pub use config::{ActiveModel, AgentConfig, AgentLimits, SelectedModel, SystemPrompt, TurnStart};
pub use cost_meter::CostBudget;
pub use end_of_turn::{
    ApplyQuestionContext, ApplyQuestionPlace, CommandLineQuestion, FindReviewed, MessageReceiver,
    NOTHING_APPLIED, PENDING_COMMANDS, ProtectedAnswer, ReviewedDecision, TurnDecision, applied_overview,
    ask_about_losses, ask_about_path, ask_about_pending, never_reviewed, overview, pending_words,
};
pub use event::{
    AppliedOverview, ApprovalReply, ApprovalRequest, ChoiceQuestion, ChoiceSubject, LoopQuestion, MessageUse,
    PromptAsker, QuestionChoice, ReasonReader, TurnEvent, UserPrompt,
};
pub use queue::{MessageQueue, QueuedMessage, SendTiming, is_command};
pub use request::usage::{ContextUsage, UsagePart};
pub use session_checks::LeaveError;
pub use subagent_pool::SubagentPool;
pub use turn::empty_answer::EmptyAnswer;
pub use turn::ending::{TurnEnding, loop_words};
pub use turn::machine::{LoopAnswer, Turn, TurnEffect, TurnInput, TurnLimits};
pub use turn::repair::TurnRepair;
pub use turn_checks::{CheckGoal, CheckGoalError, GoalEnd};
pub use written_text::{command_output, command_parts, skill_parts};
