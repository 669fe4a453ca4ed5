//! The context of one call: what its decision and its run need.

use crate::agent::event::TurnEvents;
use crate::agent::services::SharedServices;
use crate::conversation::ToolCall;
use crate::tools::SubagentSpawner;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub(in crate::agent) struct CallContext {
    pub(in crate::agent) services: Arc<SharedServices>,
    pub(in crate::agent) events: TurnEvents,
    pub(in crate::agent) spawner: SubagentSpawner,
    pub(in crate::agent) call: ToolCall,
    pub(in crate::agent) cancel: CancellationToken,
}
