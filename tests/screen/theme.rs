//! Themes in the real binary: listed, shown without a terminal, and changed while the shell runs.

use crate::support::binary::Place;
use crate::support::pty::shell;

fn place_with_own_themes() -> Place {
    let place = Place::new().config("[ui]\ntheme = \"own\"\n");
    let dir = place.config_dir().join("themes");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("own.toml"), include_str!("../../themes/dark.toml")).unwrap();
    std::fs::write(dir.join("bad.toml"), "text = \"purpel\"\n").unwrap();
    place
}

#[test]
fn the_list_has_every_theme_the_one_that_is_set_and_what_is_wrong_with_a_broken_one() {
    let place = place_with_own_themes();
    let out = place.run(["theme", "list"]).code(0).stdout;
    let own = place.config_dir().join("themes/own.toml").display().to_string();
    let want = format!(
        "  dark             for dark backgrounds
  light            for light backgrounds
  neutral          for any background
  high-contrast    highest contrast
  mono             no colour: bold and italic
  solarized-dark   for Solarized's dark colours
  solarized-light  for Solarized's light colours
  colorblind       dark; blue and orange, not green and red
  bad              cannot read the theme `bad`: `purpel` is neither a colour nor a style
* own              {own}
"
    );
    assert_eq!(out, want);
}

#[test]
fn a_preview_into_a_pipe_has_colours_only_when_they_are_wanted() {
    let place = place_with_own_themes();
    let plain = place.run(["theme", "preview", "solarized-light"]).code(0).stdout;
    assert!(plain.starts_with("solarized-light  for a background of #fdf6e3\n"), "{plain}");
    assert!(plain.contains("8 + let limit = 25;") && !plain.contains('\x1b'), "{plain:?}");
    place.run(["theme", "preview"]).code(0).says("own  for a background of #000000, #161616, #282828");
    let always = ["theme", "preview", "light", "--set", "ui.color=always"];
    let coloured = place.placet(always).env("COLORTERM", "truecolor").go().code(0).stdout;
    assert!(coloured.contains("\x1b[0;38;2;23;105;58;48;2;226;245;231m+ "), "{coloured:?}");
    place.run(["theme", "preview", "nope"]).code(2).warns("unknown theme `nope`").warns("theme list");
    place.run(["theme", "preview", "bad"]).code(2).warns("`purpel` is neither a colour nor a style");
}

#[test]
fn a_theme_is_changed_by_its_name_while_the_shell_runs() {
    // On the ground of the lines that the person sent.
    let green = "\x1b[0;1;38;2;23;105;58;48;2;219;228;243m[r]";
    let mut pty = shell().variable("COLORTERM", "truecolor").arg("--mode").arg("read").open();
    let raw = |pty: &crate::support::pty::Pty| String::from_utf8_lossy(&pty.raw()).into_owned();
    assert!(!raw(&pty).contains(green));
    pty.line("/theme light");
    pty.until("the word", |s| s.contains("the theme is light until this shell ends"));
    pty.until_prompt("");
    assert!(pty.screen().contains("to make it permanent: ui.theme = \"light\" in"), "{}", pty.screen());
    pty.until("the prompt in its colours", |_| raw(&pty).contains(green));
    pty.line("/theme nope");
    pty.until("the refusal", |s| s.contains("unknown theme `nope`"));
    pty.until_prompt("");
    pty.line("/status");
    pty.until("the theme that holds", |s| s.contains("theme") && s.contains("light"));
}

#[test]
fn the_list_of_themes_shows_each_as_it_is_and_escape_leaves_the_one_before() {
    let mut pty = shell().size(120, 44).variable("COLORTERM", "truecolor").open();
    pty.line("/theme");
    pty.until("the list", |s| s.contains("Themes ❯") && s.contains("neutral  for a background of"));
    pty.send("colorb");
    pty.until("its sample", |s| {
        s.contains("colorblind  for a background of") && s.contains("let limit = 25;")
    });
    let raw = |pty: &crate::support::pty::Pty| String::from_utf8_lossy(&pty.raw()).into_owned();
    pty.until("the line that was added, in its colours", |_| raw(&pty).contains("48;2;15;34;56"));
    pty.send("\x1b");
    pty.until("the prompt again", |s| !s.contains("Themes ❯"));
    assert!(!pty.screen().contains("the theme is"), "{}", pty.screen());
    pty.line("/theme");
    pty.until("the list", |s| s.contains("Themes ❯"));
    pty.send("colorb");
    pty.until("its sample", |s| s.contains("colorblind  for a background of"));
    pty.send("\r");
    pty.until("the theme", |s| s.contains("the theme is colorblind until this shell ends"));
}

/// Story: on a terminal the sample showed the escape sequences of its styles as text.
#[test]
fn the_sample_of_a_theme_has_its_styles_on_a_terminal() {
    let mut pty = crate::support::pty::shell().arg("theme").arg("preview").arg("dark").spawn();
    assert_eq!(pty.ended(), 0);
    let screen = pty.screen();
    assert!(screen.contains("◆") && !screen.contains('␛') && !screen.contains("[0;"), "{screen}");
}

/// Whatever a project writes, the person's shell begins: first all keys that could be wrong, without trust, and then a theme
/// that this person does not have, with it.
#[test]
fn no_setting_of_a_project_keeps_the_shell_from_starting() {
    let all = "ui.theme = \"evil\"\nui.wrap = \"terminal\"\nui.linear = true\nui.applied = \"line\"\nui.notify = \"x y\"\n\
               ui.pictures = \"off\"\nui.color = \"never\"\nkeys.review.accept = \"\\u0000\"\nprovider = \"none\"\n\
               model = \"\"\nbudget.day = \"x\"\ntools.dialect = \"agsh\"\nclassification.paths = [\"x\"]\n\
               sandbox.mask = [\"\", \"[\"]\npermission.protected = [\"[\"]\n";
    let mut pty = shell().file(".placet/config.toml", all).spawn();
    pty.until("the question", |s| s.contains("Type `trust`"));
    pty.answer("\r");
    pty.until("the prompt", |s| s.contains("placet ["));
    pty.line("/status");
    pty.until("an answer", |s| s.contains("theme") && s.contains("neutral"));
    pty.line("/quit");
    let pty = shell().size(240, 24).config("ui.theme = \"evil\"\n").open();
    pty.until("the note", |s| s.contains("unknown theme `evil`") && s.contains("`auto` is used"));
}
