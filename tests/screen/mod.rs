//! The shell, the pane and full screens, in a terminal.

mod background;
mod drawn_colours;
mod first_minute;
mod live;
mod long_runs;
mod menus;
mod reading;
mod screens;
mod shell;
mod theme;
mod typing;
