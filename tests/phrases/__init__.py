"""Small programs that provoke errors and warnings, and what PyTorch 2.13 says to each.

The `.txt` files hold the programs, separated by empty lines; `m` is the package. `tools/phrases.py` runs them on
PyTorch and writes `said.json`; `tests/test_phrases.py` runs them here and compares.
"""

from __future__ import annotations

import re
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Said:
    """What a program came to: an exception, warnings, or neither. A kind is the names of a class and its bases."""

    raised: tuple[tuple[str, ...], str] | None
    warned: tuple[tuple[tuple[str, ...], str], ...] = ()


def programs() -> list[str]:
    """The programs, in the order of the files."""
    found: list[str] = []
    for path in sorted(HERE.glob("*.txt")):
        for paragraph in re.split(r"\n\s*\n", path.read_text()):
            lines = [line for line in paragraph.split("\n") if line.strip() and not line.startswith("#")]
            if lines:
                found.append("\n".join(lines))
    return found


def kind(cls: type) -> tuple[str, ...]:
    return tuple(c.__name__ for c in cls.__mro__ if c not in (object, BaseException, Exception, Warning))


def said(call: Any) -> Said:
    """What `call` comes to, in a thread of its own, so that no mode that it leaves on outlives it."""
    caught: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            caught.append(error)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    warned = tuple((kind(w.category), str(w.message)) for w in told)
    return Said((kind(type(caught[0])), str(caught[0])) if caught else None, warned)


def run(package: Any, program: str) -> Said:
    """What `program` comes to on `package`."""
    code = compile(program, "<program>", "exec")
    return said(lambda: exec(code, {"m": package, "F": package.nn.functional, "__name__": "program"}))


# What is no part of a phrase, since it differs between two packages or two runs of one: addresses, numbers and shapes
# however they are printed, and the names of dtypes (`Double`, `double`, `torch.float64` are one) and of kernels.
_NUMBER = r"-?(?:0x[0-9a-fA-F]+|\b\d+(?:\.\d*)?(?:e[+-]?\d+)?|\binf\b|\b[nN]a[nN]\b)"
_NUMBERS = rf"(?:Size\()?[\[({{]?{_NUMBER}(?:[,x ]+{_NUMBER})*,?[\])}}]?\)?|\[\]|\(\)"
_CHARS = "unsigned char|signed char|uint8_t|int8_t|int64_t|long int|short|int|long|float|double|bool"
_DTYPES = (
    r"(?:@\.)?\b(?:u?int(?:8|16|32|64)|b?float(?:16|32|64)|complex(?:32|64|128))\b"
    rf"|(?:(?<=type )|(?<=type: )|(?<=type=)|(?<=for )|(?<=dtype ')|(?<=input\()|(?<=weight\())(?:{_CHARS})\b"
)
_TITLES = r"\b(?:Byte|Char|Short|Int|Long|BFloat16|Half|Float|Double|Bool|ComplexFloat|ComplexDouble)\b(?!Tensor)"
_KERNEL = r'["\'][\w ]+["\'](?= not implemented for)|(?<=derivative for )\'[^\']*\''
_OPTIONS = r"TensorOptions\([^)]*\)+|<(?:function|built-in method|bound method)[^>]*(?:>[^>]*)?>"
_VARYING = re.compile("|".join((_OPTIONS, _KERNEL, _DTYPES, _TITLES, _NUMBERS)))
# The op's name in front of PyTorch's words, which ours put there for every op; the name of an inner function behind.
_NAMED = re.compile(r"^(?:@\.)?(?:\w+\.)*\w+(?:\(\w*\)|\(f\)\(\*args\))? ?: ?(?=[\w`])")
_INSIDE = re.compile(
    r" \(while checking arguments for \w+\)| ?\((?:Could this error message be improved\?|Triggered internally at).*"
)
_END = re.compile(r"(?<!e\.g)(?<!i\.e)[.!?](?:\s|$|(?=[A-Z][a-z]+ ))|\n|;")
# What was got is facts, which each lists in its own way.
_GOT = re.compile(r",? but (?:it )?(?:got|found|input has|they are|input_channel)(?:\b|(?=[A-Z]))|[,:.]? got:?(?= )")
# That no signature takes such arguments is told by the type: PyTorch lists those of C++, or names what misfits first.
_SIGNATURES = re.compile("received an invalid combination of arguments|incompatible function arguments")
_ARGUMENT = re.compile(r"argument '\w+'")


def normal(message: str) -> str:
    """The message with its package as `@`, without modules of classes, overloads of ops and places of arguments."""
    message = re.sub(r"\b(?:PyTorch|torch|retrograd)\b", "@", re.sub(r" \(position \d+\)", "", message))
    message = re.sub(r"\b(?:positional |keyword )?arguments?\b", "argument", message).replace('"', "'")
    message = re.sub(r"(aten::\w+)\.\w+", r"\1", message.replace("was given", "were given"))
    return (
        re.sub(r"@(?:\.\w+)*\.(?=[A-Z]|dtype\b|device\b|memory_format\b)", "", re.sub(r"[ \t]+", " ", message))
        .replace("TensorBase", "Tensor")
        .strip()
    )


def fragments(message: str) -> list[str]:
    """The constant parts of a message's first sentence, in order."""
    if _SIGNATURES.search(message):
        return []
    text = _INSIDE.sub("", normal(message))
    sentence = _GOT.split(_NAMED.sub("", _END.split(text, maxsplit=1)[0]), maxsplit=1)[0]
    if _ARGUMENT.search(sentence):  # the kinds that one may give instead are not the same
        sentence = re.sub(r"^\w+\(\)(?=:? argument)|^\w+\(\): ", "", sentence).replace(", not ", " 0 ")
    return [part for piece in _VARYING.split(sentence) if re.search(r"\w", part := piece.strip(" ,.;:()[]{}'\"`"))]


def holds(phrase: str, ours: str) -> bool:
    """Whether `phrase` stands in `ours`: its constant parts in order, with what varies and no other word between."""
    parts = (re.escape(re.sub(r"\s", "", part)) for part in fragments(phrase))
    between = r".*" if _ARGUMENT.search(phrase) else r"[^A-Za-z]*"
    # Some of PyTorch's phrases lack a blank between two lines.
    return re.search(between.join(parts), re.sub(r"\s", "", _VARYING.sub("0", normal(ours)))) is not None


def differs(theirs: Said, ours: Said) -> str:
    """In which way ours is not what PyTorch said, or nothing."""
    if theirs.raised is not None:
        (name, *_), phrase = theirs.raised
        if ours.raised is None:
            return "does not raise"
        if name not in ours.raised[0]:
            return f"raises {ours.raised[0][0]}"
        parsed = _ARGUMENT.search(phrase) and _SIGNATURES.search(ours.raised[1])
        return "" if parsed or holds(phrase, ours.raised[1]) else "phrase"
    if ours.raised is not None:
        return f"raises {ours.raised[0][0]}, where nothing is raised"
    for (name, *_), phrase in theirs.warned:
        if not any(name in names and holds(phrase, message) for names, message in ours.warned):
            return "does not warn so"
    return ""
