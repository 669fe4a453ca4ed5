//! The tools of other systems, and the rules that placet takes from them.

mod complete_answers;
mod dialect_editors;
mod dialect_scenarios;
mod dialects;
mod document_rules;
mod entrance_words;
mod long_arguments;
mod rare_tools;
mod round_trip;
mod seed_agentos;
mod seed_agsh;
mod seed_deepagents;
mod seed_rules;
mod seed_triggerfish;
mod seed_typestack;
mod text_editor_scenarios;
mod tool_set_errors;
mod tool_sets;
mod tool_sets_more;
