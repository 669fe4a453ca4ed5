//! Jobs, and programs of `placet run`.

mod job_merge;
mod job_updates;
mod jobs;
mod live_changes;
mod published_ports;
mod question_terminal;
mod run;
mod run_broken;
mod run_databases;
mod run_end;
mod run_killed;
mod run_load;
mod run_programs;
mod run_repositories;
mod run_send_back;
mod terminal_run;
mod to_background;
