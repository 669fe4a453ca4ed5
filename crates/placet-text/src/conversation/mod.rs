//! The vocabulary that every module shares: messages, calls, results.
//!
//! An invalid conversation cannot be built: [`Transcript::push`] refuses a message that would leave a call unanswered,
//! because every provider rejects such a history for ever after. This module knows no provider, no tool and no screen.

mod call;
mod fact;
mod id;
pub mod json_names;
pub mod json_repair;
mod message;
mod message_prefix;
mod note;
mod part;
mod summary;
mod text_call;
mod tool_spec;
mod transcript;
mod usage;
mod words;

pub use call::{CallInput, CallOutcome, CallResult, ToolCall};
pub use fact::{CallFact, CallFailure};
pub use id::{CallId, SessionId};
pub use message::{AssistantBlock, AssistantMessage, Message, StopReason, ThinkingBlock};
pub use message_prefix::{MessagePrefix, MessageSource};
pub use note::{
    BlockedWrite, CallInterruption, FailedCheck, HistoryScope, InstructionsSource, InstructionsVersion,
    JobEnd, Note, PinnedNoteKind,
};
pub use part::{Image, Part, text_of, words_of};
pub use summary::ConversationSummary;
pub use text_call::TextCallFault;
pub use tool_spec::ToolSpec;
pub use transcript::{Transcript, TranscriptError};
pub use usage::TokenUsage;
