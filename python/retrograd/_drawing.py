"""Pictures as SVG: the string that one is, and what all of them have in common."""

from __future__ import annotations

__all__ = ["FONT", "LETTER", "NOTE_COLOUR", "Drawing", "document", "shortened"]

# Names are set in a monospaced font, whose letters are all about 0.6 of its size wide, so that a box can be fitted
# around a name without measuring it; the rest is slack for bold.
FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
LETTER = 0.63
NOTE_COLOUR = "#7b8794"


class Drawing(str):
    """A picture: the text of an SVG file, which a notebook shows as the picture.

    >>> from retrograd._drawing import Drawing
    >>> picture = Drawing("<svg/>")
    >>> picture[:4], picture._repr_svg_() == picture
    ('<svg', True)
    """

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def document(width: float, height: float, title: str, parts: list[str], *, anchor: str = "start") -> Drawing:
    """An SVG file of this size in pixels. It has a background of its own, so it reads on light and dark pages alike.

    Args: `title` and `parts` are SVG, with what must be escaped escaped.

    >>> from retrograd._drawing import document
    >>> document(40, 20, "A dot", ['<circle cx="20" cy="10" r="5"/>']).splitlines()[1]
    '<title>A dot</title>'
    """
    return Drawing(
        "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}"'
                f' width="{width:.0f}" height="{height:.0f}" role="img" font-family="{FONT}" text-anchor="{anchor}">',
                f"<title>{title}</title>",
                '<rect width="100%" height="100%" fill="#ffffff"/>',
                *parts,
                "</svg>",
                "",
            ]
        )
    )


def shortened(text: str, letters: int) -> str:
    """At most so many letters of a text.

    >>> from retrograd._drawing import shortened
    >>> shortened("a long name", 6)
    'a lon…'
    """
    return text if len(text) <= letters else text[: letters - 1] + "…"
