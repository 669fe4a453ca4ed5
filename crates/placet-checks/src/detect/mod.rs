//! Proposals of checks from the files of a project. Nothing is run, and nothing is set: a person decides.

mod addition;
mod ci;
mod manifests;
mod proposal;
mod recipes;

pub use addition::{NothingProposed, ProposedAddition, proposed_addition};
pub use proposal::ProposedCheck;

use proposal::ProjectFiles;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the files in `dir` suggest: the build systems first, then recipes, then what its continuous integration runs and
/// nothing else covers. A command is proposed once, and so is a name.
pub fn propose(dir: &Path) -> Vec<ProposedCheck> {
    look(dir).0
}

/// What the files suggest, and the files that are too large to be read, with their sizes.
fn look(dir: &Path) -> (Vec<ProposedCheck>, BTreeMap<String, u64>) {
    let files = ProjectFiles::of(dir);
    let mut all = manifests::cargo(&files);
    all.extend(manifests::node(&files));
    all.extend(manifests::python(&files));
    all.extend(manifests::go(&files));
    all.extend(manifests::cmake(&files));
    all.extend(recipes::makefile(&files));
    all.extend(recipes::justfile(&files));
    all.extend(ci::workflows(&files, &all));
    let (mut names, mut commands) = (BTreeSet::new(), BTreeSet::new());
    all.retain(|check| commands.insert(check.command.clone()) && names.insert(check.name.clone()));
    (all, files.too_large())
}

#[cfg(test)]
mod detect_tests;
