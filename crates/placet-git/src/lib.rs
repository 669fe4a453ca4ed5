//! Reads and applies an agent's change to a git repository by git itself.

mod apply;
mod clean_directory;
mod compare;
mod config_keys;
mod error;
mod git_file;
mod git_name;
mod group;
pub mod limit;
mod new_repository;
mod object_id;
mod quarantine;
mod question;
mod repository_move;
mod rows;
mod runner;
mod source;
mod state;
mod write_mode;

pub use apply::{
    ApplyJournal, ApplyPhase, ApplyPlace, ApplyStep, ApplyWatch, PersonIdentity, PreparedApply, RecoveryGoal,
    RecoveryReport, Unwatched, person_identity, prepare, prepare_undo, recover, undo_question,
};
pub use compare::{Comparison, RepositoryItem};
pub use config_keys::{ConfigSetting, config_settings};
pub use error::GitError;
pub use git_file::{GitFileClass, GitFileContent, GitFiles, class_of};
pub use git_name::GitName;
pub use group::{ConflictRule, RefChoice, Selection, WaitingGroup};
pub use new_repository::{NewRepository, remove_new_repository};
pub use object_id::{ObjectFormat, ObjectId};
pub use question::{QuestionSides, RepositoryQuestion};
pub use repository_move::{CheckoutMove, Moved, MovedItems, RepositoryMove};
pub use rows::{
    CommitFact, HeadFact, IndexFact, OperationFact, OperationKind, OperationState, PathChange, RefFact,
    RefMovement, RepositoryRows, StagedState, StashFact, WorktreeFact,
};
pub use runner::{GitCall, GitInput, GitOutput, GitOutputPlace, GitRunner, PlainRunner};
pub use source::{FileIdentity, PlainSource, RepositorySource, SourceEntry, SourceFile, SourceKind};
pub use state::{
    CheckoutName, CheckoutState, Head, IndexEntry, IndexState, RefStorage, RefTarget, RefsState,
    RepositoryFormat, RepositoryState, StashEntry,
};
pub use write_mode::TakenAway;
