//! The parts of a conversation that another model cannot get, as one sentence for the person. The session stores all of
//! them, and they are sent again as soon as their own model is back.

use crate::request::reduce::images::takes;
use placet_provider::ModelSpec;
use placet_text::conversation::{AssistantBlock, Image, Message, Part};

/// What is not sent when `model` continues the conversation over `wire`; `None` if everything is sent.
pub(crate) fn lost_on_switch(messages: &[Message], model: &ModelSpec, wire: Option<&str>) -> Option<String> {
    let answers = messages.iter().filter(|message| match message {
        Message::Assistant(answer) => {
            let mut proofs = answer.blocks.iter().filter_map(proof_of);
            // The same name over another wire format is another model: it cannot read the proofs of this one.
            proofs.any(|proof| answer.model != model.name || wire.is_some_and(|wire| wire != proof))
        }
        _ => false,
    });
    let untaken = |word: &str| messages.iter().map(|message| count(message, model, word)).sum::<usize>();
    let (pictures, pdfs) = (untaken("picture"), untaken("PDF"));
    let mut lost = Vec::new();
    match answers.count() {
        0 => {}
        1 => lost.push("the reasoning of 1 answer is not sent: only its own model can read it".to_string()),
        n => lost.push(format!("the reasoning of {n} answers is not sent: only their own model can read it")),
    }
    for (word, untaken) in [("picture", pictures), ("PDF", pdfs)] {
        match untaken {
            0 => {}
            1 => lost.push(format!("1 {word} is not sent to {}, which does not accept {word}s", model.name)),
            n => lost
                .push(format!("{n} {word}s are not sent to {}, which does not accept {word}s", model.name)),
        }
    }
    if lost.is_empty() { None } else { Some(lost.join("; ")) }
}

/// The wire format of the proof of a reasoning block.
fn proof_of(block: &AssistantBlock) -> Option<&str> {
    match block {
        AssistantBlock::Thinking(thinking) if thinking.signature.is_some() || thinking.redacted.is_some() => {
            Some(&thinking.wire)
        }
        _ => None,
    }
}

/// How many pictures, or PDFs, of a message `model` does not accept.
fn count(message: &Message, model: &ModelSpec, word: &str) -> usize {
    let left = |image: &&Image| image.word() == word && !takes(model, image);
    let count = |parts: &[Part]| parts.iter().filter_map(Part::as_image).filter(left).count();
    match message {
        Message::User { parts } => count(parts),
        Message::Results { results } => results.iter().map(|result| count(&result.parts)).sum(),
        Message::Assistant(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_provider::ModelCapabilities;
    use placet_text::conversation::{AssistantMessage, Image, ThinkingBlock};

    #[test]
    fn what_another_model_cannot_have_is_counted() {
        let thought = |signature: Option<&str>| {
            let thinking = ThinkingBlock {
                text: "Hm.".into(),
                signature: signature.map(Into::into),
                ..ThinkingBlock::default()
            };
            let blocks =
                vec![AssistantBlock::Thinking(thinking), AssistantBlock::Text { text: "So.".into() }];
            Message::Assistant(AssistantMessage {
                blocks,
                model: "one".into(),
                ..AssistantMessage::default()
            })
        };
        let picture = Part::Image(Image::new("image/png", 1, 1, "p.png", vec![1].into()));
        let messages = [
            Message::User { parts: vec![Part::text("look"), picture] },
            thought(Some("proof")),
            Message::user("and?"),
            thought(None),
        ];
        let model = |name: &str, vision| {
            let capabilities = ModelCapabilities { vision, ..ModelCapabilities::default() };
            ModelSpec { name: name.into(), window: 1000, capabilities }
        };
        assert_eq!(lost_on_switch(&messages, &model("one", true), None), None);
        let reasoning = "the reasoning of 1 answer is not sent: only its own model can read it";
        assert_eq!(lost_on_switch(&messages, &model("two", true), None).as_deref(), Some(reasoning));
        let both = format!("{reasoning}; 1 picture is not sent to two, which does not accept pictures");
        assert_eq!(lost_on_switch(&messages, &model("two", false), None), Some(both));
        assert_eq!(lost_on_switch(&messages, &model("one", true), Some("")), None);
        assert_eq!(
            lost_on_switch(&messages, &model("one", true), Some("gemini")).as_deref(),
            Some(reasoning)
        );
        assert_eq!(lost_on_switch(&[], &model("two", false), None), None);
    }
}
