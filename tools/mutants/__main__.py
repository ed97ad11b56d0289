"""Mutants: small changes of what the source means, each of which some test must see.

python tools/mutants [PART...]      runs the mutants whose list, area, file or name has one of the parts, or all
python tools/mutants --list         prints them
python tools/mutants --check        compiles the build that all of them share, and runs nothing
python tools/mutants --draw SEED    draws `drawn.toml` anew from what cargo-mutants lists; needs cargo-mutants

The source is copied to `target/mutants` and built once, with every mutant behind a switch that an environment variable
turns. A mutant is killed by the first test that fails, crashes or does not end; one that its own tests and the wider
selection of its area let live is a survivor. The status is 1 if there is one, or if one that the list argues to be
equivalent is killed.
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path

import build
import draw
from entries import ROOT, Lists, Mutant, load
from run import Result, Runner, row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants are tested at a time")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--draw", type=int, metavar="SEED")
    parser.add_argument("--count", type=int, default=30, help="how many are drawn")
    options = parser.parse_args()
    if options.draw is not None:
        draw.write(options.draw, options.count)
        return
    lists = load()
    chosen = lists.named(options.parts)
    if options.list:
        for mutant in chosen:
            print(f"{mutant.source:6} {mutant.area:8} {mutant.name} ({mutant.file})")
    elif options.check:
        build.write_switched(lists.mutants)
        for number, error in build.broken().items():
            raise SystemExit(f"{lists.mutants[number - 1].name}: {error}")
    else:
        raise SystemExit(report(test(lists, chosen, options.jobs)))


def test(lists: Lists, chosen: list[Mutant], jobs: int) -> list[Result]:
    # Frames are large without optimisation.
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))
    # All of them, whichever are chosen: the next choice needs no other build.
    build.write_switched(lists.mutants)
    site = build.make_site("site", build.extension())
    runner = Runner(site, lists.areas)
    switched = [m for m in chosen if not m.is_python and not m.alone]
    results = runner.results([(m, site) for m in switched], jobs)
    python = [(m, python_site(m, site / "retrograd" / "_core.abi3.so")) for m in chosen if m.is_python]
    results += runner.results(python, jobs)
    for mutant in (m for m in chosen if m.alone and not m.is_python):
        build.write_alone(mutant)
        results += runner.results([(mutant, build.make_site(f"site-{mutant.number}", build.extension()))], 1)
    return results


def python_site(mutant: Mutant, library: Path) -> Path:
    text = mutant.change().plain((ROOT / mutant.file).read_text())
    return build.make_site(f"site-{mutant.number}", library, {mutant.file: text})


def report(results: list[Result]) -> int:
    print()
    for result in sorted(results, key=lambda r: r.mutant.number):
        print(row(result))
    killed, wrong = sum(r.killed for r in results), [r for r in results if not r.as_wanted]
    print(f"\n{len(results)} mutants: {killed} killed, {len(results) - killed} alive, {len(wrong)} not as wanted")
    return int(bool(wrong))


if __name__ == "__main__":
    main()
