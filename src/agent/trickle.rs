//! A running command's output on its way to the screen: by whole lines, so that a secret cannot come in two halves.

use super::gate::Gate;
use crate::text::secret::PrivateKey;
use crate::tools::Progress;
use std::sync::{Arc, Mutex, PoisonError};

/// The longest unfinished line that is held back, in bytes.
const HELD: usize = 8 << 10;

/// Passes text on through `show`, without what looks like a secret. Where nothing is looked for, as it comes.
pub(super) fn trickle(gate: &Arc<Gate>, show: impl Fn(&str) + Send + Sync + 'static) -> Progress {
    if !gate.secrets.on {
        return Progress::new(show);
    }
    let (gate, held) = (Arc::clone(gate), Mutex::new((String::new(), PrivateKey::default())));
    Progress::new(move |text| {
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let (rest, key) = &mut *held;
        rest.push_str(text);
        let end = match rest.rfind(['\n', '\r']) {
            Some(at) => at + 1,
            None if rest.len() > HELD => rest.len(),
            None => return,
        };
        let lines: String = rest.drain(..end).collect();
        let told = gate.secrets.redact(&key.without(&lines)).into_owned();
        if !told.is_empty() {
            show(&told);
        }
    })
}
