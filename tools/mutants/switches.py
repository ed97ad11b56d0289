"""Where a mutant's place is in the source, and how one text holds the original and its mutants behind switches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Stands in a mutated text for the question whether this mutant is on.
SWITCH = "MUTANT"
OPEN, CLOSE = "«", "»"

# Appended to every crate: the number of the mutant that is on is read from the environment, once.
MODULE = """
#[doc(hidden)]
pub mod mutants {
    static ON: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
        std::env::var("RETROGRAD_MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0)
    });
    #[inline]
    pub fn on(number: u32) -> bool {
        *ON == number
    }
}
"""

# What braces and quotes in do not count: comments, strings, characters (but not lifetimes).
SKIPPED = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | b?r(?P<hashes>\#*)".*?"(?P=hashes) | b?"(?:\\.|[^"\\])*" | b?'(?:\\.[^']*|[^'\\])'""",
    re.DOTALL | re.VERBOSE,
)
BRACKETS = {"(": ")", "[": "]", "{": "}"}


class Misplaced(Exception):
    """The place that an entry describes is not there, or not there alone."""


@dataclass(frozen=True)
class Span:
    start: int
    end: int

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end

    def meets(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


def only(text: str, part: str, within: Span, what: str) -> Span:
    """The one place of `part` in `text`."""
    count = text.count(part, within.start, within.end)
    if count != 1:
        raise Misplaced(f"{what} occurs {count} times: {part!r}")
    start = text.index(part, within.start, within.end)
    return Span(start, start + len(part))


def marked(text: str, find: str, within: Span) -> Span:
    """The one place of `find`; of its part between the marks, if it has marks."""
    before, opened, rest = find.partition(OPEN)
    inner, closed, after = rest.partition(CLOSE)
    if not opened:
        return only(text, find, within, "the original")
    if not closed:
        raise Misplaced(f"{OPEN} without {CLOSE}: {find!r}")
    whole = only(text, before + inner + after, within, "the original")
    return Span(whole.start + len(before), whole.end - len(after))


def body_after(text: str, at: int) -> Span:
    """The block, braces included, of the function whose signature goes on at `at`."""
    depth = 0
    while at < len(text):
        if skipped := SKIPPED.match(text, at):
            at = skipped.end()
            continue
        if text[at] == "{" and depth == 0:
            return Span(at, closing(text, at))
        if text[at] in "([":
            depth += 1
        elif text[at] in ")]":
            # The text before `at` may have opened some.
            depth = max(depth - 1, 0)
        at += 1
    raise Misplaced("no function body after the signature")


def closing(text: str, at: int) -> int:
    """Behind the bracket that closes the one at `at`."""
    wanted: list[str] = []
    while at < len(text):
        if skipped := SKIPPED.match(text, at):
            at = skipped.end()
            continue
        if text[at] in BRACKETS:
            wanted.append(BRACKETS[text[at]])
        elif wanted and text[at] == wanted[-1]:
            wanted.pop()
            if not wanted:
                return at + 1
        at += 1
    raise Misplaced("a bracket is not closed")


@dataclass(frozen=True)
class Change:
    """One mutant's change of a file: `span` becomes `put`; `body` is the function that is written twice for it."""

    number: int
    span: Span
    put: str
    body: Span | None = None

    @property
    def region(self) -> Span:
        return self.body or self.span

    def plain(self, text: str) -> str:
        """The file with the mutant in place of the original."""
        return text[: self.span.start] + self.put.replace(SWITCH, "true") + text[self.span.end :]

    def switched(self, text: str, inner: str) -> str:
        """The region with the mutant and the original, which has become `inner`, both in it."""
        on = f"crate::mutants::on({self.number})"
        if self.body:
            block = text[self.body.start : self.span.start] + self.put + text[self.span.end : self.body.end]
            return f"{{ if {on} {self.marked(block)} else {inner} }}"
        if SWITCH in self.put:
            if inner != text[self.span.start : self.span.end]:
                raise Misplaced(f"another mutant lies within the place of {self.put!r}")
            return self.marked(self.put.replace(SWITCH, on))
        if text[: self.span.end].endswith(";"):
            return f"if {on} {{ {self.marked(self.put)} }} else {{ {inner} }}"
        return f"(if {on} {{ {self.marked(self.put)} }} else {{ {inner} }})"

    def marked(self, code: str) -> str:
        """With comments around it that tell whose code it is, for the compiler's errors."""
        return f"/*<{self.number}*/{code}/*{self.number}>*/"


def mutants_at(text: str, at: int) -> list[int]:
    """The mutants in whose code this position of a rewritten text is."""
    found = re.finditer(r"/\*<(\d+)\*/.*?/\*\1>\*/", text, re.DOTALL)
    return [int(m[1]) for m in found if m.start() <= at < m.end()]


def change(text: str, number: int, function: str | None, find: str | None, put: str) -> Change:
    """What an entry says of a file's text."""
    everything = Span(0, len(text))
    if function is None:
        if find is None:
            raise Misplaced("neither a function nor an original text")
        return Change(number, marked(text, find, everything), put)
    body = body_after(text, only(text, function, everything, "the function").end)
    if find is None:
        return Change(number, body, "{ " + put + " }", body)
    return Change(number, marked(text, find, body), put, body)


def rewrite(text: str, changes: Sequence[Change]) -> str:
    """The text with every change behind its switch. Regions may lie within one another, but not cross."""

    def render(within: Span, own: list[Change]) -> str:
        done, at = "", within.start
        while own:
            outer = min(own, key=lambda c: (c.region.start, -c.region.end, c.number))
            region = outer.region
            if not within.holds(region):
                raise Misplaced(f"the places of two mutants cross: {outer.put!r}")
            inside = [c for c in own if c is not outer and region.meets(c.region)]
            own = [c for c in own if c is not outer and c not in inside]
            done += text[at : region.start] + outer.switched(text, render(region, inside))
            at = region.end
        return done + text[at : within.end]

    return render(Span(0, len(text)), list(changes))
