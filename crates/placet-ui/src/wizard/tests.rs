use super::{
    ChoiceTyping, TextPrefill, Wizard, WizardAnswer, WizardChoice, WizardPage, WizardPane, WizardQuestion,
};
use crate::keymap::Keymap;
use crate::line_ui::script::ScriptedLineUi;
use crate::picker::KEYS;
use crate::terminal::full_screen::{FullScreenPane, PaneFlow};
use crate::test_screen::{dark, drawn, press, rows};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Asks for a server, a key and an approval.
struct Asker {
    page: WizardPage,
    got: Vec<WizardAnswer>,
    closed: bool,
    cancelled: bool,
}

fn page(number: usize) -> WizardPage {
    let items = |texts: &[(&str, &str)]| {
        texts.iter().map(|(text, note)| WizardChoice::new(*text, *note)).collect::<Vec<_>>()
    };
    let question = match number {
        0 => WizardQuestion::Choice {
            items: items(&[("alpha", "first"), ("beta\u{1b}[2J", "with a key"), ("gamma", "")]),
            selected: 1,
            typing: ChoiceTyping::SearchOrName,
        },
        1 => WizardQuestion::Secret,
        2 => WizardQuestion::Text { text: "usual".into(), prefill: TextPrefill::Suggestion },
        _ => WizardQuestion::Choice {
            items: items(&[("write it", ""), ("leave", "")]),
            selected: 0,
            typing: ChoiceTyping::Consent,
        },
    };
    let lines = match number {
        3 => (0..30).map(|n| (format!("+line {n}"), "diff.add")).collect(),
        _ => vec![("A hint about it.".to_string(), "hint")],
    };
    WizardPage { title: format!("Question {number}?"), lines, question }
}

impl Asker {
    fn new() -> Asker {
        Asker { page: page(0), got: Vec::new(), closed: false, cancelled: false }
    }
}

impl Wizard for Asker {
    fn title(&self) -> String {
        "a test".into()
    }

    fn answered(&self) -> Vec<(&'static str, String)> {
        self.got.iter().map(|answer| ("answer", format!("{answer:?}").chars().take(6).collect())).collect()
    }

    fn page(&self) -> &WizardPage {
        &self.page
    }

    fn answer(&mut self, answer: WizardAnswer) {
        self.got.push(answer);
        self.closed = self.got.len() == 4;
        self.page = page(self.got.len());
    }

    fn paste(&mut self, _: &str) -> bool {
        false
    }

    fn back(&mut self) {
        self.closed = self.got.pop().is_none();
        self.page = page(self.got.len());
    }

    fn cancel(&mut self) {
        (self.closed, self.cancelled) = (true, true);
    }

    fn poll(&mut self) -> bool {
        false
    }

    fn is_closed(&self) -> bool {
        self.closed
    }
}

const SIZE: (u16, u16) = (50, 14);

fn screen(pane: &WizardPane<'_>) -> String {
    rows(&drawn(pane, SIZE)).join("\n")
}

fn opened<'w>(asker: &'w mut Asker) -> WizardPane<'w> {
    let mut pane = WizardPane::new(asker, &dark(), Keymap::usual("picker", KEYS));
    pane.resize(SIZE.0, SIZE.1);
    pane
}

#[test]
fn a_list_is_searched_and_a_secret_is_never_drawn() {
    let mut asker = Asker::new();
    let mut pane = opened(&mut asker);
    insta::assert_snapshot!(screen(&pane));
    for key in "gam".chars() {
        press(&mut pane, key);
    }
    assert!(screen(&pane).contains("❯ gam") && !screen(&pane).contains("alpha"), "{}", screen(&pane));
    press(&mut pane, '⏎');
    pane.paste("sk-canary-key\n");
    let secret = screen(&pane);
    assert!(!secret.contains("canary") && secret.contains("•••••••••••••"), "{secret}");
    assert!(secret.contains("13 characters"), "{secret}");
    press(&mut pane, '⏎');
    assert!(screen(&pane).contains("❯ usual"), "{}", screen(&pane));
    press(&mut pane, '!');
    press(&mut pane, '⏎');
    drop(pane);
    let text = |text: &str| WizardAnswer::Text(text.into());
    assert_eq!(asker.got, [WizardAnswer::Item(2), text("sk-canary-key"), text("!")]);
}

/// Story: a pasted address was appended to the suggested one, and the request went to neither.
#[test]
fn a_suggested_text_is_replaced_by_a_paste_and_edited_by_the_editing_keys() {
    let answer = |keys: &dyn Fn(&mut WizardPane<'_>)| {
        let mut asker = Asker::new();
        asker.answer(WizardAnswer::Item(0));
        asker.answer(WizardAnswer::Item(0));
        let mut pane = opened(&mut asker);
        keys(&mut pane);
        press(&mut pane, '⏎');
        drop(pane);
        asker.got.pop()
    };
    let key = |pane: &mut WizardPane<'_>, code| {
        pane.key(KeyEvent::new(code, KeyModifiers::NONE));
    };
    let text = |text: &str| Some(WizardAnswer::Text(text.into()));
    assert_eq!(answer(&|_| {}), text("usual"));
    assert_eq!(answer(&|pane| pane.paste("https://host/v1\n")), text("https://host/v1"));
    assert_eq!(
        answer(&|pane| {
            pane.paste("one");
            pane.paste("two");
        }),
        text("onetwo")
    );
    assert_eq!(
        answer(&|pane| {
            key(pane, KeyCode::Backspace);
            press(pane, 's');
        }),
        text("usuas")
    );
    assert_eq!(
        answer(&|pane| {
            key(pane, KeyCode::Home);
            press(pane, 'x');
        }),
        text("xusual")
    );
}

#[test]
fn a_name_that_is_not_in_the_list_is_taken_as_it_is_typed() {
    let mut asker = Asker::new();
    let mut pane = opened(&mut asker);
    pane.paste("zeta-9");
    assert!(screen(&pane).contains("Enter takes the name as it is typed"), "{}", screen(&pane));
    press(&mut pane, '⏎');
    drop(pane);
    assert_eq!(asker.got, [WizardAnswer::Text("zeta-9".into())]);
}

#[test]
fn what_is_to_be_written_can_be_read_to_its_end_and_letters_do_nothing() {
    let mut asker = Asker::new();
    for _ in 0..3 {
        asker.answer(WizardAnswer::Item(0));
    }
    let mut pane = opened(&mut asker);
    assert!(
        screen(&pane).contains("+line 0") && screen(&pane).contains("PageDown more"),
        "{}",
        screen(&pane)
    );
    press(&mut pane, 'l');
    assert!(screen(&pane).contains("❯ write it"), "{}", screen(&pane));
    for _ in 0..9 {
        pane.key(KeyEvent::new(KeyCode::PageDown, KeyModifiers::NONE));
    }
    assert!(screen(&pane).contains("+line 29"), "{}", screen(&pane));
    assert!(pane.decides(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)));
    press(&mut pane, '⎋');
    assert!(screen(&pane).contains("Question 2?"), "{}", screen(&pane));
    assert_eq!(pane.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), PaneFlow::Close);
    drop(pane);
    assert!(asker.cancelled);
}

#[test]
fn without_a_screen_the_same_is_asked_with_numbers() {
    let mut asker = Asker::new();
    let mut talk = ScriptedLineUi::of(&["9", "nothing", "be", "1", "sk-canary", "", "1"]);
    opened(&mut asker).run_line_ui(&mut talk);
    insta::assert_snapshot!(talk.transcript());
    let text = |text: &str| WizardAnswer::Text(text.into());
    assert_eq!(asker.got, [WizardAnswer::Item(1), text("sk-canary"), text("usual"), WizardAnswer::Item(0)]);
    let mut asker = Asker::new();
    opened(&mut asker).run_line_ui(&mut ScriptedLineUi::of(&["=other", ""]));
    assert!(asker.cancelled, "the line ended");
}
