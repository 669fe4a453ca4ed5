//! What servers of tools ask for during a call, forms and answers of the model, and what they offer to a person: resources
//! and prompts.

use super::mcp_client::{SERVER, call, is_possible, place, settings, talk};
use crate::support::binary::Place;
use crate::support::mock_server::{Reply, Say};
use crate::support::pty::{Pty, shell};

fn open(lines: u16) -> Pty {
    open_with(lines, "")
}

fn open_with(lines: u16, script: &str) -> Pty {
    let config = format!("provider = \"offline\"\n{}", settings("s", "server.py".as_ref(), script, ""));
    let start = shell().size(100, lines).arg("--mode").arg("ask").arg("--allow").arg("mcp(*)");
    start.file("server.py", SERVER).config(&config).open()
}

/// Waits for a question with `what`, and answers it.
fn answer(pty: &mut Pty, what: &str, key: &str) -> String {
    pty.until(what, |screen| screen.contains(what));
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    let screen = pty.screen();
    pty.answer(key);
    screen
}

#[test]
fn without_a_person_every_form_and_every_prompt_is_declined() {
    if !is_possible() {
        return;
    }
    let place = place("", "");
    let said = |words: &str| call(&place, "s__act", &format!("{{\"text\": \"{words}\"}}"), &[]).stdout;
    assert!(said("form two").contains(r#"{"action": "decline"}"#));
    assert!(said("forms").contains("100"));
    assert!(said("form huge").contains("the schema is larger than 16000 bytes"), "{}", said("form huge"));
    assert!(said("form nested").contains(r#""code": -326"#), "{}", said("form nested"));
    assert!(said("sample").contains("nobody allowed it"), "{}", said("sample"));
}

#[test]
fn a_form_is_answered_field_by_field_and_the_server_gets_what_was_shown() {
    if !is_possible() {
        return;
    }
    let mut pty = open(40);
    pty.line("call s__act {\"text\": \"form two\"}");
    crate::consent::typed_sentences::are_text_at(&mut pty, "the server s asks for input: answer it?");
    let asked = answer(&mut pty, "the server s asks for input: answer it?", "y");
    assert!(asked.contains("  Which<U+200B> day?") && asked.contains("  arguments:"), "{asked}");
    assert!(asked.contains("  colour: one of red, green"), "{asked}");
    // Esc declines at every question of a server, and the row below does not say otherwise.
    assert!(asked.contains("[Answer] · No · ") && !asked.contains("Esc stops"), "{asked}");
    let field = answer(&mut pty, "the server s asks:", "2\r");
    assert!(field.contains("Esc declines") && !field.contains("Esc stops"), "{field}");
    let count = answer(&mut pty, "count: a whole number; the server proposes 3; not required", "1\r");
    assert!(count.contains("[1] 3") && count.contains("2  leave it out"), "{count}");
    let sent = answer(&mut pty, "send this to the server s?", "y");
    assert!(sent.contains("\"colour\": \"green\"") && sent.contains("\"count\": 3"), "{sent}");
    pty.until("the result", |screen| screen.contains(r#""action": "accept""#));
    pty.until_prompt("");
    // A value that is not required is left out by its own key.
    pty.line("call s__act {\"text\": \"form two\"}");
    answer(&mut pty, "the server s asks for input: answer it?", "y");
    answer(&mut pty, "the server s asks:\n", "1\r");
    answer(&mut pty, "count: a whole number; the server proposes 3; not required", "2\r");
    let sent = answer(&mut pty, "send this to the server s?", "y");
    let shown = sent.split("send this to the server s?").last().unwrap();
    assert!(shown.contains("\"colour\": \"red\"") && !shown.contains("\"count\""), "{sent}");
    pty.until("the result", |screen| screen.matches(r#""action": "accept""#).count() > 2);
    pty.line("/quit");
}

#[test]
fn an_answer_that_the_schema_refuses_is_asked_for_again_and_esc_declines() {
    if !is_possible() {
        return;
    }
    let mut pty = open(40);
    pty.line("call s__act {\"text\": \"form day\"}");
    answer(&mut pty, "the server s asks for input: answer it?", "y");
    pty.until("the field", |screen| screen.contains("day: a date (YYYY-MM-DD)"));
    pty.line("tomorrow");
    pty.until("the same again", |screen| screen.contains("asks again, because it is not a date"));
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    pty.answer("\x1b");
    pty.until("the result", |screen| screen.contains(r#"{"action": "decline"}"#));
    // A server that asks on and on is stopped by one key.
    pty.line("call s__act {\"text\": \"forms\"}");
    answer(&mut pty, "the server s asks for input: answer it?", "v");
    pty.until("the result", |screen| screen.lines().any(|line| line.trim_end().ends_with("100")));
    pty.line("/quit");
}

#[test]
fn a_prompt_for_the_model_is_shown_whole_and_so_is_the_answer() {
    if !is_possible() {
        return;
    }
    let mut pty = open(40);
    pty.line("call s__act {\"text\": \"sample\"}");
    let asked = answer(&mut pty, "the server s wants to ask your model: send this?", "y");
    assert!(asked.contains("  Who<U+200B> are you?") && asked.contains("  Be brief"), "{asked}");
    assert!(asked.contains("nothing of your conversation"), "{asked}");
    assert!(asked.contains("during a call of act"), "{asked}");
    answer(&mut pty, "send the answer of the model to the server s?", "y");
    pty.until("the result", |screen| screen.contains(r#""role": "assistant""#));
    pty.until_prompt("");
    // A no to the text sends nothing to the model, and a no to the answer sends nothing to the server.
    pty.line("call s__act {\"text\": \"sample\"}");
    answer(&mut pty, "the server s wants to ask your model: send this?", "n");
    pty.until("the refusal", |screen| screen.contains("nobody allowed it"));
    pty.until_prompt("");
    pty.line("call s__act {\"text\": \"sample\"}");
    answer(&mut pty, "the server s wants to ask your model: send this?", "y");
    answer(&mut pty, "send the answer of the model to the server s?", "n");
    // Each refusal is in the row of the call, and in the answer.
    pty.until("the refusal", |screen| screen.matches("nobody allowed it").count() == 4);
    pty.until_prompt("");
    // The server can be told why not.
    pty.line("call s__act {\"text\": \"sample\"}");
    pty.until("the question", |screen| screen.contains("the server s wants to ask your model: send this?"));
    pty.until_answers_count();
    pty.line("it is private");
    pty.until("the reason", |screen| screen.contains("the person refused it: it is private"));
    pty.line("/quit");
}

#[test]
fn resources_are_mentioned_and_prompts_are_commands() {
    if !is_possible() {
        return;
    }
    let mut pty = open_with(40, "offers");
    // The lists are read with the tools, before the first message.
    pty.line("call s__echo {\"text\": \"hello\"}");
    pty.until("the result", |screen| screen.contains("s__echo:"));
    pty.by_hand("see @note");
    pty.until("the menu", |screen| screen.contains("s:note://one"));
    assert!(!pty.screen().contains("bad"), "{}", pty.screen());
    pty.by_hand("\x15");
    pty.line("see @s:note://other");
    pty.until("the resource", |screen| screen.contains("attached s:note://other"));
    pty.line("see @t:note://other");
    pty.until("no such server", |screen| screen.contains("@t:note://other: no such file"));
    pty.by_hand("\x15");
    pty.line("/s:greet");
    pty.until("the usage", |screen| screen.contains("the argument `who` is missing"));
    assert!(pty.screen().contains("/s:greet WHO"), "{}", pty.screen());
    pty.line("/s:greet Ann Lee");
    pty.until("the prompt", |screen| screen.contains("Greet Ann Lee<U+200B> please"));
    // An error is one, and it has no advice for the model.
    pty.line("/s:greet bad");
    pty.until("the refused prompt", |screen| screen.contains("nothing was sent; `/mcp` shows the servers"));
    let refused = "◆ error: the server `s` refused the call: not ␛[31mtoday";
    assert!(pty.screen().contains(refused), "{}", pty.screen());
    pty.line("see @s:note://bad");
    pty.until("the refused resource", |screen| {
        screen.contains("error: @s:note://bad: the server `s` refused the call: not ␛[31mtoday")
    });
    pty.by_hand("\x15");
    // A template without its value is not sent to the server, and the line comes back.
    for (line, value) in [("see @s:guide:// now", "topic"), ("see @s:guide://a/ now", "page")] {
        pty.line(line);
        pty.until("what is missing", |screen| {
            screen.contains(&format!("the address needs a value for `{value}`"))
        });
        pty.until_prompt(line);
        pty.by_hand("\x15");
    }
    pty.line("/help s:greet");
    pty.until("the description", |screen| screen.contains("server s: Greets<U+200B>"));
    pty.line("/quit");
}

/// The menu asks the server that runs what an address could be; typing waits for nothing.
#[test]
fn an_address_of_a_template_is_completed_by_its_server() {
    if !is_possible() {
        return;
    }
    let mut pty = open_with(40, "offers");
    pty.line("call s__echo {\"text\": \"hello\"}");
    pty.until("the result", |screen| screen.contains("s__echo:"));
    pty.by_hand("see @s:gui");
    pty.until("the template", |screen| screen.contains("A guide<U+200B> (guide://{topic}/{page})"));
    pty.by_hand("de://in");
    pty.until("the values", |screen| {
        screen.contains("s:guide://install") && screen.contains("s:guide://internals")
    });
    assert!(!pty.screen().contains("in a b") && !pty.screen().contains("[31m"), "{}", pty.screen());
    pty.by_hand("s");
    pty.until("one value", |screen| !screen.contains("s:guide://internals"));
    pty.by_hand("tall/inst");
    pty.until("the second value", |screen| screen.contains("s:guide://install/install"));
    pty.by_hand("\t");
    pty.until("the chosen value", |screen| screen.contains("see @s:guide://install/install "));
    pty.by_hand("\r");
    pty.until("the resource", |screen| screen.contains("attached s:guide://install/install"));
    pty.line("/quit");
}

#[test]
fn the_level_of_the_log_messages_of_a_server_is_set_in_the_shell() {
    if !is_possible() {
        return;
    }
    let mut pty = open_with(40, "offers");
    pty.line("/mcp log s debug");
    pty.until("not yet", |screen| screen.contains("s is not running"));
    pty.line("call s__echo {\"text\": \"hello\"}");
    pty.until("the result", |screen| screen.contains("s__echo:"));
    pty.line("/mcp log s loud");
    pty.until("the levels", |screen| screen.contains("the levels are debug, info, notice"));
    pty.line("/mcp log s warning");
    pty.until("the new level", |screen| screen.contains("s logs from warning on, until it ends"));
    pty.line("/mcp log s");
    pty.until("the message", |screen| screen.contains("now warning"));
    pty.line("/quit");
    let mut plain = open(40);
    plain.line("call s__echo {\"text\": \"hello\"}");
    plain.until("the result", |screen| screen.contains("s__echo:"));
    plain.line("/mcp log s debug");
    plain.until("no levels", |screen| screen.contains("s does not log over the protocol"));
    plain.line("/quit");
}

#[test]
fn what_a_person_names_is_sent_as_the_server_gave_it_and_a_rule_can_deny_it() {
    if !is_possible() {
        return;
    }
    let denied = settings("s", "server.py".as_ref(), "offers", "");
    let config = format!("provider = \"offline\"\n{denied}");
    let start = shell().size(100, 40).arg("--mode").arg("ask").arg("--deny").arg("mcp(s.resources/read)");
    let mut pty = start.file("server.py", SERVER).config(&config).open();
    pty.line("see @s:note://one");
    pty.until("the refusal", |screen| screen.contains("nothing was sent; change the line"));
    assert!(pty.screen().contains("mcp(s.resources/read)"), "{}", pty.screen());
    pty.by_hand("\x15");
    pty.line("/quit");
}

#[test]
fn each_key_of_the_question_about_a_tool_of_a_server_does_what_its_row_says() {
    if !is_possible() {
        return;
    }
    let config = format!("provider = \"offline\"\n{}", settings("s", "server.py".as_ref(), "", ""));
    for (keys, end) in [
        (&["y"][..], "s__echo:"),
        (&["n"], "you refused this call"),
        (&["m", "v"], "you refused this call: not in this session"),
    ] {
        let start = shell().size(100, 40).arg("--mode").arg("ask");
        let mut pty = start.file("server.py", SERVER).config(&config).open();
        pty.line("call s__echo {\"text\": \"hello\"}");
        pty.until("the question", |screen| screen.contains("No · More") && screen.contains("s__echo"));
        keys.iter().for_each(|key| pty.answer(key));
        pty.until(end, |screen| screen.contains(end));
        pty.until_prompt("");
        if keys.len() > 1 {
            pty.line("call s__echo {\"text\": \"again\"}");
            pty.until("the refusal", |screen| screen.contains("you denied it for this session"));
        }
        pty.line("/quit");
    }
}

#[test]
fn without_a_shell_a_rule_decides_about_a_prompt_and_a_resource_and_a_name_that_means_nothing_is_refused() {
    if !is_possible() {
        return;
    }
    let (place, model) = talk(Place::new(), "offers", "", &[]);
    model.push(Reply::anthropic(&[Say::Text("done")]));
    model.push(Reply::anthropic(&[Say::Text("done")]));
    place.run(["mcp", "test", "s"]).code(0);
    let run = |line: &str| place.run(["--allow", "mcp(*)", "-p", line]);
    run("/s:greet Ann Lee").code(0);
    run("see (@s:note://one), me@s:note://two and @t:note://three").code(0);
    // A path of the machine is text.
    run("/etc is what?").code(0);
    let sent: Vec<String> = model.requests().iter().map(|one| one.body["messages"].to_string()).collect();
    assert!(sent[0].contains("Greet Ann Lee"), "{}", sent[0]);
    assert!(
        sent[1].contains("the content of note://one") && sent[1].contains("see (@s:note://one)"),
        "{}",
        sent[1]
    );
    assert!(!sent[1].contains("the content of note://t"), "{}", sent[1]);
    assert!(sent[2].contains("/etc is what?"), "{}", sent[2]);
    for (line, code, words) in [
        ("/s:greet", 2, "the argument `who` is missing, so nothing was sent\nhint: /s:greet WHO"),
        (
            "/s:nosuch x",
            2,
            "placet knows no prompt `/s:nosuch`, so nothing was sent\nhint: `placet mcp test s`",
        ),
        ("/s:greet bad", 1, "refused the call: not"),
        ("/s:gret Ann", 2, "placet knows no prompt `/s:gret`"),
        ("/nosuch x", 2, "there is no command `/nosuch`, so nothing was sent\nhint: to send it as text"),
        ("/undo", 2, "`/undo` works only in the shell, so nothing was sent"),
        ("see @s:guide://", 1, "@s:guide://: the address needs a value for `topic`\nhint: nothing was sent"),
        ("see @s:note://bad", 1, "@s:note://bad: the server `s` refused the call"),
    ] {
        run(line).code(code).warns(words);
    }
    // Without a rule nobody can be asked.
    place.run(["-p", "/s:greet Ann"]).code(3).warns("mcp(s.prompts/get)").warns("nothing was sent");
    place.run(["-p", "see @s:note://one"]).code(3).warns("mcp(s.resources/read)").warns("nothing was sent");
    assert_eq!(model.requests().len(), 3);
}
