//! The shell, the pane and full screens, in a terminal.

mod background;
mod drawn_colours;
mod first_minute;
mod live;
mod long_runs;
mod menus;
mod reading;
mod rewind_list;
mod screens;
mod shell;
mod shell_sessions;
mod theme;
mod typing;
