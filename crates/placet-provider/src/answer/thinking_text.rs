//! Reasoning that comes as text: servers that do not know the tags of their model send them, and what is between them, as
//! the beginning of the answer. [`ThinkingTextDecoder`] makes reasoning of it, whatever the wire format.

use crate::{AnswerDecoder, ProviderError, StreamEvent};
use placet_text::conversation::{AssistantBlock, AssistantMessage, ThinkingBlock};

/// The tags of reasoning: DeepSeek R1, Qwen 3, GLM 4.5 and Phi-4-reasoning (model cards, chat templates); EXAONE Deep;
/// Magistral (Mistral documentation, Reasoning); Seed-OSS (model card); Sky-T1 and others that follow its template.
const TAGS: [(&str, &str); 6] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
];

/// So many blanks in front of a tag belong to an answer.
const MOST_BLANK: usize = 1_000;

/// Where in the answer the decoder is.
#[derive(Debug, Default, PartialEq)]
enum ThinkingState {
    /// Nothing but blanks and the beginning of a tag has come.
    #[default]
    Begin,
    Thinking(&'static str),
    /// The blanks between the reasoning and the answer.
    Between,
    Answer,
}

/// Splits text as it arrives.
#[derive(Debug, Default)]
struct ThinkingSplitter {
    state: ThinkingState,
    held: String,
}

impl ThinkingSplitter {
    fn push(&mut self, text: &str, events: &mut Vec<StreamEvent>) {
        self.held.push_str(text);
        loop {
            match self.state {
                ThinkingState::Begin => {
                    let begun = self.held.trim_start();
                    if let Some((open, close)) = TAGS.iter().find(|(open, _)| begun.starts_with(open)) {
                        self.held = begun.get(open.len()..).unwrap_or_default().into();
                        self.state = ThinkingState::Thinking(close);
                    } else if self.held.len() < MOST_BLANK
                        && TAGS.iter().any(|(open, _)| open.starts_with(begun))
                    {
                        return;
                    } else {
                        self.state = ThinkingState::Answer;
                    }
                }
                ThinkingState::Thinking(close) => match self.held.split_once(close) {
                    Some((thinking, rest)) => {
                        let (thinking, rest) = (thinking.to_string(), rest.to_string());
                        push_some(StreamEvent::Thinking, thinking, events);
                        self.held = rest;
                        self.state = ThinkingState::Between;
                    }
                    None => {
                        // The end of what has come may be the beginning of the tag.
                        let starts = self.held.char_indices().map(|(at, _)| at);
                        let is_tag =
                            |at: &usize| self.held.get(*at..).is_some_and(|end| close.starts_with(end));
                        let at = starts.into_iter().find(is_tag).unwrap_or(self.held.len());
                        let held = self.held.split_off(at);
                        push_some(StreamEvent::Thinking, std::mem::replace(&mut self.held, held), events);
                        return;
                    }
                },
                ThinkingState::Between => {
                    self.held = self.held.trim_start().into();
                    if self.held.is_empty() {
                        return;
                    }
                    self.state = ThinkingState::Answer;
                }
                ThinkingState::Answer => {
                    return push_some(StreamEvent::Text, std::mem::take(&mut self.held), events);
                }
            }
        }
    }

    /// Something else than text follows, or nothing.
    fn end(&mut self, events: &mut Vec<StreamEvent>) {
        let kind = if matches!(self.state, ThinkingState::Thinking(_)) {
            StreamEvent::Thinking
        } else {
            StreamEvent::Text
        };
        push_some(kind, std::mem::take(&mut self.held), events);
    }
}

fn push_some(kind: fn(String) -> StreamEvent, text: String, events: &mut Vec<StreamEvent>) {
    if !text.is_empty() {
        events.push(kind(text));
    }
}

/// The reasoning at the beginning of a whole text, and the answer; `None` if the text is an answer only.
fn split(text: &str) -> Option<(&str, &str)> {
    let begun = text.trim_start();
    if let Some((open, close)) = TAGS.iter().find(|(open, _)| begun.starts_with(open)) {
        let inner = begun.get(open.len()..)?;
        // Without its end all of it is reasoning.
        let (thinking, answer) = inner.split_once(close).unwrap_or((inner, ""));
        return Some((thinking.trim(), answer.trim_start()));
    }
    // Templates that begin the answer with the tag leave only its end, on a line of its own.
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("```") {
            return None;
        }
        if TAGS.iter().any(|(_, close)| line.trim() == *close) {
            let answer = text.get(start + line.len()..)?;
            return Some((text.get(..start)?.trim(), answer.trim_start()));
        }
        start += line.len();
    }
    None
}

/// A decoder whose text may begin with reasoning.
pub(crate) struct ThinkingTextDecoder {
    inner: Box<dyn AnswerDecoder>,
    splitter: ThinkingSplitter,
}

impl ThinkingTextDecoder {
    pub(crate) fn new(inner: Box<dyn AnswerDecoder>) -> ThinkingTextDecoder {
        ThinkingTextDecoder { inner, splitter: ThinkingSplitter::default() }
    }
}

/// The answer with the reasoning of its first text as reasoning.
fn divided(mut answer: AssistantMessage) -> AssistantMessage {
    let first = answer.blocks.iter().position(|block| !matches!(block, AssistantBlock::Thinking(_)));
    let Some(at) = first else { return answer };
    let Some(AssistantBlock::Text { text }) = answer.blocks.get(at) else { return answer };
    let Some((thinking, said)) = split(text) else { return answer };
    let mut blocks = Vec::new();
    if !thinking.is_empty() {
        let thinking = ThinkingBlock { text: thinking.into(), ..ThinkingBlock::default() };
        blocks.push(AssistantBlock::Thinking(thinking));
    }
    if !said.is_empty() {
        blocks.push(AssistantBlock::Text { text: said.into() });
    }
    answer.blocks.splice(at..=at, blocks);
    answer
}

impl AnswerDecoder for ThinkingTextDecoder {
    fn feed(&mut self, event: &str, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        let mut events = Vec::new();
        for event in self.inner.feed(event, data)? {
            match event {
                StreamEvent::Text(text) => self.splitter.push(&text, &mut events),
                StreamEvent::Finished(answer) => {
                    self.splitter.end(&mut events);
                    events.push(StreamEvent::Finished(divided(answer)));
                }
                event => {
                    if matches!(event, StreamEvent::CallStarted { .. }) {
                        self.splitter.end(&mut events);
                    }
                    events.push(event);
                }
            }
        }
        Ok(events)
    }

    fn is_whole(&self) -> bool {
        self.inner.is_whole()
    }

    fn cut(&mut self) -> AssistantMessage {
        divided(self.inner.cut())
    }

    fn held_back(&mut self) -> Vec<StreamEvent> {
        let mut events = self.inner.held_back();
        self.splitter.end(&mut events);
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown as reasoning and as text of a text that comes in pieces of so many characters.
    fn shown(text: &str, size: usize) -> (String, String) {
        let mut splitter = ThinkingSplitter::default();
        let mut events = Vec::new();
        let letters: Vec<char> = text.chars().collect();
        for piece in letters.chunks(size) {
            splitter.push(&piece.iter().collect::<String>(), &mut events);
        }
        splitter.end(&mut events);
        let (mut thinking, mut said) = (String::new(), String::new());
        for event in events {
            match event {
                StreamEvent::Thinking(text) => thinking.push_str(&text),
                StreamEvent::Text(text) => said.push_str(&text),
                other => panic!("{other:?}"),
            }
        }
        (thinking, said)
    }

    #[test]
    fn reasoning_at_the_beginning_is_reasoning_however_it_arrives() {
        let table = [
            ("<think>\nhm\n</think>\n\nYes.", "hm", "Yes."),
            ("\n<think>hm</think>Yes.", "hm", "Yes."),
            ("<think>\n\n</think>\n\nYes.", "", "Yes."),
            ("<think>hm < 3 </thin> hm</think> Yes </think>.", "hm < 3 </thin> hm", "Yes </think>."),
            ("<think>\nit has no end, and a <tool_call>", "it has no end, and a <tool_call>", ""),
            ("[THINK]hm[/THINK]Yes.", "hm", "Yes."),
            ("<seed:think>hm</seed:think>\nYes.", "hm", "Yes."),
            ("<thought>hm</thought>\n\nYes.", "hm", "Yes."),
        ];
        for (text, thinking, said) in table {
            assert_eq!(split(text), Some((thinking, said)), "{text}");
            for size in [1, 2, 5, 100] {
                let (shown_thinking, shown_text) = shown(text, size);
                assert_eq!((shown_thinking.trim(), shown_text.as_str()), (thinking, said), "{size}: {text}");
            }
        }
    }

    #[test]
    fn a_template_that_begins_with_the_tag_leaves_its_end() {
        assert_eq!(split("hm, so it is\n</think>\n\nYes."), Some(("hm, so it is", "Yes.")));
        assert_eq!(split("</think>\nYes."), Some(("", "Yes.")));
        assert_eq!(split("hm\n</think>"), Some(("hm", "")));
    }

    #[test]
    fn tags_elsewhere_are_text() {
        for text in [
            "Yes.",
            "",
            "  \n",
            "<th>a</th>",
            "<thin",
            "The tag <think> begins reasoning.",
            "`<think>` begins it and `</think>` ends it.",
            "It ends with </think> here.",
            "```\n</think>\n```",
        ] {
            assert_eq!(split(text), None, "{text}");
            for size in [1, 3, 100] {
                assert_eq!(shown(text, size), (String::new(), text.into()), "{text}");
            }
        }
    }

    #[test]
    fn an_answer_of_reasoning_alone_has_no_text() {
        let text = |text: &str| AssistantBlock::Text { text: text.into() };
        let of = |blocks: Vec<AssistantBlock>| {
            divided(AssistantMessage { blocks, ..AssistantMessage::default() }).blocks
        };
        let thinking = |text: &str| {
            AssistantBlock::Thinking(ThinkingBlock { text: text.into(), ..ThinkingBlock::default() })
        };
        assert_eq!(of(vec![text("<think>hm")]), [thinking("hm")]);
        assert_eq!(of(vec![text("<think></think>")]), []);
        assert_eq!(
            of(vec![thinking("a"), text("<think>b</think>c")]),
            [thinking("a"), thinking("b"), text("c")]
        );
        assert_eq!(of(vec![text("c"), text("<think>b</think>")]), [text("c"), text("<think>b</think>")]);
    }
}
