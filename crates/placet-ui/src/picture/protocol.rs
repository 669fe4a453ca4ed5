//! How a terminal shows pictures: by the settings and the environment. The terminal itself is never asked.

use crate::terminal::ansi::ColorDepth;
use placet_config::PictureSetting;

/// How this terminal shows pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureProtocol {
    Kitty,
    Iterm,
    Sixel,
    HalfBlocks,
    /// Only words.
    Words,
}

impl PictureProtocol {
    /// By the setting `ui.pictures`, or by the environment. Inside a multiplexer half blocks are what surely arrives.
    pub fn detect(
        setting: PictureSetting,
        depth: ColorDepth,
        variable: impl Fn(&str) -> Option<String>,
    ) -> PictureProtocol {
        let set = |name: &str| variable(name).filter(|v| !v.is_empty());
        let inside = set("TMUX").is_some() || set("STY").is_some();
        let cells =
            if depth >= ColorDepth::Indexed { PictureProtocol::HalfBlocks } else { PictureProtocol::Words };
        match setting {
            PictureSetting::Off => PictureProtocol::Words,
            PictureSetting::HalfBlocks if depth > ColorDepth::None => PictureProtocol::HalfBlocks,
            // A multiplexer loses or misplaces these two; multiplexers that know sixel draw it.
            PictureSetting::Kitty if !inside => PictureProtocol::Kitty,
            PictureSetting::Iterm if !inside => PictureProtocol::Iterm,
            PictureSetting::Sixel => PictureProtocol::Sixel,
            PictureSetting::Auto if !inside && depth > ColorDepth::None => own(&set).unwrap_or(cells),
            _ => cells,
        }
    }
}

/// The protocol of a terminal that names itself.
fn own(set: &dyn Fn(&str) -> Option<String>) -> Option<PictureProtocol> {
    let term = set("TERM").unwrap_or_default();
    let program = set("TERM_PROGRAM").or_else(|| set("LC_TERMINAL")).unwrap_or_default();
    let named = |names: &[&str]| names.iter().any(|name| program.eq_ignore_ascii_case(name));
    let any = |names: &[&str]| names.iter().any(|name| set(name).is_some());
    let kitty = any(&["KITTY_WINDOW_ID", "GHOSTTY_RESOURCES_DIR"]) || named(&["ghostty"]);
    let konsole = set("KONSOLE_VERSION").and_then(|v| v.parse::<u32>().ok()).is_some_and(|v| v >= 220_400);
    match term.as_str() {
        "xterm-kitty" | "xterm-ghostty" => Some(PictureProtocol::Kitty),
        _ if kitty => Some(PictureProtocol::Kitty),
        _ if named(&["iTerm.app", "iTerm2", "WezTerm"]) || any(&["WEZTERM_PANE"]) => {
            Some(PictureProtocol::Iterm)
        }
        _ if ["foot", "mlterm", "yaft", "contour"].iter().any(|name| term.starts_with(name)) => {
            Some(PictureProtocol::Sixel)
        }
        _ if konsole || named(&["mintty", "rio"]) => Some(PictureProtocol::Sixel),
        _ => None,
    }
}
