//! How the screen looks and the keyboard works.
//!
//! It never changes what a session does, but the person decides by what is shown: a project's file must be trusted first.

use super::table::{settings_table, words};

words! {
    /// When placet uses colour.
    pub enum ColorSetting { Auto = "auto", Always = "always", Never = "never" }
}

words! {
    /// The prompt's key bindings.
    pub enum EditModeSetting { Emacs = "emacs", Vi = "vi" }
}

words! {
    /// Whether the screen may move without new information.
    pub enum MotionSetting { Normal = "normal", None = "none" }
}

words! {
    /// When the prompt shows its menu of commands and files.
    pub enum MenusSetting { Typing = "typing", Tab = "tab" }
}

words! {
    /// When URLs and files are links.
    pub enum LinksSetting { Auto = "auto", Never = "never" }
}

words! {
    /// Who breaks lines of prose.
    pub enum WrapSetting { Words = "words", Terminal = "terminal" }
}

#[expect(clippy::derivable_impls, reason = "the macro that writes the enum marks no variant")]
impl Default for WrapSetting {
    fn default() -> WrapSetting {
        WrapSetting::Words
    }
}

words! {
    /// What stays on the screen of changes that were applied.
    pub enum AppliedSetting { Difference = "difference", Rows = "rows", Line = "line" }
}

#[expect(clippy::derivable_impls, reason = "the macro that writes the enum marks no variant")]
impl Default for AppliedSetting {
    fn default() -> AppliedSetting {
        AppliedSetting::Difference
    }
}

words! {
    /// What pictures are drawn with.
    pub enum PictureSetting {
        Auto = "auto",
        Kitty = "kitty",
        Iterm = "iterm2",
        Sixel = "sixel",
        HalfBlocks = "blocks",
        Off = "off",
    }
}

settings_table! {
    /// How the screen looks and the keyboard works.
    pub struct UiSettings {
        /// `auto`, or the name of a theme, which is one of your own or dark, light, neutral, solarized-dark, solarized-light, colorblind, high-contrast, mono.
        "ui.theme" => theme: String = "auto";

        /// Colour: `auto` follows the terminal and NO_COLOR.
        "ui.color" => color: ColorSetting = "auto";

        /// The prompt's key bindings.
        "ui.edit_mode" => edit_mode: EditModeSetting = "emacs";

        /// Menus of commands and files at the prompt: `typing` shows them while you type, `tab` lists matches when you press Tab.
        "ui.menus" => menus: MenusSetting = "typing";

        /// `none`: nothing on the screen moves without new information.
        "ui.motion" => motion: MotionSetting = "normal";

        /// How prose is wrapped: `words` breaks lines between words and indents them, `terminal` leaves it to the terminal.
        "ui.wrap" => wrap: WrapSetting = "words";

        /// Lines of a call's output shown before it is folded.
        "ui.fold_lines" => fold_lines: usize = 6;

        /// What stays below `applied changes to ...`: `difference` shows the files and a short difference, `rows` only the files, `line` nothing.
        "ui.applied" => applied: AppliedSetting = "difference";

        /// Whether thinking and the output of calls are shown in full; Ctrl-O switches while a turn runs.
        "ui.expanded" => expanded: bool = false;

        /// How placet notifies you when the terminal has no focus: off, bell, osc9, osc777, or `command LINE`.
        "ui.notify" => notify: String = "bell";

        /// Whether the window title shows your first message.
        "ui.title" => title: bool = true;

        /// Whether placet marks prompts and answers for the terminal, which can then jump between them (OSC 133).
        "ui.marks" => marks: bool = true;

        /// Whether placet asks the terminal to distinguish Shift+Enter from Enter (kitty protocol, modifyOtherKeys).
        "ui.extended_keys" => extended_keys: bool = true;

        /// Whether URLs and files are links: `auto` means in terminals that are known to support links.
        "ui.links" => links: LinksSetting = "auto";

        /// How pictures are shown: with the terminal's own protocol if it is known to have one, else as half blocks.
        "ui.pictures" => pictures: PictureSetting = "auto";

        /// Whether turns and reviews are printed line by line and nothing is repainted: for screen readers.
        "ui.linear" => linear: bool = false;

        /// Lines of input history loaded at start.
        "ui.history_lines" => history_lines: usize = 1000;
    }
}
