//! How the screen looks and the keyboard works.
//!
//! Nearly all of it is harmless and so taken from any project's file; it never changes what a session does.

use super::{Key, Kind, Trust, key};

pub(super) const KEYS: &[Key] = &[
    key(
        "ui.theme",
        Kind::Text,
        "\"auto\"",
        Trust::Harmless,
        "`auto`, or the name of a theme: dark, light, high-contrast, mono.",
    ),
    key(
        "ui.color",
        Kind::Word(&["auto", "always", "never"]),
        "\"auto\"",
        Trust::Harmless,
        "Colour: `auto` follows the terminal and NO_COLOR.",
    ),
    key(
        "ui.edit_mode",
        Kind::Word(&["emacs", "vi"]),
        "\"emacs\"",
        Trust::Harmless,
        "The prompt's key bindings.",
    ),
    key(
        "ui.motion",
        Kind::Word(&["normal", "none"]),
        "\"normal\"",
        Trust::Harmless,
        "`none`: nothing on the screen moves without new information.",
    ),
    key(
        "ui.fold_lines",
        Kind::Number,
        "6",
        Trust::Harmless,
        "Lines of a call's output shown before it is folded.",
    ),
    key(
        "ui.expanded",
        Kind::Flag,
        "false",
        Trust::Harmless,
        "Thinking and the output of calls are shown at length; Ctrl-O switches it while a turn runs.",
    ),
    key(
        "ui.notify",
        Kind::Text,
        "\"bell\"",
        Trust::Needed,
        "How you are called when you look elsewhere: off, bell, osc9, osc777, or `command LINE`.",
    ),
    key("ui.title", Kind::Flag, "true", Trust::Harmless, "The window's title names what was said first."),
    key(
        "ui.marks",
        Kind::Flag,
        "true",
        Trust::Harmless,
        "The terminal is told where prompts and answers begin, to jump between them (OSC 133).",
    ),
    key(
        "ui.extended_keys",
        Kind::Flag,
        "true",
        Trust::Harmless,
        "The terminal is asked to tell Shift+Enter from Enter (kitty protocol, modifyOtherKeys).",
    ),
    key(
        "ui.links",
        Kind::Word(&["auto", "never"]),
        "\"auto\"",
        Trust::Harmless,
        "Addresses and files can be clicked: `auto` where the terminal is known to follow links.",
    ),
    key(
        "ui.pictures",
        Kind::Word(&["auto", "kitty", "iterm2", "sixel", "blocks", "off"]),
        "\"auto\"",
        Trust::Harmless,
        "How pictures are shown: in the terminal's own way where it is known to have one, else as half blocks.",
    ),
    key(
        "ui.linear",
        Kind::Flag,
        "false",
        Trust::Harmless,
        "Turns and reviews are told line by line, nothing is repainted: for screen readers.",
    ),
    key("ui.history_lines", Kind::Number, "1000", Trust::Harmless, "Lines of input history loaded at start."),
    key(
        "keys.*.*",
        Kind::Text,
        "",
        Trust::Needed,
        "Keys of an action on a screen, with blanks between them: `keys.review.accept = \"a y\"`.",
    ),
];
