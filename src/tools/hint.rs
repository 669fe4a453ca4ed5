//! What to do next after a failure, as a value.
//!
//! A hint often names a tool, and each tool set has its own name for it, or no such tool. The hint therefore holds the tool
//! as a value; [`super::wording`] puts the name in, and nothing looks for a name in a finished text.

use std::fmt;

/// A tool of placet's own that hints name.
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

    /// What placet's own tool set calls it.
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
}

/// A piece of a hint: words, or the name of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HintPiece {
    Words(String),
    Tool(HintTool),
}

/// See the module. [`hint!`] makes one out of pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint(Vec<HintPiece>);

/// A hint of words and tools: `hint!["list it with ", HintTool::ListDirectory]`.
macro_rules! hint {
    ($($piece:expr),+ $(,)?) => {
        $crate::tools::Hint::of(vec![$($crate::tools::HintPiece::from($piece)),+])
    };
}
pub(super) use hint;

impl Hint {
    pub fn of(pieces: Vec<HintPiece>) -> Hint {
        Hint(pieces)
    }

    /// The hint with each tool under the name that `name` gives it; `None` where one of them has no name here, since the
    /// hint would lead nowhere.
    pub(super) fn named(&self, name: impl Fn(HintTool) -> Option<String>) -> Option<Hint> {
        let pieces = self.0.iter().map(|piece| match piece {
            HintPiece::Words(words) => Some(words.clone()),
            HintPiece::Tool(tool) => name(*tool),
        });
        Some(Hint(vec![HintPiece::Words(pieces.collect::<Option<String>>()?)]))
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            HintPiece::Words(words) => f.write_str(words),
            HintPiece::Tool(tool) => f.write_str(tool.native()),
        })
    }
}

impl From<&str> for Hint {
    fn from(words: &str) -> Hint {
        Hint(vec![words.into()])
    }
}

impl From<String> for Hint {
    fn from(words: String) -> Hint {
        Hint(vec![words.into()])
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
