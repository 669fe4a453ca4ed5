//! Who made a transaction.

use super::origin::ApprovedBy;
use super::program_run::ProgramRun;
use serde::{Deserialize, Serialize};

/// Who made a transaction, and who approved it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransactionLabel {
    /// Transactions of one turn share it; undo reverts them together.
    pub turn: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What the person had typed.
    #[serde(default)]
    pub title: String,
    /// Who approved the transaction.
    #[serde(default, skip_serializing_if = "ApprovedBy::is_unknown")]
    pub assent: ApprovedBy,
    /// The program of the person's own whose changes these are (`placet run`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Box<ProgramRun>>,
    /// The checks that passed on exactly what was applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<PassedCheck>,
}

/// A check that passed, and the hash of the state on which it passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedCheck {
    pub check: String,
    pub state: String,
}

impl TransactionLabel {
    /// The name of the turn that begins with the message `index` of a conversation that was rewound `branches` times
    /// before: another turn may have been at that place.
    pub fn turn_of(conversation: &str, index: usize, branches: u32) -> String {
        match branches {
            0 => format!("{conversation}#{index}"),
            _ => format!("{conversation}#{index}.{branches}"),
        }
    }

    /// The same without the branch: its place in the conversation.
    pub fn place_of(turn: &str) -> &str {
        TransactionLabel::start_of(turn, |byte| byte.is_ascii_digit())
    }

    /// The name of a turn without what is added for an undo of a part of it.
    pub(super) fn whole_turn(turn: &str) -> &str {
        TransactionLabel::start_of(turn, |byte| byte.is_ascii_digit() || byte == b'.')
    }

    fn start_of(turn: &str, counts: impl Fn(u8) -> bool) -> &str {
        match turn.split_once('#') {
            Some((name, rest)) => {
                let length = rest.bytes().take_while(|&byte| counts(byte)).count();
                turn.get(..name.len() + 1 + length).unwrap_or(turn)
            }
            None => turn,
        }
    }

    /// Whether a turn of a conversation has this name. `placet apply` and an apply after a resume belong to none.
    pub(crate) fn is_turn(turn: &str) -> bool {
        turn.contains('#')
    }
}
