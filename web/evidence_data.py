"""Writes the published measurements into a site: evidence_data.py SITE PRESETS/evidence.

data/evidence/SOURCE.json is a copy of the file of one source, which the page fetches when it shows one of its runs.
data/evidence/index.json lists all measurements.
"""
import json
import pathlib
import sys


def main(site: pathlib.Path, evidence: pathlib.Path) -> None:
    folder = site / "data/evidence"
    folder.mkdir()

    def write(name: str, content: object) -> None:
        (folder / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")

    sources = sorted(evidence.glob("*.json"))
    for path in sources:
        write(path.stem, json.loads(path.read_text(encoding="utf-8")))
    write("index", [path.stem for path in sources])


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
