"""Writes the catalogue as a C++ table: core/presets/<kind>s/<id>.json becomes a row {kind, id, text} of PresetTexts().
What a node or a memory costs and what a chip design gets of it are one file: its member "technology" becomes a row of its own.

    embed_presets.py OUTPUT FILE...
"""
import json
import pathlib
import sys

TECHNOLOGY = {"node": "technology_node", "dram": "dram_type"}

output, *files = sys.argv[1:]
rows = []
for file in map(pathlib.Path, files):
    kind = file.parent.name.removesuffix("s")  # models -> model, studies -> study
    kind = kind[:-2] + "y" if kind.endswith("ie") else kind
    entry = json.loads(file.read_text(encoding="utf-8"))
    parts = [(kind, entry)]
    if kind in TECHNOLOGY and "technology" in entry:
        parts.append((TECHNOLOGY[kind], entry.pop("technology")))
    rows += [(part, file.stem, json.dumps(row, ensure_ascii=False, separators=(",", ":"))) for part, row in parts]
body = "".join(f'      {{"{kind}", "{id}", R"preset({text})preset"}},\n' for kind, id, text in sorted(rows, key=lambda row: row[:2]))
pathlib.Path(output).write_text(
    '// Generated from core/presets by core/embed_presets.py.\n#include "core/catalogue/presets.h"\nnamespace slipstick {\n'
    "const std::vector<PresetText>& PresetTexts() {\n  static const std::vector<PresetText> texts{\n"
    f"{body}  }};\n  return texts;\n}}\n}}  // namespace slipstick\n",
    encoding="utf-8",
)
