//! The mode: what calls may access and who is asked. The mode on the screen is the mode that is enforced.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// What calls may do, and what happens to their changes. From the strictest to the least strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// No tool runs.
    None,
    /// Files may be read, and commands run in a copy. Changes are discarded when the turn ends.
    Read,
    /// Changes stay pending until the apply question is answered.
    Ask,
    /// Changes in the workspace are applied after each call, except large losses and files that run later.
    Write,
    /// Commands run without a sandbox and write directly. Destructive commands and protected files ask.
    Unrestricted,
}

/// What happens to the changes of a call: the second half of a mode, next to the allowed accesses. The strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WritePolicy {
    /// Discarded when the turn ends.
    Discard,
    /// Pending until a person applies it.
    Hold,
    /// Applied after the call, within the loss limit.
    Apply,
    /// Written directly; nothing is confined.
    Direct,
}

impl Mode {
    /// All modes, the strictest first.
    pub const ALL: [Mode; 5] = [Mode::None, Mode::Read, Mode::Ask, Mode::Write, Mode::Unrestricted];

    /// The name in the settings: `ask`.
    pub fn name(self) -> &'static str {
        match self {
            Mode::None => "none",
            Mode::Read => "read",
            Mode::Ask => "ask",
            Mode::Write => "write",
            Mode::Unrestricted => "unrestricted",
        }
    }

    #[doc(hidden)]
    pub fn write_policy(self) -> WritePolicy {
        match self {
            Mode::None | Mode::Read => WritePolicy::Discard,
            Mode::Ask => WritePolicy::Hold,
            Mode::Write => WritePolicy::Apply,
            Mode::Unrestricted => WritePolicy::Direct,
        }
    }

    /// The letter in the prompt.
    #[doc(hidden)]
    pub fn letter(self) -> char {
        match self {
            Mode::None => 'n',
            Mode::Read => 'r',
            Mode::Ask => 'a',
            Mode::Write => 'w',
            Mode::Unrestricted => 'u',
        }
    }

    /// One sentence for the person.
    pub fn meaning(self) -> &'static str {
        match self {
            Mode::None => "no tool may run",
            Mode::Read => "files may be read and commands run in a copy; their changes are discarded",
            Mode::Ask => "files may be changed and commands run in a copy; you decide what is applied",
            Mode::Write => {
                "changes in the workspace are applied after each call, up to a loss limit; anything outside asks"
            }
            Mode::Unrestricted => {
                "everything may run, without a sandbox; only destructive commands and protected files ask"
            }
        }
    }

    /// The same for a model.
    #[doc(hidden)]
    pub fn meaning_for_model(self) -> &'static str {
        match self {
            Mode::Ask => {
                "files may be changed and commands run in a copy; the person decides what is applied"
            }
            other => other.meaning(),
        }
    }

    /// Reads a name or its letter.
    pub fn parse(text: &str) -> Option<Mode> {
        let text = text.trim().to_ascii_lowercase();
        Mode::ALL.into_iter().find(|m| m.name() == text || text.len() == 1 && text.starts_with(m.letter()))
    }

    /// The mode after this one in `enabled`, as Shift+Tab selects it; for a mode that is not in the list, its first
    /// entry.
    #[doc(hidden)]
    pub fn next(self, enabled: &[Mode]) -> Mode {
        let at = enabled.iter().position(|m| *m == self);
        let next = at.map_or(0, |i| (i + 1) % enabled.len().max(1));
        enabled.get(next).copied().unwrap_or(self)
    }

    fn from_index(index: u8) -> Mode {
        Mode::ALL.get(usize::from(index)).copied().unwrap_or(Mode::None)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a plan must be approved before anything may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanModeState {
    No,
    /// A plan is being made.
    Making,
    /// The plan was presented; the person has not approved it.
    Presented,
}

/// The only value that the prompt shows and the policy reads.
#[derive(Clone, Debug)]
pub struct ModeCell(Arc<ModeState>);

#[derive(Debug)]
struct ModeState {
    mode: AtomicU8,
    planning: AtomicU8,
    /// The modes that the settings permit.
    permitted: Vec<Mode>,
}

impl ModeCell {
    pub fn new(mode: Mode) -> ModeCell {
        ModeCell::limited(mode, Mode::ALL.to_vec())
    }

    /// A cell that later accepts no modes but these.
    pub fn limited(mode: Mode, permitted: Vec<Mode>) -> ModeCell {
        let (mode, planning) = (AtomicU8::new(mode as u8), AtomicU8::new(PlanModeState::No as u8));
        ModeCell(Arc::new(ModeState { mode, planning, permitted }))
    }

    /// The modes that [`ModeCell::store`] accepts.
    pub fn permitted(&self) -> &[Mode] {
        &self.0.permitted
    }

    /// The effective mode: while a plan is not approved, at most read mode.
    pub fn load(&self) -> Mode {
        let mode = Mode::from_index(self.0.mode.load(Ordering::Acquire));
        if self.planning() == PlanModeState::No { mode } else { mode.min(Mode::Read) }
    }

    /// Changes the mode; false without a change if the settings do not permit the mode.
    pub fn store(&self, mode: Mode) -> bool {
        let is_permitted = self.0.permitted.contains(&mode);
        if is_permitted {
            self.0.mode.store(mode as u8, Ordering::Release);
        }
        is_permitted
    }

    pub fn planning(&self) -> PlanModeState {
        match self.0.planning.load(Ordering::Acquire) {
            0 => PlanModeState::No,
            1 => PlanModeState::Making,
            _ => PlanModeState::Presented,
        }
    }

    pub fn plan(&self, planning: PlanModeState) {
        self.0.planning.store(planning as u8, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_read_by_its_name_and_its_letter() {
        for mode in Mode::ALL {
            assert_eq!(Mode::parse(mode.name()), Some(mode));
            assert_eq!(Mode::parse(&mode.letter().to_string()), Some(mode));
            let cell = ModeCell::new(mode);
            assert_eq!(cell.load(), mode);
        }
        assert_eq!(Mode::parse("yolo"), None);
    }

    #[test]
    fn a_mode_that_the_settings_do_not_permit_is_not_taken() {
        let cell = ModeCell::limited(Mode::Read, vec![Mode::Read, Mode::Ask]);
        assert!(cell.store(Mode::Ask));
        assert!(!cell.store(Mode::Unrestricted));
        assert_eq!(cell.load(), Mode::Ask);
    }

    #[test]
    fn while_a_plan_is_not_approved_no_mode_is_more_than_read() {
        for mode in Mode::ALL {
            let cell = ModeCell::new(mode);
            for planning in [PlanModeState::Making, PlanModeState::Presented] {
                cell.plan(planning);
                assert_eq!(cell.load(), mode.min(Mode::Read));
            }
            cell.plan(PlanModeState::No);
            assert_eq!(cell.load(), mode);
        }
    }

    #[test]
    fn the_cycle_skips_modes_that_are_not_enabled() {
        let enabled = [Mode::Read, Mode::Ask, Mode::Write];
        assert_eq!(Mode::Write.next(&enabled), Mode::Read);
        assert_eq!(Mode::Unrestricted.next(&enabled), Mode::Read);
        assert_eq!(Mode::Ask.next(&[]), Mode::Ask);
    }
}
