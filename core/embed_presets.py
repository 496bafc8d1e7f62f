"""Writes the catalogue as a C++ table: core/presets/<kind>s/<id>.json becomes a row {kind, id, text} of PresetTexts().
A model of another sort has a folder within that of the models: models/diffusion/<id>.json is of kind diffusion_model.
What a node or a memory costs and what a chip design gets of it are one file: its member "technology" becomes a row of its own.
A framework, an engine or a port that names a "preset" is that one with its own members over it; a port of another speed costs
and draws as much per bandwidth as that one.

    embed_presets.py OUTPUT FILE...
"""
import json
import pathlib
import sys

TECHNOLOGY = {"node": "technology_node", "dram": "dram_type"}
VARIANTS = {"framework", "engine", "port"}


OF_A_PORT = ["adapter_price", "adapter_power", "cables_one_tier", "cables_two_tiers", "cables_three_tiers", "optics_power"]
OF_A_SWITCH = ["switch_price", "switch_power"]


def at_speed(port, own):
    """A port with prices and powers in proportion to the bandwidth, and those of its switch to the ports too, of a variant."""
    faster = number(own.get("bandwidth", port["bandwidth"])) / number(port["bandwidth"])
    wider = own.get("switch_ports", port["switch_ports"]) / port["switch_ports"]
    scaled = dict.fromkeys(OF_A_PORT, faster) | dict.fromkeys(OF_A_SWITCH, faster * wider)
    return port | {key: f"{number(port[key]) * factor:.6g} {port[key].split()[1]}" for key, factor in scaled.items()}


def number(quantity):
    return float(quantity.split()[0])


def over(under, own):
    """The members of `own` over those of `under`, recursively; lists are replaced."""
    merged = dict(under)
    for key, value in own.items():
        both = isinstance(value, dict) and isinstance(under.get(key), dict)
        merged[key] = over(under[key], value) if both else value
    return merged


def entry_of(file):
    """A preset file, over the preset that it is a variant of."""
    entry = json.loads(file.read_text(encoding="utf-8"))
    if kind_of(file) in VARIANTS and "preset" in entry:
        under = entry_of(file.parent / f"{entry.pop('preset')}.json")
        entry = over(at_speed(under, entry) if kind_of(file) == "port" else under, entry)
    return entry


def kind_of(file):
    """models -> model, studies -> study, models/diffusion -> diffusion_model"""
    folder = file.parent
    kind = folder.name.removesuffix("s")
    if folder.parent.name != "presets":
        return f"{kind}_{folder.parent.name.removesuffix('s')}"
    return kind[:-2] + "y" if kind.endswith("ie") else kind


def text_of(entry):
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))


def main(output, files):
    rows = []
    for file in map(pathlib.Path, files):
        kind, entry = kind_of(file), entry_of(file)
        parts = [(kind, entry)]
        if kind in TECHNOLOGY and "technology" in entry:
            parts.append((TECHNOLOGY[kind], entry.pop("technology")))
        rows += [(part, file.stem, text_of(row)) for part, row in parts]
    # One literal, so that the linker leaves texts that are alike beside each other, where they compress well.
    body = "".join(
        f'    "{kind}" "\\0" "{id}" "\\0" R"preset({text})preset" "\\0"\n' for kind, id, text in sorted(rows, key=lambda row: row[:2])
    )
    pathlib.Path(output).write_text(
        '// Generated from core/presets by core/embed_presets.py.\n#include "core/catalogue/presets.h"\nnamespace slipstick {\n'
        f"namespace {{\nconstexpr char kTexts[] =\n{body};\n}}  // namespace\n"
        "std::string_view EmbeddedPresets() { return {kTexts, sizeof(kTexts) - 1}; }\n"
        "}  // namespace slipstick\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
