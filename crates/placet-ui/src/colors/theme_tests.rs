//! Themes: what is loaded, what is listed, and that every colour can be read where it stands.

use super::*;
use crate::colors::{contrast, syntax};
use crate::terminal::ansi;

fn load(name: &str, depth: ColorDepth, colorfgbg: Option<&str>) -> Theme {
    let value = colorfgbg.map(String::from);
    Theme::load(name, Path::new("/nowhere"), depth, |n| if n == "COLORFGBG" { value.clone() } else { None })
        .unwrap()
}

#[test]
fn every_built_in_theme_styles_every_label() {
    for name in Theme::names() {
        assert_eq!(load(name, ColorDepth::True, None).name, name);
    }
    assert!(matches!(
        Theme::load("nope", Path::new("/nowhere"), ColorDepth::True, |_| None),
        Err(ThemeError::Unknown { .. })
    ));
}

#[test]
fn auto_follows_what_is_known_of_the_background() {
    assert_eq!(load("auto", ColorDepth::True, Some("15;0")).name, "dark");
    assert_eq!(load("auto", ColorDepth::True, Some("0;default;15")).name, "light");
    assert_eq!(load("auto", ColorDepth::True, None).name, "neutral");
    assert_eq!(load("dark", ColorDepth::None, None).name, "mono");
}

/// Labels that are drawn on a changed line.
const ON_CHANGES: [&str; 9] =
    ["text", "gutter", "diff.add", "diff.remove", "diff.moved", "hint", "comment", "notice", "code"];
/// Nothing that is read.
const DECORATION: [&str; 2] = ["border", "rule"];

fn parts(color: Color) -> (u8, u8, u8) {
    ansi::rgb(color).unwrap_or_else(|| panic!("{color:?} is not the same everywhere"))
}

/// What a label can stand on.
fn grounds_of(theme: &Theme, label: &str) -> Vec<Color> {
    if let Some(own) = theme.style(label).bg {
        return vec![own];
    }
    let select = Some(theme.style("select")).filter(|select| select.fg.is_none());
    let mut lines = Vec::new();
    if ON_CHANGES.contains(&label) {
        lines.extend((label != "diff.remove").then_some("diff.add.line"));
        lines.extend((label != "diff.add").then_some("diff.remove.line"));
    }
    // `on_adjusted_lines` judges the lines to whose ground colours are adjusted when they are drawn.
    let lines = lines.into_iter().map(|line| theme.style(line)).filter(|line| !theme.adjusts_on(*line));
    let lines = lines.filter_map(|line| line.bg);
    theme.backgrounds.iter().copied().chain(select.and_then(|select| select.bg)).chain(lines).collect()
}

/// A colour as it is drawn on each changed line to whose ground colours are adjusted, with that ground.
fn on_adjusted_lines(theme: &Theme, color: Color) -> Vec<(Color, Color)> {
    let lines = ["diff.add.line", "diff.remove.line"].map(|label| theme.style(label));
    let grounds = lines.into_iter().filter(|line| theme.adjusts_on(*line)).filter_map(|line| line.bg);
    grounds
        .map(|ground| (contrast::ContrastAdjuster::new(&[ground], theme.depth).colour(color), ground))
        .collect()
}

/// WCAG AA, on the backgrounds the theme is for and on all that it draws itself.
#[test]
fn every_colour_can_be_read_on_the_background_it_is_for() {
    let mut faint = Vec::new();
    let mut judged = 0;
    for (name, depth) in
        Theme::names().into_iter().flat_map(|n| [(n, ColorDepth::True), (n, ColorDepth::Indexed)])
    {
        let theme = load(name, depth, None);
        for label in LABELS {
            let Some(color) = theme.style(label).fg else { continue };
            let least = if DECORATION.contains(label) { 3.0 } else { 4.5 };
            let grounds = grounds_of(&theme, label);
            assert!(!grounds.is_empty(), "{name} has colours and says no background");
            let mut drawn: Vec<(Color, Color)> = grounds.into_iter().map(|ground| (color, ground)).collect();
            if ON_CHANGES.contains(label) && theme.style(label).bg.is_none() {
                drawn.extend(on_adjusted_lines(&theme, color));
            }
            for (color, ground) in drawn {
                judged += 1;
                let ratio = contrast::ratio(parts(color), parts(ground));
                if ratio < least {
                    faint.push(format!("{name} {depth:?} {label} {color:?} on {ground:?}: {ratio:.2}"));
                }
            }
        }
    }
    assert_eq!(faint, Vec::<String>::new());
    assert!(judged > 1000, "only {judged}");
}

/// A syntax theme's comments are faint on their own background already, and more so on a changed line.
#[test]
fn code_can_be_read_on_every_line_it_stands_on() {
    let (mut faint, mut lifted) = (Vec::new(), 0);
    for (name, depth) in
        Theme::names().into_iter().flat_map(|n| [(n, ColorDepth::True), (n, ColorDepth::Indexed)])
    {
        let theme = load(name, depth, None);
        let Some(colours) = syntax::colours(&theme.syntax) else { continue };
        let mut lift = theme.lift();
        let all = colours.scopes.iter().filter_map(|item| item.style.foreground);
        for color in all.chain(colours.settings.foreground).filter(|color| color.a > 1) {
            let code = syntect::highlighting::Style { foreground: color, ..Default::default() };
            let shown = syntax::style_of(code, depth, &mut lift).fg.unwrap();
            let plain = depth.limit(Style::new().fg(Color::Rgb(color.r, color.g, color.b))).fg.unwrap();
            lifted += usize::from(shown != plain);
            let plain = theme.grounds().into_iter().map(|ground| (shown, ground));
            for (shown, ground) in plain.chain(on_adjusted_lines(&theme, shown)) {
                let ratio = contrast::ratio(parts(shown), parts(ground));
                if ratio < 4.5 {
                    faint.push(format!("{name} {depth:?} {color:?} as {shown:?} on {ground:?}: {ratio:.2}"));
                }
            }
        }
    }
    assert_eq!(faint, Vec::<String>::new());
    assert!(lifted > 20, "only {lifted} had to be lifted");
}

/// Story: `def` and `return` of unchanged lines were red next to removed lines, and read as removed.
#[test]
fn code_next_to_changed_lines_never_has_the_hue_of_a_change() {
    let (mut wrong, mut faint, mut turned) = (Vec::new(), Vec::new(), 0);
    for name in Theme::names() {
        for depth in [ColorDepth::Sixteen, ColorDepth::Indexed, ColorDepth::True] {
            let theme = load(name, depth, None);
            let Some(colours) = syntax::colours(&theme.syntax) else { continue };
            let (mut lift, mut usual) = (theme.lift_in_difference(), theme.lift());
            let taken = theme.hues_of_changes();
            assert!(taken.contains(&ansi::ColorName::Red) && taken.contains(&ansi::ColorName::Green));
            let all = colours.scopes.iter().filter_map(|item| item.style.foreground);
            for color in all.chain(colours.settings.foreground) {
                let code = syntect::highlighting::Style { foreground: color, ..Default::default() };
                let Some(shown) = syntax::style_of(code, depth, &mut lift).fg else { continue };
                turned += usize::from(Some(shown) != syntax::style_of(code, depth, &mut usual).fg);
                let adjusted = on_adjusted_lines(&theme, shown);
                for shown in adjusted.iter().map(|(shown, _)| *shown).chain([shown]) {
                    if contrast::hue_of(shown).is_some_and(|hue| taken.contains(&hue)) {
                        wrong.push(format!("{name} {depth:?} {color:?} as {shown:?}"));
                    }
                }
                let Some(parts_of_it) = ansi::rgb(shown) else { continue };
                for ground in theme.grounds() {
                    let ratio = contrast::ratio(parts_of_it, parts(ground));
                    if ratio < contrast::READABLE {
                        faint.push(format!(
                            "{name} {depth:?} {color:?} as {shown:?} on {ground:?}: {ratio:.2}"
                        ));
                    }
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(faint, Vec::<String>::new());
    assert!(turned > 50, "only {turned} had such a hue");
}

/// Story: `src/price.py` in an answer was as red as the removed line below it.
#[test]
fn inline_code_never_has_the_hue_of_a_changed_line() {
    let mut judged = 0;
    for name in Theme::names() {
        for depth in [ColorDepth::Sixteen, ColorDepth::Indexed, ColorDepth::True] {
            let theme = load(name, depth, None);
            let code = theme.style("code");
            let Some(own) = code.fg.and_then(contrast::hue_of) else { continue };
            for label in ["diff.add", "diff.remove"] {
                judged += 1;
                let changed = theme.style(label).fg.and_then(contrast::hue_of);
                assert_ne!(Some(own), changed, "{name} {depth:?}: {code:?} next to {label}");
            }
        }
    }
    assert!(judged > 25, "only {judged}");
}

/// Story: with 16 colours added lines were as grey as hints, and all modes of the prompt looked alike; with 256 a question
/// and a removed line had one colour.
#[test]
fn few_colours_keep_what_a_colour_says() {
    let hue = |style: Style| match style.fg {
        Some(Color::Green | Color::LightGreen) => Some(ansi::ColorName::Green),
        Some(Color::Red | Color::LightRed) => Some(ansi::ColorName::Red),
        other => other.and_then(ansi::rgb).and_then(ansi::ColorName::of),
    };
    let different = |theme: &Theme, labels: &[&str]| {
        for (at, one) in labels.iter().enumerate() {
            for other in labels.iter().skip(at + 1) {
                let (a, b) = (theme.style(one), theme.style(other));
                assert_ne!(a, b, "{} {:?}: {one} and {other}", theme.name, theme.depth);
            }
        }
    };
    for name in ["dark", "light", "neutral", "solarized-dark", "solarized-light"] {
        for depth in [ColorDepth::Sixteen, ColorDepth::Indexed, ColorDepth::True] {
            let theme = load(name, depth, None);
            assert_eq!(hue(theme.style("diff.add")), Some(ansi::ColorName::Green), "{name} {depth:?}");
            assert_eq!(hue(theme.style("diff.remove")), Some(ansi::ColorName::Red), "{name} {depth:?}");
            // Solarized's text and hint are greys of nearly one brightness: with fewer colours they are the same one.
            let muted = depth != ColorDepth::True && name.starts_with("solarized");
            different(&theme, &["diff.add", "diff.remove", if muted { "diff.hunk" } else { "text" }, "hint"]);
            let question = theme.style("question").fg;
            assert_ne!(question, theme.style("diff.remove").fg, "{name} {depth:?}");
            let modes = ["mode.none", "mode.read", "mode.ask", "mode.write", "mode.unrestricted"];
            different(&theme, &modes);
        }
    }
}

/// Story: in an xterm with 16 colours the heads of hunks were dark blue on black.
#[test]
fn with_sixteen_colours_nothing_is_fainter_than_its_hue_has_to_be() {
    let usual = |color: Color| ansi::rgb(color).or(ansi::usual_rgb(color)).unwrap();
    let worst = |color: Color, grounds: &[Color]| {
        let each = grounds.iter().map(|ground| contrast::ratio(usual(color), usual(*ground)));
        each.fold(f64::INFINITY, f64::min)
    };
    let mut judged = 0;
    for name in Theme::names() {
        let theme = load(name, ColorDepth::Sixteen, None);
        for label in LABELS {
            let Some(color) = theme.style(label).fg else { continue };
            let grounds = theme.style(label).bg.map_or(theme.backgrounds.clone(), |own| vec![own]);
            let here = worst(color, &grounds);
            if let Some(other) = ansi::other_shade(color) {
                judged += 1;
                let there = worst(other, &grounds);
                assert!(here >= 3.0 || here >= there, "{name} {label} {color:?}: {here:.2} < {there:.2}");
            }
            // Story: the question was yellow on white.
            let hue = ansi::ColorName::of(usual(color));
            assert!(
                hue != Some(ansi::ColorName::Yellow) || here >= 3.0,
                "{name} {label} {color:?}: {here:.2}"
            );
            assert!(*label != "diff.hunk" || here >= 3.0, "{name} {label} {color:?}: {here:.2}");
        }
    }
    assert!(judged > 100, "only {judged}");
}

/// Story: in an xterm of sixteen colours on white the question was bright magenta, and the `+` of added lines green.
#[test]
fn with_sixteen_colours_titles_and_signs_can_be_read() {
    let usual = |color: Color| ansi::rgb(color).or(ansi::usual_rgb(color)).unwrap();
    let mut judged = 0;
    for name in Theme::names() {
        let theme = load(name, ColorDepth::Sixteen, None);
        let titles = ["title", "heading", "question"].map(|label| (label, theme.style(label)));
        let signs = ["diff.add", "diff.remove"].map(|label| (label, theme.sign(label)));
        for (label, style) in titles.into_iter().chain(signs) {
            let Some(color) = style.fg else { continue };
            for ground in style.bg.map_or(theme.backgrounds.clone(), |own| vec![own]) {
                judged += 1;
                let ratio = contrast::ratio(usual(color), usual(ground));
                assert!(ratio >= contrast::READABLE, "{name} {label} {style:?} on {ground:?}: {ratio:.2}");
            }
        }
        let greens = [Some(Color::Green), Some(Color::LightGreen)];
        let is_green = |style: Style| greens.contains(&style.fg) || greens.contains(&style.bg);
        if ["light", "neutral", "dark"].contains(&name) {
            assert!(is_green(theme.sign("diff.add")), "{name}: {:?}", theme.sign("diff.add"));
        }
    }
    assert!(judged > 20, "only {judged}");
}

#[test]
fn the_prompt_can_be_read_on_the_ground_of_the_lines_that_were_sent() {
    let labels =
        ["prompt", "question", "warning", "call.running", "mode.none", "mode.read", "mode.ask", "mode.write"];
    let mut judged = 0;
    for name in Theme::names() {
        for depth in [ColorDepth::Indexed, ColorDepth::True] {
            let theme = load(name, depth, None);
            let Some(ground) = theme.style("said").bg else { continue };
            for label in labels.into_iter().chain(["mode.unrestricted"]) {
                let style = theme.on_said(theme.style(label));
                judged += 1;
                assert_eq!(style.bg, Some(ground), "{name} {depth:?} {label}");
                let ratio = contrast::ratio(parts(style.fg.unwrap()), parts(ground));
                assert!(ratio >= contrast::READABLE, "{name} {depth:?} {label}: {ratio:.2}");
            }
        }
    }
    assert!(judged >= 70, "only {judged}");
}

/// Story: in tmux the modes were all near white on the ground of the prompt.
#[test]
fn the_mode_stands_out_on_the_prompt_of_an_unknown_background() {
    for depth in [ColorDepth::Indexed, ColorDepth::True] {
        let theme = load("neutral", depth, None);
        let ground = theme.style("said").bg.unwrap();
        let marks = ["mode.ask", "mode.write", "mode.unrestricted"].map(|mode| {
            let style = theme.mark_on_said(theme.style(mode));
            let (text, own) = (style.fg.unwrap(), style.bg.unwrap());
            assert!(own == theme.style(mode).fg.unwrap() && own != ground, "{depth:?} {mode}: {style:?}");
            let ratio = contrast::ratio(parts(text), parts(own));
            assert!(ratio >= contrast::READABLE, "{depth:?} {mode}: {ratio:.2}");
            own
        });
        assert!(marks[0] != marks[1] && marks[1] != marks[2] && marks[0] != marks[2]);
    }
    let known = load("dark", ColorDepth::True, None);
    assert_eq!(known.mark_on_said(known.style("mode.write")), known.on_said(known.style("mode.write")));
}

#[test]
fn a_theme_says_its_backgrounds_as_one_colour_or_a_list() {
    let dark = include_str!("../../themes/dark.toml");
    let with = |line: &str| {
        let rest: Vec<&str> = dark.lines().filter(|l| !l.starts_with("background")).collect();
        Theme::parse("own", &format!("{line}\n{}", rest.join("\n")), ColorDepth::True)
    };
    assert_eq!(with("").unwrap().backgrounds, []);
    assert_eq!(with("background = \"#102030\"").unwrap().backgrounds, [Color::Rgb(16, 32, 48)]);
    assert_eq!(with("background = [\"#000000\", \"#ffffff\"]").unwrap().backgrounds.len(), 2);
    let reason = |line: &str| match with(line) {
        Err(ThemeError::Bad { fault, .. }) => fault.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("background = 3"), "`background` must be a colour or a list of colours");
    assert_eq!(reason("background = \"drak\""), "invalid colour `drak` in `background`");
}

#[test]
fn a_broken_file_is_listed_with_its_error_and_one_of_a_built_in_name_stands_for_it() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("themes");
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("bad.toml"), "text = \"\"").unwrap();
    std::fs::write(dir.join("light.toml"), include_str!("../../themes/dark.toml")).unwrap();
    std::fs::write(dir.join("notes.txt"), "").unwrap();
    let all = Theme::all(home.path());
    let names: Vec<&str> = all.iter().map(|listed| listed.name.as_str()).collect();
    let want = [
        "dark",
        "neutral",
        "high-contrast",
        "mono",
        "solarized-dark",
        "solarized-light",
        "colorblind",
        "bad",
        "light",
    ];
    assert_eq!(names, want);
    let broken: Vec<String> =
        all.iter().filter_map(|l| l.broken.as_ref()).map(std::string::ToString::to_string).collect();
    assert_eq!(broken, ["cannot read the theme `bad`: the label `dim` is missing"]);
}

/// Story: in tmux, where nobody knows the background, changed lines had no ground and no colours of code. A ground that was
/// made for a dark terminal would have dark text on a light one.
#[test]
fn changed_lines_of_neutral_have_their_own_text_on_a_ground_that_is_seen_on_black_and_on_white() {
    for depth in [ColorDepth::Indexed, ColorDepth::True] {
        let theme = load("neutral", depth, None);
        for label in ["diff.add", "diff.remove"] {
            let [line, word] = ["line", "word"].map(|part| theme.style(&format!("{label}.{part}")));
            let ground = parts(line.bg.unwrap());
            for background in &theme.backgrounds {
                let ratio = contrast::ratio(ground, parts(*background));
                assert!(ratio >= 1.9, "{label} {depth:?} on {background:?}: {ratio:.2}");
            }
            assert!(
                contrast::ratio(parts(line.fg.unwrap()), ground) >= contrast::READABLE,
                "{label} {depth:?}"
            );
            assert!(contrast::ratio(parts(word.bg.unwrap()), ground) >= 3.0, "{label} {depth:?}: the words");
            assert!(theme.adjusts_on(line), "{label} {depth:?}: the colours of code are made for the ground");
        }
    }
}

/// Story: with TERM=xterm only the sign of a changed line had a ground, and removed lines had no colours of code.
#[test]
fn with_sixteen_colours_signs_and_changed_words_have_a_ground() {
    for name in ["dark", "light", "neutral", "solarized-dark", "solarized-light", "colorblind"] {
        let theme = load(name, ColorDepth::Sixteen, None);
        let grounds = ["diff.add", "diff.remove"].map(|label| {
            let sign = theme.sign(label);
            let word = theme.style(&format!("{label}.word"));
            assert_eq!((word.fg, word.bg), (sign.fg, sign.bg), "{name} {label}");
            assert!(word.add_modifier.contains(Modifier::UNDERLINED), "{name} {label}");
            assert_eq!(theme.style(&format!("{label}.line")).bg, None, "{name} {label}");
            sign.bg.unwrap_or_else(|| panic!("{name} {label} has no ground"))
        });
        assert_ne!(grounds[0], grounds[1], "{name}");
    }
    for name in ["mono", "high-contrast"] {
        let theme = load(name, ColorDepth::Sixteen, None);
        assert_eq!(theme.sign("diff.add").bg, None, "{name} has no colours");
    }
}

/// Story: with NO_COLOR the selected row was a patchwork of white and grey: dim text was swapped to a grey ground.
#[test]
fn a_row_that_is_selected_by_swapping_is_one_even_band() {
    let theme = load("mono", ColorDepth::None, None);
    for label in LABELS {
        let selected = theme.selected(theme.style(label));
        assert_eq!((selected.fg, selected.bg), (None, None), "{label}");
        assert!(selected.add_modifier.contains(Modifier::REVERSED), "{label}");
        assert!(!selected.add_modifier.contains(Modifier::DIM), "{label}");
    }
}

/// Story: with 256 colours added lines were nearly as black as the others, and removed lines dark red.
#[test]
fn with_few_colours_added_and_removed_lines_are_equally_marked() {
    // Solarized's own differ in hue and not in lightness.
    for name in ["dark", "light", "colorblind"] {
        for depth in [ColorDepth::Indexed, ColorDepth::True] {
            let theme = load(name, depth, None);
            let ground = parts(theme.backgrounds[0]);
            let seen = ["diff.add.line", "diff.remove.line"].map(|label| {
                let line = parts(theme.style(label).bg.unwrap());
                let spread = |(r, g, b): (u8, u8, u8)| r.max(g).max(b) - r.min(g).min(b);
                assert!(spread(line) >= 14, "{name} {depth:?} {label} {line:?} is a grey");
                contrast::ratio(line, ground)
            });
            assert!(seen.iter().all(|ratio| *ratio >= 1.05), "{name} {depth:?} {seen:?}");
        }
    }
}

/// Story: with 16 colours one of `+` and `-` was a coloured cell and the other coloured text.
#[test]
fn with_sixteen_colours_both_signs_of_a_change_are_alike() {
    for name in Theme::names() {
        let theme = load(name, ColorDepth::Sixteen, None);
        let [add, remove] = ["diff.add", "diff.remove"].map(|label| theme.sign(label));
        assert_eq!(add.bg.is_some(), remove.bg.is_some(), "{name}: {add:?} and {remove:?}");
        let [add, remove] = ["diff.add", "diff.remove"].map(|label| theme.changed_text(label));
        assert_eq!(add.fg.is_some(), remove.fg.is_some(), "{name}: {add:?} and {remove:?}");
        let word = theme.style("diff.add.word").add_modifier;
        assert!(word.contains(Modifier::UNDERLINED), "{name}: what changed is seen under the cursor, too");
    }
}

/// Story: in an xterm of sixteen colours on white, added lines and code could not be read.
#[test]
fn with_sixteen_colours_on_white_text_is_neither_green_nor_cyan() {
    for name in ["light", "neutral", "solarized-light"] {
        let theme = load(name, ColorDepth::Sixteen, None);
        assert_eq!(theme.changed_text("diff.add").fg, None, "{name}");
        assert!(theme.style("diff.add").fg.is_some(), "{name}: the sign");
        assert_eq!(theme.style("accepted").fg, None, "{name}");
        let mut lift = theme.lift();
        for number in 0..16 {
            let shown = lift.colour(Color::Indexed(number));
            let hue = super::hue_of(shown);
            let faint = [ColorName::Cyan, ColorName::Green, ColorName::Yellow];
            assert!(hue.is_none_or(|hue| !faint.contains(&hue)), "{name}: {number} is {shown:?}");
        }
    }
    assert!(load("dark", ColorDepth::Sixteen, None).changed_text("diff.add").fg.is_some());
}
