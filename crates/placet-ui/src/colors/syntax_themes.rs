//! The names that colours of code have in a theme file.

use two_face::theme::EmbeddedThemeName;

/// What `syntax` in a theme may be, besides `none`.
pub(crate) const THEMES: [(&str, EmbeddedThemeName); 11] = [
    ("Monokai Extended", EmbeddedThemeName::MonokaiExtended),
    ("GitHub", EmbeddedThemeName::Github),
    ("ansi", EmbeddedThemeName::Ansi),
    ("Nord", EmbeddedThemeName::Nord),
    ("Dracula", EmbeddedThemeName::Dracula),
    ("Gruvbox Dark", EmbeddedThemeName::GruvboxDark),
    ("Gruvbox Light", EmbeddedThemeName::GruvboxLight),
    ("Solarized Dark", EmbeddedThemeName::SolarizedDark),
    ("Solarized Light", EmbeddedThemeName::SolarizedLight),
    ("One Half Dark", EmbeddedThemeName::OneHalfDark),
    ("One Half Light", EmbeddedThemeName::OneHalfLight),
];

pub(crate) fn theme_named(name: &str) -> Option<EmbeddedThemeName> {
    THEMES.iter().find(|(known, _)| *known == name).map(|(_, theme)| *theme)
}
