//! The branches of a session: what `/rewind` left, and where each branch parts from another.
//!
//! A branch is a part of the conversation without a rewind. It keeps its number, because branches are numbered in the
//! order in which they began. This module only describes branches; switching to a branch is an entry like any other.

use super::replay::SessionReplay;
use crate::session::SessionError;
use crate::session::database::store::SessionStore;
use placet_text::conversation::{Message, Part, SessionId};
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct BranchTree {
    /// Each branch is followed by the branches that part from it.
    pub branches: Vec<SessionBranch>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionBranch {
    /// From 1 on.
    pub number: usize,
    /// How many branches are above this one.
    pub depth: usize,
    /// Turns of another branch that this branch continues from.
    pub after: usize,
    /// Turns of its own.
    pub turns: usize,
    /// The beginning of its own first turn.
    pub said: Vec<Part>,
    /// Milliseconds since 1970: its last message.
    pub at: i64,
    /// The entry of its last message.
    pub tip: i64,
    /// Where the conversation is, when it is in this branch.
    pub here: Option<BranchPosition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchPosition {
    AtItsEnd,
    /// After so many turns from the beginning.
    After(usize),
}

impl SessionStore {
    /// The branches of a session.
    pub fn tree(&self, id: &SessionId) -> Result<BranchTree, SessionError> {
        Ok(BranchTree::of(&self.replay(id)?))
    }
}

impl BranchTree {
    fn of(replay: &SessionReplay) -> BranchTree {
        let mut found: Vec<(Option<usize>, SessionBranch)> = Vec::new();
        // For each message, its branch and the turns up to it.
        let mut places: HashMap<i64, (usize, usize)> = HashMap::new();
        for node in &replay.nodes {
            let before = node.before.and_then(|before| places.get(&before).copied());
            let goes_on = before.filter(|(branch, _)| {
                found.get(*branch).is_some_and(|(_, branch)| Some(branch.tip) == node.before)
            });
            let turns = before.map_or(0, |(_, turns)| turns);
            let branch = goes_on.map_or(found.len(), |(branch, _)| branch);
            if goes_on.is_none() {
                let parent = before.map(|(parent, _)| parent);
                let depth = parent.and_then(|p| found.get(p)).map_or(0, |(_, parent)| parent.depth + 1);
                let number = found.len() + 1;
                found.push((
                    parent,
                    SessionBranch { number, depth, after: turns, ..SessionBranch::default() },
                ));
            }
            let Some((_, own)) = found.get_mut(branch) else { continue };
            (own.tip, own.at) = (node.entry, node.at);
            let mut turns = turns;
            if let Some(Message::User { parts }) = replay.message(node.entry) {
                if own.turns == 0 {
                    own.said.clone_from(parts);
                }
                own.turns += 1;
                turns += 1;
            }
            places.insert(node.entry, (branch, turns));
        }
        if let Some(at) = replay.path.last()
            && let Some((branch, turns)) = places.get(at)
            && let Some((_, branch)) = found.get_mut(*branch)
        {
            branch.here = Some(if branch.tip == *at {
                BranchPosition::AtItsEnd
            } else {
                BranchPosition::After(*turns)
            });
        }
        let mut tree = BranchTree::default();
        tree.hang(&found, None);
        tree
    }

    fn hang(&mut self, found: &[(Option<usize>, SessionBranch)], below: Option<usize>) {
        for (index, (parent, branch)) in found.iter().enumerate() {
            if *parent == below {
                self.branches.push(branch.clone());
                self.hang(found, Some(index));
            }
        }
    }
}
