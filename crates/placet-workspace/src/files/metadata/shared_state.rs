//! The state of a path as lists of changes hold it: one word, and one value for all lists.
//!
//! A change set may have hundreds of thousands of paths, and an apply has several lists of them. Nearly all were absent
//! before or have the state that another list has already.

use super::path_state::PathState;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A [`PathState`] that several lists share. [`PathState::Absent`] takes no memory.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SharedState(Option<Arc<PathState>>);

static ABSENT: PathState = PathState::Absent;

impl SharedState {
    /// `state`, or `last` where both are equal: many files of a command have the same content, such as new refs.
    pub(crate) fn like(last: &SharedState, state: PathState) -> SharedState {
        if **last == state { last.clone() } else { state.into() }
    }

    pub(crate) fn shared(last: &SharedState, state: SharedState) -> SharedState {
        if *last == state { last.clone() } else { state }
    }

    pub(crate) fn to_state(&self) -> PathState {
        PathState::clone(self)
    }
}

impl Deref for SharedState {
    type Target = PathState;

    fn deref(&self) -> &PathState {
        self.0.as_deref().unwrap_or(&ABSENT)
    }
}

impl From<PathState> for SharedState {
    fn from(state: PathState) -> SharedState {
        SharedState((!state.is_absent()).then(|| Arc::new(state)))
    }
}

impl PartialEq<PathState> for SharedState {
    fn eq(&self, other: &PathState) -> bool {
        **self == *other
    }
}

impl PartialEq<SharedState> for PathState {
    fn eq(&self, other: &SharedState) -> bool {
        *self == **other
    }
}

impl fmt::Debug for SharedState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

impl Serialize for SharedState {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(out)
    }
}

impl<'de> Deserialize<'de> for SharedState {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SharedState, D::Error> {
        Ok(PathState::deserialize(from)?.into())
    }
}
