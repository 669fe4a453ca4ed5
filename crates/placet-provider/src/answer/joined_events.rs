//! Events that are handed over together: neighbouring pieces of text are one event.

use crate::StreamEvent;

#[derive(Default)]
pub(crate) struct JoinedEvents(Vec<StreamEvent>);

impl JoinedEvents {
    pub(crate) fn push(&mut self, event: StreamEvent) {
        match (self.0.last_mut(), event) {
            (Some(StreamEvent::Text(text)), StreamEvent::Text(more))
            | (Some(StreamEvent::Thinking(text)), StreamEvent::Thinking(more)) => text.push_str(&more),
            (Some(StreamEvent::CallArguments { bytes }), StreamEvent::CallArguments { bytes: more }) => {
                *bytes += more;
            }
            (_, event) => self.0.push(event),
        }
    }

    pub(crate) fn take(self) -> Vec<StreamEvent> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_neighbours_of_one_kind_are_joined() {
        let text = |text: &str| StreamEvent::Text(text.into());
        let thinking = |text: &str| StreamEvent::Thinking(text.into());
        let arguments = |bytes| StreamEvent::CallArguments { bytes };
        let mut joined = JoinedEvents::default();
        let all = [text("a"), text("b"), thinking("c"), thinking("d"), text("e"), arguments(1), arguments(2)];
        all.into_iter().for_each(|event| joined.push(event));
        assert_eq!(joined.take(), [text("ab"), thinking("cd"), text("e"), arguments(3)]);
    }
}
