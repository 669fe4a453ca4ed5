//! The conversation with the person: a prompt, a line, a turn, and again.

mod attach;
mod background;
mod coming;
mod commands;
mod context;
mod conversation;
mod directory_change;
mod error;
mod message;
mod output;
mod pending_elsewhere;
mod project_trust;
mod prompt;
mod session_rows;
mod shell;
mod start_card;
mod terminal_status;
mod titles;
mod tour;
mod try_rows;
mod turn;
mod user_context;

pub(crate) use attach::{
    AttachError, MentionedResource, attached_parts, may_name_skills, mentioned, named_skills,
};
pub use background::RememberedBackground;
pub use commands::COMMANDS;
pub use commands::cost::priced;
pub use commands::review::{
    AppliedReview, ReviewApply, ReviewDecided, SENT_LATER, TurnNumbers, accepted_changes, apply_review,
    blamed, memory_of, retract_undone, review_of, reviewed_at, reviewed_decision, send_back_review,
    unsent_review,
};
pub(crate) use commands::{NamedPrompt, PromptUsageError, own_names, prompt_parts};
pub use context::SlashCommand;
pub use directory_change::{DirectoryChange, DirectoryChangeReason, ShellDirectory};
pub use error::{ReplError, UserError};
pub use output::keymap;
pub use prompt::words;
pub use session_rows::{SessionListRow, SessionListing, session_table, table_room, title_columns};
pub use shell::{ResumeTarget, ShellEnd, ShellOptions, run};
pub use titles::{title_of, when};
pub use tour::FILES as TOUR_FILES;
pub use try_rows::{TryListRow, tries_of, try_table};
pub use user_context::{ConversationBuilder, EarlierPending, ToolServices, UserContext};
