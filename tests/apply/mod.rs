//! Change sets: apply, discard, undo, crashes, races, and what others do meanwhile.

mod apply_progress;
mod blame;
mod blame_sequences;
mod changes;
mod decide_sequences;
mod hard_links;
mod hostile_damage;
mod hostile_moves;
mod hostile_names;
mod hostile_undo;
mod layer_places;
mod many_changes;
mod shut_modes;
mod stop_while_collecting;
mod supplementary_group;
mod sync_order;
mod tries;
mod txn_crash;
mod txn_journal;
mod txn_properties;
mod txn_races;
mod txn_scenarios;
mod undo_attributes;
mod unreadable_records;
mod view;
mod workspace_races;
