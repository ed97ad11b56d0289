"""The texts that people read first tell the truth."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/README.md", "examples/digits/README.md"]


@pytest.mark.parametrize("path", TEXTS)
def test_links_lead_to_files(path):
    text = ROOT / path
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text.read_text()):
        if "://" not in link:
            assert (text.parent / link).exists(), link


def test_folders_of_the_layout_exist():
    table = (ROOT / "README.md").read_text().partition("## Layout")[2].partition("\n## ")[0]
    named = [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall("`(.+?)`", row)]
    assert named
    assert [name for name in named if not (ROOT / name).is_dir()] == []


def test_examples_of_the_readme_run():
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", "README.md", 0)
    assert test.examples
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.failed == 0, "".join(report)
