//! The terminal of a command: its size and its settings when the command starts.

use rustix::termios::{
    ControlModes, InputModes, LocalModes, OutputModes, SpecialCodeIndex, Termios, Winsize,
};
use serde::{Deserialize, Serialize};

/// The description of a terminal inside the view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSpec {
    pub size: TerminalSize,
    /// The settings of the person's own terminal; the kernel's defaults if absent.
    pub modes: Option<TerminalModes>,
    /// Standard error is the supervisor's own, and not the terminal.
    pub separate_errors: bool,
}

/// Rows and columns, and the pixels of all of them where the terminal reports pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    pub rows: u16,
    pub columns: u16,
    pub x_pixels: u16,
    pub y_pixels: u16,
}

/// What `stty` shows: flags, and the keys that erase, interrupt and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalModes {
    input: u32,
    output: u32,
    control: u32,
    local: u32,
    codes: Vec<u8>,
}

/// The keys, in the order of [`TerminalModes::codes`].
const CODES: [SpecialCodeIndex; 14] = [
    SpecialCodeIndex::VINTR,
    SpecialCodeIndex::VQUIT,
    SpecialCodeIndex::VERASE,
    SpecialCodeIndex::VKILL,
    SpecialCodeIndex::VEOF,
    SpecialCodeIndex::VEOL,
    SpecialCodeIndex::VEOL2,
    SpecialCodeIndex::VSTART,
    SpecialCodeIndex::VSTOP,
    SpecialCodeIndex::VSUSP,
    SpecialCodeIndex::VREPRINT,
    SpecialCodeIndex::VDISCARD,
    SpecialCodeIndex::VWERASE,
    SpecialCodeIndex::VLNEXT,
];

impl From<Winsize> for TerminalSize {
    fn from(size: Winsize) -> TerminalSize {
        TerminalSize {
            rows: size.ws_row,
            columns: size.ws_col,
            x_pixels: size.ws_xpixel,
            y_pixels: size.ws_ypixel,
        }
    }
}

impl From<TerminalSize> for Winsize {
    fn from(size: TerminalSize) -> Winsize {
        Winsize {
            ws_row: size.rows,
            ws_col: size.columns,
            ws_xpixel: size.x_pixels,
            ws_ypixel: size.y_pixels,
        }
    }
}

impl TerminalModes {
    pub fn of(termios: &Termios) -> TerminalModes {
        TerminalModes {
            input: bits(termios.input_modes.bits()),
            output: bits(termios.output_modes.bits()),
            control: bits(termios.control_modes.bits()),
            local: bits(termios.local_modes.bits()),
            codes: CODES.iter().map(|code| termios.special_codes[*code]).collect(),
        }
    }

    /// Puts these settings into `termios`, which keeps its speed.
    #[allow(clippy::useless_conversion, reason = "the types depend on the system")]
    pub fn apply(&self, termios: &mut Termios) {
        termios.input_modes = InputModes::from_bits_retain(self.input.into());
        termios.output_modes = OutputModes::from_bits_retain(self.output.into());
        // The size of a byte and its parity; the rest describes a serial line.
        let shape = ControlModes::CSIZE | ControlModes::PARENB | ControlModes::PARODD;
        let given = ControlModes::from_bits_retain(self.control.into());
        termios.control_modes = (termios.control_modes & !shape) | (given & shape);
        termios.local_modes = LocalModes::from_bits_retain(self.local.into());
        for (code, value) in CODES.iter().zip(&self.codes) {
            termios.special_codes[*code] = *value;
        }
    }
}

/// `tcflag_t` is longer on macOS; no flag is.
fn bits(flags: impl TryInto<u32>) -> u32 {
    flags.try_into().unwrap_or_default()
}
