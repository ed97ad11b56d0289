"""The texts that people read first tell the truth: their links, paths, names and code."""

import doctest
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    *sorted(str(path.relative_to(ROOT)) for folder in ("docs", "rust/*") for path in ROOT.glob(f"{folder}/*.md")),
    "examples/digits/README.md",
    "examples/gaussian_process/README.md",
    "examples/spectral_pde/README.md",
]


def blocks(path: str, language: str) -> list[str]:
    text = (ROOT / path).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def code_in(path: str) -> list[str]:
    """What stands between single backticks."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / path).read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


@pytest.mark.parametrize("path", TEXTS)
def test_links_lead_to_files(path):
    text = ROOT / path
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text.read_text()):
        if "://" not in link:
            assert (text.parent / link).exists(), link


@pytest.mark.parametrize("path", TEXTS)
def test_headings_that_links_name_exist(path):
    text = ROOT / path
    for file, heading in re.findall(r"\]\(([^)#]*)#([^)]+)\)", text.read_text()):
        target = text.parent / file if file else text
        headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
        assert heading in [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in headings]


@pytest.mark.parametrize("path", TEXTS)
def test_paths_exist(path):
    tops = {p.name for p in ROOT.iterdir() if p.name not in {"target", ".venv"}}
    named = [code.rstrip("/") for code in code_in(path) if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?", code)]
    assert [p for p in named if p.split("/")[0] in tops and not (ROOT / p).exists()] == []


@pytest.mark.parametrize("path", TEXTS)
def test_python_names_exist(path):
    for name in code_in(path):
        if re.fullmatch(r"(retrograd|rg)(\.\w+)+", name):
            assert pkgutil.resolve_name(re.sub(r"^rg\b", "retrograd", name)) is not None


def there(name: str) -> bool:
    """Whether the namesake of a name of torch exists."""
    try:
        return pkgutil.resolve_name(name.replace("torch", "retrograd", 1)) is not None
    except (AttributeError, ImportError):
        return False


def test_names_of_torch_are_there_or_absent_as_the_page_says():
    before, _, rest = (ROOT / "docs/coming-from-torch.md").read_text().partition("\n## What is absent\n")
    absent, _, after = rest.partition("\n## ")
    named = [re.findall(r"`(torch\.[\w.]+)`", text) for text in (before + after, absent)]
    assert all(named)
    assert [name for name in named[0] if not there(name)] == []
    assert [name for name in named[1] if there(name)] == [], "no longer absent"


def test_names_of_the_architecture_exist():
    sources = "\n".join(path.read_text() for path in (ROOT / "rust").rglob("*.rs"))
    named = {name for code in code_in("docs/architecture.md") for name in re.findall(r"\w+(?:::\w+)+", code)}
    assert named
    lacking = [
        n for n in named if not re.search(rf"\b(fn|struct|enum|trait|mod|const) {n.rpartition('::')[2]}\b", sources)
    ]
    assert lacking == []


def test_modules_of_the_architecture_exist():
    """A row names a folder first, and then modules in it."""
    rows = re.findall(r"^\| `(rust/[^`]+)` \| (.*) \|$", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    assert rows
    for folder, what in rows:
        for module in re.findall(r"(?:^|, |; )`(\w+)`", what):
            paths = [ROOT / folder / f"{module}.rs", ROOT / folder / module]
            assert any(path.exists() for path in paths), f"{folder}: {module}"


def test_folders_of_the_layout_exist():
    table = (ROOT / "README.md").read_text().partition("## Layout")[2].partition("\n## ")[0]
    named = [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall("`(.+?)`", row)]
    assert named
    assert [name for name in named if not (ROOT / name).is_dir()] == []


def test_crates_are_packed_with_their_licence_and_a_readme():
    whole = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["include"]
    for manifest in sorted((ROOT / "rust").glob("*/Cargo.toml")):
        package = tomllib.loads(manifest.read_text())["package"]
        if package.get("publish", True):
            named = package["include"] if isinstance(package["include"], list) else whole
            assert {"/LICENSE", "/README.md"} <= set(named), manifest
            assert (manifest.parent / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes(), manifest
            assert (manifest.parent / "README.md").read_text().startswith(f"# {package['name']}\n"), manifest


def test_folders_of_the_house_exist():
    listed = re.findall(r"^    ([\w/-]+/)  ", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert listed
    assert [folder for folder in listed if not (ROOT / folder).is_dir()] == []


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "docs/coming-from-torch.md",
        "docs/gradcheck.md",
        "docs/graphs.md",
        "docs/mixed-precision.md",
        "docs/profiler.md",
    ],
)
def test_examples_at_the_prompt_run(path):
    shown = "\n".join(block for block in blocks(path, "python") if ">>>" in block)
    test = doctest.DocTestParser().get_doctest(shown, {}, path, None, 0)
    assert test.examples
    report: list[str] = []
    result = doctest.DocTestRunner().run(test, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("code", blocks("CONTRIBUTING.md", "python"))
def test_examples_for_contributors_run(code, rg):
    names: dict[str, object] = {}
    exec(code, names)
    for name, test in names.items():
        if name.startswith("test_"):
            assert list(inspect.signature(test).parameters) == ["rg"]
            test(rg)


def test_the_record_for_contributors_is_the_one_in_use():
    from records import pointwise

    names: dict[str, object] = {}
    (code,) = [code for code in blocks("CONTRIBUTING.md", "python") if "records.pointwise" in code]
    exec(code, names)
    shown = code.partition("record = ")[2].strip()
    assert shown in inspect.getsource(pointwise)


def test_rust_shown_to_contributors_is_compared_by_a_test():
    assert len(blocks("CONTRIBUTING.md", "rust")) == len(blocks("docs/architecture.md", "rust")) == 1
    for test, document in (("add_a_kernel", "CONTRIBUTING.md"), ("add_an_op", "docs/architecture.md")):
        assert document in (ROOT / f"rust/retrograd-engine/tests/{test}.rs").read_text()
