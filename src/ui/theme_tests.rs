use super::*;

fn load(name: &str, depth: Depth, colorfgbg: Option<&str>) -> Theme {
    let value = colorfgbg.map(String::from);
    Theme::load(name, Path::new("/nowhere"), depth, |n| if n == "COLORFGBG" { value.clone() } else { None })
        .unwrap()
}

#[test]
fn every_built_in_theme_styles_every_label() {
    for name in Theme::names() {
        assert_eq!(load(name, Depth::True, None).name, name);
    }
    assert!(matches!(
        Theme::load("nope", Path::new("/nowhere"), Depth::True, |_| None),
        Err(ThemeError::Unknown { .. })
    ));
}

#[test]
fn auto_follows_what_is_known_of_the_background() {
    assert_eq!(load("auto", Depth::True, Some("15;0")).name, "dark");
    assert_eq!(load("auto", Depth::True, Some("0;default;15")).name, "light");
    assert_eq!(load("auto", Depth::True, None).name, "neutral");
    assert_eq!(load("dark", Depth::None, None).name, "mono");
}

fn luminance(color: Color) -> f64 {
    let Color::Rgb(r, g, b) = color else { panic!("{color:?}") };
    let part = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
}

fn contrast(a: Color, b: Color) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// WCAG AA for text, on the backgrounds people use.
#[test]
fn every_colour_can_be_read_on_the_background_it_is_for() {
    let dark = [Color::Rgb(0, 0, 0), Color::Rgb(0x16, 0x16, 0x16), Color::Rgb(0x28, 0x28, 0x28)];
    let light = [Color::Rgb(255, 255, 255), Color::Rgb(0xfa, 0xfa, 0xfa)];
    for (name, backgrounds, least) in [
        ("dark", &dark[..], 4.5),
        ("light", &light[..], 4.5),
        ("neutral", &dark[..2], 3.5),
        ("neutral", &light[..], 3.5),
    ] {
        let theme = load(name, Depth::True, None);
        for label in LABELS {
            let Some(color @ Color::Rgb(..)) = theme.style(label).fg else { continue };
            let own = theme.style(label).bg.map(|bg| vec![bg]);
            for background in own.as_deref().unwrap_or(backgrounds) {
                let ratio = contrast(color, *background);
                assert!(ratio >= least, "{name} {label} {color:?} on {background:?}: {ratio:.2}");
            }
        }
    }
}
