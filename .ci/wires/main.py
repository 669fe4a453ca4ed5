"""Runs every case over every wire format and holds what was sent to the vendors' types; a line each, red if one is wrong."""

import copy
import json
import pathlib
import signal
import subprocess
import sys
import tempfile

import cases
import person
import schemas
import search
import servers

# What a server cannot do, and why it is no fault of placet's: (server, wire or "", case or "").
NOT_HAD = {
    ("litellm", "", "a_key_that_is_refused_is_told_and_not_shown"): "without a database it answers HTTP 400, `No connected db.`",
    ("aimock", "openai-chat", "a_pdf_is_in_the_request"): "placet sends none in this wire format",
    ("aimock", "gemini", "the_models_are_listed"): "it has no list in this wire format",
    ("litellm", "gemini", "the_models_are_listed"): "it has no list in this wire format",
    ("litellm", "gemini", "too_long_a_conversation_is_told_as_that"): "it answers HTTP 500, and the words of a failing server count for nothing",
    ("litellm", "openai-responses", "an_answer_that_was_too_long_says_so"): "it loses why the model stopped",
}


class Tally:
    def __init__(self, validators):
        self.validators, self.right, self.wrong, self.bodies, self.refused = validators, 0, 0, {}, {}

    def case(self, where, wire, case, ask):
        name = case.__name__.replace("_", " ")
        reason = NOT_HAD.get((where, wire, case.__name__)) or NOT_HAD.get((where, "", case.__name__))
        if reason:
            print(f"not had  {where} {wire}: {name}: {reason}")
            return
        try:
            case(ask)
        except (cases.Wrong, subprocess.TimeoutExpired) as wrong:
            self.wrong += 1
            print(f"WRONG    {where} {wire}: {name}: {wrong}")
        else:
            self.right += 1
            print(f"ok       {where} {wire}: {name}")
        for path, body in getattr(ask, "bodies", []):
            self.body(schemas.wire_of(path), body)

    def body(self, wire, body):
        self.bodies[wire] = self.bodies.get(wire, 0) + 1
        try:
            self.validators[wire](body)
        except (ValueError, KeyError) as error:
            for fault in schemas.faults(error):
                self.refused.setdefault((wire, fault), body)

    def types(self):
        """Says what the vendors' types took and what not; a type that takes a spoilt body checks nothing."""
        for wire, count in sorted(self.bodies.items()):
            faults = [(fault, body) for (at, fault), body in self.refused.items() if at == wire]
            print(f"{'WRONG' if faults else 'ok':8} {wire}: {count} bodies against the vendor's types")
            for fault, body in faults[:6]:
                print(f"           {fault[-300:]}")
            if faults:
                print(f"           the first: {json.dumps(faults[0][1])[:1500]}")
            self.wrong += bool(faults)

    def spoilt(self, wire, body):
        for spoil in (lambda b: b.update(temprature=1), lambda b: first(b).update(bogus=1), lambda b: first(b).update(role=7)):
            bad = copy.deepcopy(body)
            spoil(bad)
            try:
                self.validators[wire](bad)
            except ValueError:
                continue
            self.wrong += 1
            print(f"WRONG    {wire}: the vendor's types take a spoilt body: {json.dumps(bad)[:300]}")


def one_of_all(does):
    """The model of a server that reads the prompt."""
    return {"picture": cases.SEEING, "paper": cases.READING}.get(does, "behind")


def first(body):
    return next(body[name] for name in ("messages", "input", "contents") if name in body)[0]


def run(placet, mock, more):
    tally = Tally(schemas.validators())
    with tempfile.TemporaryDirectory() as work, servers.Servers(work) as started:
        place = person.Place(placet, pathlib.Path(work) / "person")
        aimock = None
        if pathlib.Path(mock, "whole").exists():
            aimock = started.aimock(mock, cases.fixtures(), cases.KEY)
            for wire, (provider, end) in cases.WIRES.items():
                ask = cases.Ask(place, aimock, provider, end, one_of_all)
                for case in cases.EVERY:
                    tally.case("aimock", wire, case, ask)
                    if case is cases.a_text_is_streamed and ask.bodies:
                        tally.spoilt(wire, ask.bodies[0][1])
            for provider in cases.ALSO:
                ask = cases.Ask(place, aimock, provider, "/v1", one_of_all)
                for case in cases.EVERY[:5]:
                    tally.case("aimock", provider, case, ask)
        else:
            print("not had  aimock: it is not installed")
        litellm = started.litellm(cases.litellm_models(aimock), cases.KEY)
        for wire, (provider, end) in cases.WIRES.items():
            # Its mocked answers cannot be streamed as Responses: there everything comes from the server behind it.
            mocked = {} if wire == "openai-responses" else cases.MOCKED
            ask = cases.Ask(place, litellm, provider, end, lambda does, mocked=mocked: does if does in mocked else one_of_all(does))
            if not aimock and not mocked:
                print(f"not had  litellm {wire}: its mocked answers cannot be streamed")
                continue
            for case in cases.EVERY:
                if case in (CASES_OF_LITELLM if aimock else CASES_ALONE):
                    tally.case("litellm", wire, case, ask)
    for file in sorted(pathlib.Path(more).glob("*.jsonl")) if more else []:
        with open(file) as lines:
            for line in lines:
                tally.body(file.stem, json.loads(line))
    tally.types()
    right, wrong = search.run(placet)
    tally.right, tally.wrong = tally.right + right, tally.wrong + wrong
    print(f"\nconformance: {tally.right} right, {tally.wrong} wrong, {sum(tally.bodies.values())} bodies held to types")
    return 1 if tally.wrong or not tally.right else 0


CASES_ALONE = [
    cases.a_text_is_streamed,
    cases.a_server_that_stays_full_is_a_failure,
    cases.a_fault_of_the_server_is_tried_again_and_told,
    cases.too_long_a_conversation_is_told_as_that,
    cases.a_key_that_is_refused_is_told_and_not_shown,
    cases.the_models_are_listed,
]
CASES_OF_LITELLM = CASES_ALONE + [
    cases.a_call_runs_and_its_result_goes_back,
    cases.two_calls_at_once_get_both_results,
    cases.a_picture_is_in_the_request,
    cases.an_answer_that_was_too_long_says_so,
]

if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    # Whoever ends this early ends the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(run(sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None))
