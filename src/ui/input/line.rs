//! One line typed in answer to a question, edited by the terminal itself: nothing is drawn or repainted.

use super::ahead;
use crate::ui::term::{self, Typing};

/// Asks, and waits for Enter. `None`: Ctrl-C, or the terminal has gone.
pub(in crate::ui) fn line(question: &str) -> Option<String> {
    term::write_all(question.as_bytes());
    let mut begun = ahead::take();
    if let Some(end) = begun.iter().position(|b| ends(*b)) {
        // The terminal showed nothing of what was typed while nobody listened.
        let rest = begun.split_off(end + 1);
        ahead::give_back(&rest);
        term::write_all(format!("{}\r\n", text(&begun)).as_bytes());
        return answer(&begun);
    }
    term::write_all(text(&begun).as_bytes());
    let _typing = Typing::begin();
    let mut buffer = [0; 4096];
    loop {
        match rustix::io::read(term::input(), &mut buffer) {
            Ok(0) => return None,
            Ok(n) => begun.extend_from_slice(buffer.get(..n).unwrap_or_default()),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
            Err(_) => return None,
        }
        match begun.last() {
            Some(&term::SUSPEND) => {
                begun.pop();
                term::suspend();
                term::write_all(format!("{question}{}", text(&begun)).as_bytes());
            }
            Some(last) if ends(*last) => return answer(&begun),
            _ => {}
        }
    }
}

fn ends(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 3)
}

fn text(bytes: &[u8]) -> String {
    let shown = String::from_utf8_lossy(bytes);
    shown.chars().filter(|c| !c.is_control()).collect()
}

fn answer(line: &[u8]) -> Option<String> {
    if line.last() == Some(&3) {
        term::write_all(b"\r\n");
        return None;
    }
    Some(text(line))
}
