//! Reading the changes of an entry: what a change has in common with the one before it is one value.

use super::AppliedChange;
use crate::files::metadata::shared_state::SharedState;
use crate::history::origin::OriginMarks;
use serde::Deserializer;
use serde::de::{SeqAccess, Visitor};
use std::fmt;

pub(super) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<AppliedChange>, D::Error> {
    from.deserialize_seq(ChangesVisitor)
}

struct ChangesVisitor;

impl<'de> Visitor<'de> for ChangesVisitor {
    type Value = Vec<AppliedChange>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of changes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Vec<AppliedChange>, A::Error> {
        let mut changes: Vec<AppliedChange> = Vec::new();
        while let Some(mut change) = all.next_element::<AppliedChange>()? {
            if let Some(last) = changes.last() {
                change.before = SharedState::shared(&last.before, change.before);
                change.after = SharedState::shared(&last.after, change.after);
                change.marks = OriginMarks::like(&last.marks, change.marks);
            }
            changes.push(change);
        }
        Ok(changes)
    }
}
