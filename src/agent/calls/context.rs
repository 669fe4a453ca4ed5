//! The context of one call: what its decision and its run need.

use crate::agent::config::ActiveModel;
use crate::agent::event::TurnEvents;
use crate::agent::services::SharedServices;
use crate::conversation::{CallId, ToolCall};
use crate::tools::{StopStageCell, SubagentSpawner};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub(in crate::agent) struct CallContext {
    pub(in crate::agent) services: Arc<SharedServices>,
    pub(in crate::agent) events: TurnEvents,
    pub(in crate::agent) spawner: SubagentSpawner,
    /// The model of the conversation, if there is one.
    pub(in crate::agent) model: Option<ActiveModel>,
    pub(in crate::agent) call: ToolCall,
    pub(in crate::agent) cancel: CancellationToken,
    pub(in crate::agent) titles: CallTitles,
    /// What is left of the call when the person stops it.
    pub(in crate::agent) stop_stage: StopStageCell,
}

/// The titles of calls that were planned and have not ended.
pub(in crate::agent) type CallTitles = Arc<Mutex<HashMap<CallId, String>>>;
