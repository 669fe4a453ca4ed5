//! Programs in a terminal inside the view, in the real binary: job control, sizes, bytes, ends of every kind, and
//! placet's page.

use crate::support::program::placet;
use crate::support::pty::{Pty, Start, shell};
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::wait;
use rustix::process::Signal;
use std::time::{Duration, Instant};

fn run(line: &str) -> Start {
    shell().arg("run").arg("--").arg(line)
}

/// The processes whose command line contains `mark`, which no other test uses.
fn running(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(line) = std::fs::read(entry.path().join("cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(mark) && entry.file_name().to_string_lossy().parse::<u32>().is_ok() {
            found.push(line);
        }
    }
    found
}

fn assert_nothing_left(mark: &str) {
    wait::until_eq(&Vec::new(), || running(mark));
}

#[test]
fn a_program_has_a_terminal_of_the_view_and_its_exit_code_is_placets() {
    if !has_view() {
        return;
    }
    let line = "test -t 0 && test -t 1 && test -t 2 && tty && stty size && echo spoken > /dev/tty; exit 7";
    let mut pty = run(line).size(81, 25).spawn();
    assert_eq!(pty.ended(), 7, "{}", pty.screen());
    let screen = pty.screen();
    for expected in ["/dev/pts/0", "25 81", "spoken", "no changes"] {
        assert!(screen.contains(expected), "{expected} is missing:\n{screen}");
    }
    assert!(pty.is_cooked() && pty.modes_on().is_empty(), "{:?}", pty.modes_on());
    let mut killed = run("kill -9 $$").spawn();
    assert_eq!(killed.ended(), 137, "{}", killed.screen());
}

#[test]
fn a_shell_in_it_has_job_control() {
    if !has_view() || !require("bash") {
        return;
    }
    let mut pty = run("PS1='in> ' exec bash --norc").spawn();
    pty.until("the shell", |screen| screen.contains("in>"));
    pty.line("sleep 71.1");
    pty.until("the job", |_| !running("sleep 71.1").iter().all(|line| line.contains("bash")));
    pty.send("\x1a");
    pty.until("the stop", |screen| screen.contains("Stopped"));
    pty.line("fg");
    // The typed line, the report of the stop, and now the job again.
    pty.until("the job in the foreground", |screen| screen.matches("sleep 71.1").count() >= 3);
    pty.send("\x03");
    pty.line("echo code-$((100+$?))");
    pty.until("the interrupt", |screen| screen.contains("code-230"));
    pty.line("exit 5");
    assert_eq!(pty.ended(), 5, "{}", pty.screen());
}

#[test]
fn ctrl_z_stops_placet_as_a_job_and_fg_continues_the_program() {
    if !has_view() || !require("bash") {
        return;
    }
    let mut pty = shell().program("bash").arg("--norc").variable("PS1", "out> ").spawn();
    pty.until("the shell", |screen| screen.contains("out>"));
    pty.line(&format!("{} run -- sh -c 'stty -echo; echo re\\ady; cat'", placet()));
    pty.until("the program", |screen| screen.contains("ready"));
    let echoed = |pty: &Pty, word: &str| {
        pty.until(word, |screen| screen.contains(word));
    };
    pty.send("first\r");
    echoed(&pty, "first");
    pty.send("\x1a");
    pty.until("the stop", |screen| screen.contains("Stopped"));
    pty.until("a prompt of the shell", |screen| screen.trim_end().ends_with("out>"));
    pty.line("fg");
    pty.send("second\r");
    echoed(&pty, "second");
    pty.send("\x04");
    pty.until("the end of placet", |screen| {
        screen.contains("no changes") && screen.trim_end().ends_with("out>")
    });
    pty.line("echo code-$((100+$?))");
    pty.until("the end", |screen| screen.contains("code-100"));
    assert!(pty.modes_on().iter().all(|mode| *mode == "bracketed paste"), "{:?}", pty.modes_on());
}

#[test]
fn the_question_is_drawn_again_after_a_resize_and_counts_only_what_was_drawn() {
    if !has_view() {
        return;
    }
    let lines = "for i in $(seq 30); do echo line$i >> a; done";
    let mut pty = run(lines).size(60, 12).spawn();
    pty.until("the question", |screen| screen.contains("apply?"));
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    // The difference does not fit. Without a key it is drawn where it does.
    assert!(!pty.screen().contains("line29"), "{}", pty.screen());
    pty.resize(100, 44);
    pty.until("the difference", |screen| screen.contains("line1") && screen.contains("line30"));

    // Smaller again: what was shown for a moment in which it could be read has been seen, and one key applies it.
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    pty.resize(50, 14);
    pty.until("the narrow question", |screen| screen.contains("apply?") && !screen.contains("a moment"));
    pty.answer("a");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert_eq!(pty.read("a").lines().count(), 30);

    // Large for less than a moment: nobody has read it.
    let mut pty = run(lines).size(60, 12).spawn();
    pty.until("the question", |screen| screen.contains("apply?"));
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    pty.resize(100, 44);
    pty.until("the difference", |screen| screen.contains("line30"));
    pty.resize(60, 12);
    pty.until("the narrow question", |screen| !screen.contains("line30") && !screen.contains("a moment"));
    pty.answer("a");
    pty.until("what was not shown", |screen| screen.contains("[Back]"));
    assert!(!pty.exists("a"), "{}", pty.screen());
    pty.signal(Signal::HUP);
    pty.ended();

    // An Enter that comes before the larger window was drawn answers what was on the screen: not all of it.
    let mut pty = run(lines).size(60, 12).spawn();
    pty.until("the question", |screen| screen.contains("apply?"));
    pty.until_answers_count();
    pty.resize(100, 44);
    pty.send("\r");
    pty.until("the difference", |screen| screen.contains("line30"));
    assert!(!pty.exists("a"), "{}", pty.screen());
    pty.signal(Signal::HUP);
    pty.ended();
}

#[test]
fn a_resize_storm_ends_with_the_right_size() {
    if !has_view() {
        return;
    }
    let mut pty = run("echo ready; while read x; do stty size; done").spawn();
    pty.until("the program", |screen| screen.contains("ready"));
    for step in 0..200u16 {
        pty.resize(40 + step % 60, 10 + step % 20);
    }
    pty.resize(66, 17);
    pty.send("\r");
    let mut tries = 0;
    while !pty.screen().contains("17 66") {
        tries += 1;
        assert!(tries < 100, "{}", pty.screen());
        std::thread::sleep(Duration::from_millis(50));
        pty.send("\r");
    }
    pty.send("\x04");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
}

#[test]
fn every_byte_passes_unchanged() {
    if !has_view() {
        return;
    }
    let mut content: Vec<u8> = Vec::new();
    let mut seed = 7u32;
    for _ in 0..100_000 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Without ESC and the first byte of a C1 control, which could begin what is refused.
        content.push(match (seed >> 24) as u8 {
            0x1b | 0xc2 => b'.',
            byte => byte,
        });
    }
    // What is more than plain text comes first: placet asks the terminal before it.
    let line = "stty -opost -echo; printf '\\303\\251BEGIN'; cat content; printf END";
    let mut pty = run(line).file("content", &content).spawn();
    assert_eq!(pty.ended(), 0);
    let raw = pty.raw();
    let begin = raw.windows(5).position(|part| part == b"BEGIN").unwrap() + 5;
    assert!(raw[begin..].starts_with(&content) && raw[begin + content.len()..].starts_with(b"END"));
}

#[test]
fn ten_thousand_random_sequences_leave_the_terminal_as_it_was() {
    if !has_view() {
        return;
    }
    let mut seed = 11u32;
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    let modes = [1, 6, 7, 9, 25, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1049, 2004, 2026];
    let mut content = String::new();
    for _ in 0..10_000 {
        let mode = modes[next(modes.len() as u32) as usize];
        let number = next(30);
        content.push_str(&match next(9) {
            0 | 1 => format!("\x1b[?{mode}h"),
            2 => format!("\x1b[?{mode}l"),
            3 => format!("\x1b[{number}m"),
            4 => format!("\x1b[{};{}r", 1 + number % 10, 11 + number % 10),
            5 => "\x1b=".to_string(),
            6 => format!("\x1b[>{}u", number % 8),
            7 => format!("\x1b]2;title {number}\x07"),
            _ => format!("\x1b[{};{}Htext", 1 + number, number),
        });
    }
    let mut pty = run("cat content; exit 3").file("content", content).spawn();
    assert_eq!(pty.ended(), 3);
    assert!(pty.is_cooked());
    assert_eq!(pty.modes_on(), Vec::<&str>::new());
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    assert_eq!((raw.matches("\x1b[22;0t").count(), raw.matches("\x1b[23;0t").count()), (1, 1));
}

#[test]
fn whatever_ends_nothing_is_left_running() {
    if !has_view() {
        return;
    }
    for (number, how) in ["placet", "hangup", "term"].into_iter().enumerate() {
        let mark = format!("sleep 8{number}.25");
        let mut pty = run(&format!("echo made > made; echo ready; {mark} & {mark}; wait")).spawn();
        pty.until("the program", |screen| screen.contains("ready"));
        match how {
            "placet" => pty.signal(Signal::KILL),
            "hangup" => pty.signal(Signal::HUP),
            _ => pty.signal(Signal::TERM),
        }
        assert_nothing_left(&mark);
        if how != "placet" {
            assert_eq!(pty.ended(), 3, "{how}: its changes are pending");
            assert!(pty.is_cooked(), "{how}");
            let mut shown = shell().after(pty).arg("changes").spawn();
            shown.ended();
            assert!(shown.screen().contains("made"), "{how}: the layers are kept:\n{}", shown.screen());
        }
    }
}

#[test]
fn a_killed_placet_leaves_a_usable_terminal() {
    if !has_view() {
        return;
    }
    let modes = "printf '\\033[?1049h\\033[?1003h\\033[?2004h\\033[>1u\\033[?25lready'; read x";
    for opens_page in [false, true] {
        let mut pty = run(modes).spawn();
        pty.until("the program", |screen| screen.contains("ready"));
        pty.until("its modes", |_| pty.modes_on().contains(&"mouse"));
        if opens_page {
            pty.send("\x1d");
            pty.until("the page", |screen| screen.contains("Processes"));
        }
        assert!(!pty.is_cooked());
        pty.signal(Signal::KILL);
        wait::until_eq(&(true, Vec::new()), || (pty.is_cooked(), pty.modes_on()));
        // The guard has the terminal open until it has ended. Other tests have guards, too.
        pty.ended();
    }
}

#[test]
fn a_placet_that_is_killed_at_its_question_leaves_a_usable_terminal() {
    if !has_view() {
        return;
    }
    for opens_review in [false, true] {
        let mut pty = run("echo new > made").size(80, 24).spawn();
        pty.until("the question", |screen| screen.contains("[Apply]"));
        // A rule sets the question off from what the program wrote.
        let screen = pty.screen();
        let above = screen.lines().take_while(|row| !row.contains("apply?")).last();
        assert!(above.is_some_and(|row| row.starts_with("────")), "{screen}");
        if opens_review {
            pty.until("keys to count", |screen| !screen.contains("a moment"));
            pty.answer("r");
            pty.until("the review", |screen| screen.contains("accept") && !screen.contains("[Apply]"));
        }
        assert!(!pty.is_cooked());
        pty.signal(Signal::KILL);
        pty.ended();
        assert!(pty.is_cooked() && pty.modes_on().is_empty(), "{opens_review}: {:?}", pty.modes_on());
        if opens_review {
            let main = pty.transcript();
            assert!(main.contains("runs in a view") && !main.contains("accept"), "the main screen: {main}");
        }
    }
}

#[test]
fn a_placet_that_is_killed_at_any_moment_leaves_a_usable_terminal() {
    const MOMENTS: u32 = 20;
    if !has_view() {
        return;
    }
    for line in ["echo ready; read x", "echo ready"] {
        let started = Instant::now();
        let pty = run(line).spawn();
        pty.until("the program", |screen| screen.contains("ready"));
        let start = started.elapsed();
        // The other one may have ended by now.
        assert!(line == "echo ready" || !pty.is_cooked(), "placet has the terminal");
        drop(pty);
        for moment in 0..=MOMENTS {
            let mut pty = run(line).spawn();
            // The last ones are after the start.
            std::thread::sleep(start * moment / (MOMENTS - 4));
            pty.signal(Signal::KILL);
            // The guard has the terminal open until it has ended.
            pty.ended();
            assert!(pty.is_cooked(), "`{line}`, moment {moment} of {start:?}\n{}", pty.screen());
        }
    }
}

#[test]
fn a_killed_placet_restores_the_terminal_of_a_session_that_goes_on() {
    if !has_view() {
        return;
    }
    let placet = format!("{} run -- \"echo ready; sleep 87.25\"", placet());
    let script = format!("sh -c 'echo $$ > ../placet.pid; exec {placet}'; echo after; read x");
    let mut pty = shell()
        .program("sh")
        .arg("-c")
        .arg("mkdir work; cd work; sh ../script")
        .file("script", script)
        .spawn();
    pty.until("the program", |screen| screen.contains("ready"));
    assert!(!pty.is_cooked());
    let pid = pty.read("placet.pid").trim().parse().unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    pty.until("the session", |screen| screen.contains("after"));
    wait::until("a cooked terminal", || pty.is_cooked());
    pty.send("\r");
    pty.ended();
    assert_nothing_left("sleep 87.25");
}

#[test]
fn a_terminal_that_is_killed_ends_the_program() {
    if !has_view() || !require("script") {
        return;
    }
    let mark = "sleep 84.25";
    let line = format!("{} run -- 'echo ready; {mark} & {mark}; wait'", placet());
    let pty = shell().program("script").arg("-qc").arg(&line).arg("/dev/null").spawn();
    pty.until("the program", |screen| screen.contains("ready"));
    pty.signal(Signal::KILL);
    assert_nothing_left(mark);
}

#[test]
fn input_from_a_pipe_is_the_programs_and_keys_come_from_the_terminal() {
    if !has_view() || !require("bash") {
        return;
    }
    let mut pty = shell().program("bash").arg("--norc").variable("PS1", "out> ").spawn();
    pty.until("the shell", |screen| screen.contains("out>"));
    let program =
        "cat; test -t 0 || echo pipe-in; test -t 1 && echo terminal-out; read x < /dev/tty; echo got-$x";
    std::fs::write(pty.tree.path().join("program"), program).unwrap();
    pty.line(&format!("echo typed-before | {} run -- sh program", placet()));
    pty.until("the program", |screen| screen.contains("terminal-out"));
    let screen = pty.screen();
    assert!(screen.contains("pipe-in") && screen.matches("typed-before").count() == 2, "{screen}");
    pty.send("key\r");
    // What is typed before the program has ended is for the program.
    pty.until("the end", |screen| screen.contains("got-key") && screen.trim_end().ends_with("out>"));
    pty.line(&format!("{} run -- 'test -t 1 || echo no terminal' | tr a-z A-Z", placet()));
    pty.until("a pipe", |screen| screen.contains("NO TERMINAL"));
}

#[test]
fn the_page_shows_what_happened_and_gives_the_screen_back() {
    if !has_view() {
        return;
    }
    let draw = "printf '\\033[?1049h\\033[H\\033[2J\\033[1;31mred\\033[0m and plain\\033[5;7H\\033[?1000h'";
    let line = format!("echo new > made; {draw}; read x; printf '\\033[?1049lafter-%s' \"$x\"; read y");
    let mut pty = run(&line).size(70, 20).spawn();
    pty.until("the program's screen", |screen| screen.contains("and plain"));
    pty.until("the mouse", |_| pty.modes_on().contains(&"mouse"));
    let (before, modes) = (pty.picture(), pty.modes_on());
    for opener in ["\x1d", "\x1b[93;5u"] {
        pty.send(opener);
        pty.until("the page", |screen| screen.contains("A made") && screen.contains("Processes"));
        assert!(!pty.modes_on().contains(&"mouse"), "{:?}", pty.modes_on());
        pty.send("\x1b");
        pty.until("the program's screen", |screen| screen.contains("and plain"));
        wait::until_eq(&(before.clone(), modes.clone()), || (pty.picture(), pty.modes_on()));
    }
    // The difference of a file opens over the page, and leads back to it.
    pty.send("\x1d");
    pty.until("the counts", |screen| screen.contains("❯  A made  +1 -0") && screen.contains("Enter show"));
    assert!(!pty.screen().contains("a allow"), "{}", pty.screen());
    pty.send("\r");
    pty.until("the difference", |screen| screen.contains("1 + new") && !screen.contains("Processes"));
    pty.send("q");
    pty.until("the page again", |screen| screen.contains("Processes"));
    pty.send("q");
    pty.until("the program's screen", |screen| screen.contains("and plain"));
    wait::until_eq(&(before.clone(), modes.clone()), || (pty.picture(), pty.modes_on()));
    pty.send("typed\r");
    pty.until("the program goes on", |screen| screen.contains("after-typed"));
    // Over the main screen, which the terminal remembers by itself; and the page closes when the program ends.
    let before = pty.picture();
    pty.send("\x1d");
    pty.until("the page", |screen| screen.contains("A made"));
    pty.send("\x1d");
    pty.until("the program's screen", |screen| screen.contains("after-typed") && !screen.contains("A made"));
    assert_eq!(pty.picture(), before);
    pty.send("\r");
    pty.until("the question", |screen| screen.contains("[Apply]"));
    pty.answer("d");
    pty.until("the second look", |screen| screen.contains("[Keep]"));
    pty.answer("d");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert!(!pty.exists("made"));
}

/// Story: `sh` was listed next to the program that a person had started by its name.
#[test]
fn the_page_lists_a_program_without_the_shell_that_started_it() {
    if !has_view() {
        return;
    }
    let mut pty = run("cat").spawn();
    pty.send("ready\r");
    pty.until("the program", |screen| screen.matches("ready").count() > 1);
    pty.send("\x1d");
    pty.until("the page", |screen| {
        let from = screen.split_once("Processes");
        from.is_some_and(|(_, rest)| rest.split_whitespace().take(2).eq(["1", "cat"]))
    });
    pty.send("q");
    pty.until("the program again", |screen| screen.contains("ready"));
    pty.send("\x04");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
}

/// Story: the page counted 16 changes and listed git's objects, and the question said `1 file and 1 repository`.
#[test]
fn the_page_counts_as_the_question_does() {
    if !has_view() || !crate::support::require::require("git") {
        return;
    }
    let git = "git -c user.name=A -c user.email=a@x";
    let line = format!("git init -q -b main . && {git} commit -q --allow-empty -m First && echo made-it");
    let mut pty = run(&format!(
        "{line}; read x; echo 1 > a.py; mkdir d; echo 2 > d/b.py; git add a.py; {git} commit -qm nine; read y"
    ))
    .size(100, 24)
    .spawn();
    pty.until("the repository", |screen| screen.contains("made-it"));
    pty.send("\x1d");
    pty.until("a new repository", |screen| {
        screen.contains("Changes so far  1 repository") && screen.contains("A .git")
    });
    pty.send("q");
    pty.send("\r");
    pty.until("the program's screen", |screen| !screen.contains("Changes so far"));
    std::thread::sleep(Duration::from_millis(500));
    pty.send("\x1d");
    pty.until("the counts", |screen| screen.contains("Changes so far  2 files and 1 repository"));
    let screen = pty.screen();
    assert!(screen.contains("A d/b.py  +1 -0"), "{screen}");
    assert!(!screen.contains("objects") && !screen.contains("A d\n"), "{screen}");
    pty.send("q");
    pty.send("\r");
    pty.until("the question", |screen| screen.contains("2 files and 1 repository, +2 -0 lines: apply?"));
}

#[test]
fn output_while_the_page_is_open_follows_it() {
    if !has_view() {
        return;
    }
    let program = "echo ready; sleep 1; seq 1 3000; echo end-of-it; read x";
    let mut pty = run("sh program").file("program", program).spawn();
    pty.until("the program", |screen| screen.contains("ready"));
    pty.send("\x1d");
    pty.until("the page", |screen| screen.contains("Processes"));
    // The program waits for its input by now, and not for its output.
    pty.until("the end of its sleep", |screen| !screen.contains("sleep"));
    pty.send("q");
    pty.until("what was held", |screen| screen.contains("end-of-it") && screen.contains("3000"));
    assert!(pty.transcript().contains("1\n2\n3\n"));
    pty.send("\r");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
}

/// The run has no terminal, so that one terminal of the test is enough.
#[test]
fn the_page_of_a_run_is_shown_in_another_terminal() {
    if !has_view() || !require("getent") {
        return;
    }
    let program = "touch made; until getent hosts pkg.example.org > found; do sleep 0.05; done";
    let script = format!(
        "{0} run --apply --network example.org -- sh program < /dev/null > out 2>&1 &\n\
         until {0} runs | grep -q program; do sleep 0.05; done\n\
         {0} runs page; echo page-$?; wait; cat found; {0} runs page; echo none-$?",
        placet()
    );
    let mut pty = shell().program("sh").arg("script").file("script", script).file("program", program).spawn();
    pty.until("the page", |screen| screen.contains("A made") && screen.contains("Processes"));
    pty.until("its facts", |screen| {
        screen.contains("sh program") && screen.contains("refused   pkg.example.org")
    });
    pty.send("/refused\r");
    pty.send("a");
    pty.until("the end", |screen| screen.contains("page-0") && screen.contains("none-"));
    let screen = pty.screen();
    assert!(screen.contains("sh program has ended") && screen.contains("198.1"), "{screen}");
    assert!(screen.contains("error: nothing is running") && screen.contains("none-1"), "{screen}");
    assert!(pty.exists("made"));
}

#[test]
fn what_placet_says_at_the_end_begins_a_row() {
    if !has_view() {
        return;
    }
    let mut pty = run("printf half").spawn();
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    let screen = pty.screen();
    assert!(screen.lines().any(|line| line.trim_end() == "half"), "{screen}");
    let mut stopped = run("printf 'prompt> '; read x").spawn();
    stopped.until("the program", |screen| screen.contains("prompt>"));
    stopped.signal(Signal::TERM);
    assert_ne!(stopped.ended(), 0);
    let screen = stopped.screen();
    assert!(screen.lines().any(|line| line.trim_end() == "prompt>"), "{screen}");
}
