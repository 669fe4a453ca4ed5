//! The repositories that were found to wait, and the changes for which that was found.

use crate::workspace::changes::classify::WaitingRepository;
use crate::workspace::hash::Hash;

#[derive(Debug, Default)]
pub(super) struct WaitingMemo {
    pub(super) known: Option<(Hash, Vec<WaitingRepository>)>,
}
