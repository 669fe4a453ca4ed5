//! What to do next after a failure, as a value.
//!
//! A hint often names a tool or one of its parameters. Each tool set has its own name for the tool, or does not have
//! the tool. A hint therefore stores the tool and the parameter as values. [`super::tool_names`] inserts the names, and
//! nothing searches for a name in a finished text.

use std::fmt;

/// One of placet's own tools that hints name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintTool {
    ReadFile,
    EditFile,
    WriteFile,
    ListDirectory,
    FindFiles,
    SearchContents,
    RunCommand,
    /// The call that lists the scratchpads.
    ScratchpadList,
}

impl HintTool {
    pub(super) const ALL: [HintTool; 8] = [
        HintTool::ReadFile,
        HintTool::EditFile,
        HintTool::WriteFile,
        HintTool::ListDirectory,
        HintTool::FindFiles,
        HintTool::SearchContents,
        HintTool::RunCommand,
        HintTool::ScratchpadList,
    ];

    /// The name of the tool in placet's own tool set.
    pub(super) fn native(self) -> &'static str {
        match self {
            HintTool::ReadFile => "read_file",
            HintTool::EditFile => "edit_file",
            HintTool::WriteFile => "write_file",
            HintTool::ListDirectory => "list_directory",
            HintTool::FindFiles => "find_files",
            HintTool::SearchContents => "search_contents",
            HintTool::RunCommand => "run_command",
            HintTool::ScratchpadList => "scratchpad(action: \"list\")",
        }
    }

    /// A parameter of this tool, by its name in placet's own tool set.
    pub(super) fn parameter(self, native: &'static str) -> HintPiece {
        HintPiece::Parameter(self, native)
    }
}

/// A piece of a hint: text, the name of a tool, or the name of one of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintPiece {
    Words(String),
    Tool(HintTool),
    /// By its name in placet's own tool set.
    Parameter(HintTool, &'static str),
}

/// The names that a tool set has for the tools and parameters that hints name; `None` for what the tool set does not
/// have.
pub(super) trait HintNames {
    fn tool(&self, tool: HintTool) -> Option<String>;
    fn parameter(&self, tool: HintTool, native: &str) -> Option<String>;
}

/// See the module. `hint!` makes a hint from pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    pieces: Vec<HintPiece>,
    /// The hint to show instead if the tool set does not have a tool or a parameter of the pieces.
    otherwise: Option<Box<Hint>>,
}

/// A hint of text and tools: `hint!["list it with ", HintTool::ListDirectory]`.
macro_rules! hint {
    ($($piece:expr),+ $(,)?) => {
        $crate::Hint::of(vec![$($crate::HintPiece::from($piece)),+])
    };
}
pub(super) use hint;

impl Hint {
    pub fn of(pieces: Vec<HintPiece>) -> Hint {
        Hint { pieces, otherwise: None }
    }

    /// The hint, with a replacement for tool sets that do not have a tool or a parameter of it.
    #[must_use]
    pub(super) fn or(self, otherwise: Hint) -> Hint {
        let otherwise = match self.otherwise {
            None => otherwise,
            Some(first) => first.or(otherwise),
        };
        Hint { otherwise: Some(Box::new(otherwise)), ..self }
    }

    /// The hint with each tool and parameter under its name in `names`. `None` if a tool or a parameter has no name
    /// there and the hint has no replacement, because the hint would name a tool that does not exist.
    pub(super) fn named(&self, names: &dyn HintNames) -> Option<Hint> {
        let pieces = self.pieces.iter().map(|piece| match piece {
            HintPiece::Words(words) => Some(words.clone()),
            HintPiece::Tool(tool) => names.tool(*tool),
            HintPiece::Parameter(tool, native) => names.parameter(*tool, native),
        });
        match pieces.collect::<Option<String>>() {
            Some(words) => Some(words.into()),
            None => self.otherwise.as_ref()?.named(names),
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            HintPiece::Words(words) => f.write_str(words),
            HintPiece::Tool(tool) => f.write_str(tool.native()),
            HintPiece::Parameter(_, native) => f.write_str(native),
        })
    }
}

impl From<&str> for Hint {
    fn from(words: &str) -> Hint {
        Hint::of(vec![words.into()])
    }
}

impl From<String> for Hint {
    fn from(words: String) -> Hint {
        Hint::of(vec![words.into()])
    }
}

impl From<&str> for HintPiece {
    fn from(words: &str) -> HintPiece {
        HintPiece::Words(words.into())
    }
}

impl From<String> for HintPiece {
    fn from(words: String) -> HintPiece {
        HintPiece::Words(words)
    }
}

impl From<HintTool> for HintPiece {
    fn from(tool: HintTool) -> HintPiece {
        HintPiece::Tool(tool)
    }
}
