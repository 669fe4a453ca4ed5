//! The context of one call: what its decision and its run need.

use crate::config::ActiveModel;
use crate::event::TurnEvents;
use crate::services::SharedServices;
use placet_text::conversation::{CallId, ToolCall};
use placet_tools::{StopStageCell, SubagentSpawner};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub(crate) struct CallContext {
    pub(crate) services: Arc<SharedServices>,
    pub(crate) events: TurnEvents,
    pub(crate) spawner: SubagentSpawner,
    /// The model of the conversation, if there is one.
    pub(crate) model: Option<ActiveModel>,
    pub(crate) call: ToolCall,
    pub(crate) cancel: CancellationToken,
    pub(crate) titles: CallTitles,
    /// What is left of the call when the person stops it.
    pub(crate) stop_stage: StopStageCell,
}

/// The titles of calls that were planned and have not ended.
pub(crate) type CallTitles = Arc<Mutex<HashMap<CallId, String>>>;
