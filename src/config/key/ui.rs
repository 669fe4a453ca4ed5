//! How the screen looks and the keyboard works.
//!
//! Nearly all of it is harmless and so taken from any project's file; it never changes what a session does.

use super::row::{SettingKey, SettingKind, TrustRequirement, key};

pub(super) const KEYS: &[SettingKey] = &[
    key(
        "ui.theme",
        SettingKind::Text,
        "\"auto\"",
        TrustRequirement::Harmless,
        "`auto`, or the name of a theme: dark, light, high-contrast, mono.",
    ),
    key(
        "ui.color",
        SettingKind::Word(&["auto", "always", "never"]),
        "\"auto\"",
        TrustRequirement::Harmless,
        "Colour: `auto` follows the terminal and NO_COLOR.",
    ),
    key(
        "ui.edit_mode",
        SettingKind::Word(&["emacs", "vi"]),
        "\"emacs\"",
        TrustRequirement::Harmless,
        "The prompt's key bindings.",
    ),
    key(
        "ui.motion",
        SettingKind::Word(&["normal", "none"]),
        "\"normal\"",
        TrustRequirement::Harmless,
        "`none`: nothing on the screen moves without new information.",
    ),
    key(
        "ui.fold_lines",
        SettingKind::Number,
        "6",
        TrustRequirement::Harmless,
        "Lines of a call's output shown before it is folded.",
    ),
    key(
        "ui.expanded",
        SettingKind::Flag,
        "false",
        TrustRequirement::Harmless,
        "Whether thinking and the output of calls are shown in full; Ctrl-O switches while a turn runs.",
    ),
    key(
        "ui.notify",
        SettingKind::Text,
        "\"bell\"",
        TrustRequirement::Needed,
        "How placet notifies you when the terminal has no focus: off, bell, osc9, osc777, or `command LINE`.",
    ),
    key(
        "ui.title",
        SettingKind::Flag,
        "true",
        TrustRequirement::Harmless,
        "Whether the window title shows your first message.",
    ),
    key(
        "ui.marks",
        SettingKind::Flag,
        "true",
        TrustRequirement::Harmless,
        "Whether placet marks prompts and answers for the terminal, which can then jump between them (OSC 133).",
    ),
    key(
        "ui.extended_keys",
        SettingKind::Flag,
        "true",
        TrustRequirement::Harmless,
        "Whether placet asks the terminal to distinguish Shift+Enter from Enter (kitty protocol, modifyOtherKeys).",
    ),
    key(
        "ui.links",
        SettingKind::Word(&["auto", "never"]),
        "\"auto\"",
        TrustRequirement::Harmless,
        "Whether URLs and files are links: `auto` means in terminals that are known to support links.",
    ),
    key(
        "ui.pictures",
        SettingKind::Word(&["auto", "kitty", "iterm2", "sixel", "blocks", "off"]),
        "\"auto\"",
        TrustRequirement::Harmless,
        "How pictures are shown: with the terminal's own protocol if it is known to have one, else as half blocks.",
    ),
    key(
        "ui.linear",
        SettingKind::Flag,
        "false",
        TrustRequirement::Harmless,
        "Whether turns and reviews are printed line by line and nothing is repainted: for screen readers.",
    ),
    key(
        "ui.history_lines",
        SettingKind::Number,
        "1000",
        TrustRequirement::Harmless,
        "Lines of input history loaded at start.",
    ),
    key(
        "keys.*.*",
        SettingKind::Text,
        "",
        TrustRequirement::Needed,
        "Keys of an action on a screen, with blanks between them: `keys.review.accept = \"a y\"`.",
    ),
];
