"""Writes the data of the first view into a site: first_view.py SITE SLIPSTICK.

The command line SLIPSTICK computes what the page shows of the default scenario, so that the page can show it before the core is loaded:
data/first_view.json. The page asks the core later for what this file leaves out: help, most members of the inputs under "More", and outputs
that this report does not have. The scripts that draw the first view are listed in index.html, so that the browser requests them all at once.
"""
import json
import pathlib
import re
import subprocess
import sys

STATIC = re.compile(r"""^(?:(?:import|export)\b[^'"=;]*?\bfrom\s*|import\s*)['"](\.{1,2}/[^'"]+)['"]""", re.M)
PATH = re.compile(r"'([a-z0-9_.]+)'")
SHAPE = ("path", "kind", "presets", "nullable")  # members that the form needs of an input whose field is not shown yet
ENTRY = '<link rel="modulepreload" href="main.js">'


def holds(answer: object, members: list[str]) -> bool:
    """Whether a part of a report contains the figure at a path; "*" stands for any entry."""
    if not members:
        return True
    entries = list(answer.values()) if isinstance(answer, dict) else answer if isinstance(answer, list) else []
    if members[0] == "*":
        return any(holds(entry, members[1:]) for entry in entries)
    return isinstance(answer, dict) and members[0] in answer and holds(answer[members[0]], members[1:])


def shown(described: dict, report: dict, open_paths: set[str]) -> dict:
    """The part of the description that the first view needs: no help, only SHAPE of inputs that are not open, only outputs of the report."""

    def part(one: dict) -> dict:
        is_open = one["path"] in open_paths
        return {key: value for key, value in one.items() if (key != "help" if is_open else key in SHAPE)}

    outputs = [one for one in described["outputs"] if holds(report, one["path"].split("."))]
    return {**described, "inputs": [part(one) for one in described["inputs"]], "outputs": outputs}


def answers(site: pathlib.Path, slipstick: str) -> dict[str, object]:
    def ask(*words: str, number=float) -> dict | list:
        run = subprocess.run([slipstick, *words], capture_output=True, check=True, text=True)
        return json.loads(run.stdout, parse_float=number)

    described = ask("describe")
    newest = max(described["defaults"], key=int)
    # The native and the WebAssembly build can differ beyond twelve digits; ten keep the first view small.
    report = ask("evaluate", f"version={newest}", number=lambda digits: float(f"{float(digits):.10g}"))
    report["training"]["timeline"] = []  # most of the report's size; the page asks for it separately
    for part in ("training", "serving", "cost"):
        for figure in report[part].values():
            if isinstance(figure, dict) and "level" in figure:
                figure.pop("rows", None)  # the runs behind an interval, which the page does not show
    picked = {one.get("presets") for one in described["inputs"]}  # kinds of entries that an input selects
    entries = [entry for entry in ask("presets") if entry["kind"] in picked]
    kept = {"rental": ("device", "provider", "date", "term", "price")}  # the page's head shows the cheapest
    catalogue = [
        {key: entry[key] for key in ("kind", "id", "name", *kept.get(entry["kind"], ())) if key in entry} for entry in entries
    ]
    open_paths = set(PATH.findall((site / "form/layout.js").read_text(encoding="utf-8")))
    return {"described": shown(described, report, open_paths), "report": report, "catalogue": catalogue}


def imported(site: pathlib.Path, script: pathlib.Path, seen: list[str]) -> list[str]:
    """A script and all scripts that it imports statically, directly or indirectly."""
    place = script.relative_to(site).as_posix()
    if place not in seen:
        seen.append(place)
        for target in STATIC.findall(script.read_text(encoding="utf-8")):
            imported(site, (script.parent / target).resolve(), seen)
    return seen


def main(site: pathlib.Path, slipstick: str) -> None:
    text = json.dumps(answers(site, slipstick), ensure_ascii=False, separators=(",", ":"))
    (site / "data/first_view.json").write_text(text, encoding="utf-8")
    links = [f'<link rel="modulepreload" href="{place}">' for place in imported(site, site / "main.js", [])]
    links.append('<link rel="preload" href="data/first_view.json" as="fetch" crossorigin>')
    page = site / "index.html"
    page.write_text(page.read_text(encoding="utf-8").replace(ENTRY, "\n    ".join(links)), encoding="utf-8")


main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2])
