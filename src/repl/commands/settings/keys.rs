//! `/keys`: what arrives when a key is pressed, for anyone who wonders why one does nothing.
//!
//! A terminal multiplexer or the terminal itself may keep a key, or send other bytes than one expects. What is shown is
//! what every screen of the shell goes by; nothing that is pressed does anything but Ctrl-C, which ends it.

use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::output::ShellOutput;
use crate::ui::input::BlockingKeyReader;
use crate::ui::input::decode::{InputToken, TerminalInput};
use crate::ui::keymap::KeyChord;
use crossterm::event::{KeyCode, KeyModifiers};
use std::io::IsTerminal;
use std::time::Duration;

/// Nobody presses anything for so long: they have gone.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of one press that are shown.
const BYTES: usize = 48;

pub(in crate::repl::commands) fn keys(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    if !std::io::stdin().is_terminal() {
        return Err(CommandStop::error("/keys needs a terminal"));
    }
    context.output.note("press keys to see what the terminal sends; Ctrl-C ends this");
    show(&context.output).map_err(|e| format!("the keyboard cannot be read: {e}"))?;
    Ok(CommandFollowUp::Nothing)
}

fn show(output: &ShellOutput<'_>) -> std::io::Result<()> {
    let mut keyboard = BlockingKeyReader::new()?;
    while let Some(token) = keyboard.next_token(PATIENCE)? {
        if token.input == Some(TerminalInput::Unfinished) {
            continue;
        }
        output.hint(&said(&token));
        let is_end = |input: &TerminalInput| match input {
            TerminalInput::Key(key) => {
                key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL
            }
            _ => false,
        };
        if token.input.as_ref().is_some_and(is_end) {
            return Ok(());
        }
    }
    Ok(())
}

/// `Shift-Enter       ESC [13;2u`
fn said(token: &InputToken) -> String {
    let name = match &token.input {
        Some(TerminalInput::Key(key)) => KeyChord::of(*key).to_string(),
        Some(TerminalInput::Paste(text)) => format!("a paste of {} bytes", text.len()),
        Some(TerminalInput::PasteRefused(bytes)) => format!("a paste of {bytes} bytes, too long"),
        Some(TerminalInput::FocusGained) => "the window has the focus".into(),
        Some(TerminalInput::FocusLost) => "the window lost the focus".into(),
        Some(TerminalInput::Resized) => "the window has a new size".into(),
        Some(TerminalInput::Ignored | TerminalInput::Unfinished) | None => {
            "no key: an answer of the terminal, or unknown".into()
        }
    };
    format!("{name:<18} {}", bytes(&token.raw))
}

fn bytes(raw: &[u8]) -> String {
    let mut out = String::new();
    for byte in raw.iter().take(BYTES) {
        match byte {
            0x1b => out.push_str("ESC "),
            0x20 => out.push_str("SPC "),
            0x21..=0x7e => out.push(char::from(*byte)),
            _ => out.push_str(&format!("{byte:02x} ")),
        }
    }
    if raw.len() > BYTES {
        out.push_str(&format!("... {} bytes", raw.len()));
    }
    out.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::input::decode::InputDecoder;

    #[test]
    fn every_press_is_named_with_its_bytes() {
        let said: Vec<String> = InputDecoder::default()
            .feed("a\x1b[13;2u\x1b[1;5A\r日\x1b[I".as_bytes())
            .iter()
            .map(said)
            .collect();
        let wanted = [
            "a                  a",
            "Shift-Enter        ESC [13;2u",
            "Ctrl-Up            ESC [1;5A",
            "Enter              0d",
            "日                  e6 97 a5",
            "the window has the focus ESC [I",
        ];
        assert_eq!(said, wanted);
    }
}
