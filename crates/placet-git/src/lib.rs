//! Reads and applies an agent's change to a git repository by git itself.
//!
//! **The rule.** The agent's repository is an untrusted remote. What git would transfer is applied: objects, refs, `HEAD`,
//! index entries, stash entries. What runs or configures something is a file of git and waits by name. Everything else
//! below a git directory is not applied. So nothing can be applied that no row shows: nothing else is carried.
//!
//! The way of a change, each step a value that the next one takes:
//!
//! ```text
//! RepositorySource (person, agent) -> clean git directory -> RepositoryState
//! base + person + agent            -> Comparison: moved, left alone, conflicts
//! agent's objects                  -> quarantine: packed, named and checked by git, connected
//! RepositoryQuestion               -> RepositoryRows (facts)  ->  ApprovedGroups (answers)
//! ApprovedGroups                   -> RepositoryMove -> prepare (locks, comparison) -> commit | abort
//! ApplyJournal                     -> undo_question -> prepare_undo -> commit; recover after a kill
//! ```
//!
//! Undo, redo and recovery are the same as an apply: each item goes from what it was to what it becomes, if it is what it
//! was. Every reading has a limit ([`limit`]), and after each error everything is as before.
//!
//! Calls of git that read the agent's side go through a [`GitRunner`] of the caller's, which starts them in a sandbox
//! without network. Names from a repository are bytes ([`GitName`]), and no sentence is made here but those of errors.
//!
//! What this crate does not do: it writes no file of a work tree, and it knows nothing of placet's views.

mod apply;
mod clean_directory;
mod compare;
mod config_keys;
mod error;
mod git_file;
mod git_name;
mod group;
mod large_files;
pub mod limit;
mod new_objects;
mod new_repository;
mod object_id;
mod on_top;
mod operation_state;
mod quarantine;
mod question;
mod repository_move;
mod rows;
mod runner;
mod signing;
mod source;
mod state;
mod tree_lines;
mod write_mode;

pub use apply::{
    ApplyJournal, ApplyPlace, ApplyWatch, MovePhase, PersonIdentity, PreparedApply, RecoveryGoal, Unwatched,
    has_more, note_files, person_identity, prepare, prepare_undo, recover, signs_commits, undo_question,
};
pub use compare::{Comparison, RepositoryItem};
pub use config_keys::{ConfigSetting, config_settings};
pub use error::GitError;
pub use git_file::{GitFileClass, GitFileContent, GitFiles, class_of};
pub use git_name::GitName;
pub use group::{ApprovedGroups, WaitingGroup};
pub use new_repository::NewRepository;
pub use object_id::{ObjectFormat, ObjectId};
pub use operation_state::{GitOperation, OperationState};
pub use question::{QuestionSides, RepositoryQuestion};
pub use repository_move::{CheckoutMove, Moved, MovedItems, RepositoryMove};
pub use rows::{
    CommitFact, HeadFact, HiddenPaths, IndexEffects, IndexFact, ObjectFact, OperationFact, RefFact,
    RefMovement, RepositoryRows, StagedKind, StashFact, UnlistedCommits, unsigned_commits,
};
pub use runner::{ENVIRONMENT, GitCall, GitInput, GitOutput, GitOutputPlace, GitRunner, PlainRunner};
pub use signing::{MOST_PAYLOAD, PayloadError, PersonSigner, SignedObject, SigningError, check_payload};
pub use source::{PlainSource, RepositorySource, SourceEntry, SourceFile, SourceIdentity, SourceKind};
pub use state::{
    CheckoutName, CheckoutState, Head, IndexEntry, IndexState, RefStorage, RefTarget, RefsState,
    RepositoryFormat, RepositoryState, StashEntry, StateCopy, tracked_links,
};
pub use tree_lines::PathChange;
