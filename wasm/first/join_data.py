"""Lays the data of a module together: join_data.py FILE.wasm, in place.

The optimiser cuts long runs of data at every few zeros. Zeros compress to nothing, the places of a thousand pieces do not.
"""
import pathlib
import sys

DATA, DATA_COUNT = 11, 12
MOST_ZEROS = 4096


def read(data: bytes, at: int) -> tuple[int, int]:
    """A LEB128 number and the place behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def number(value: int, signed: bool = False) -> bytes:
    out = bytearray()
    while value >= (64 if signed else 128):
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def joined(section: bytes) -> list[tuple[int, bytearray]]:
    count, at = read(section, 0)
    pieces = []
    for _ in range(count):
        # Active pieces at a constant place (0x41: i32.const, 0x0b: end): all that a module without passive data has.
        assert section[at] == 0 and section[at + 1] == 0x41
        place, at = read(section, at + 2)
        assert section[at] == 0x0B
        size, at = read(section, at + 1)
        pieces.append((place, section[at : at + size]))
        at += size
    whole: list[tuple[int, bytearray]] = []
    for place, data in sorted(pieces):
        if whole and place - (whole[-1][0] + len(whole[-1][1])) <= MOST_ZEROS:
            whole[-1][1].extend(bytes(place - whole[-1][0] - len(whole[-1][1])) + data)
        else:
            whole.append((place, bytearray(data)))
    return whole


def main(file: pathlib.Path) -> None:
    module = file.read_bytes()
    sections = []
    at = 8
    while at < len(module):
        size, body = read(module, at + 1)
        sections.append((module[at], module[body : body + size]))
        at = body + size
    pieces = joined(next(body for kind, body in sections if kind == DATA))
    data = number(len(pieces)) + b"".join(b"\0\x41" + number(place, True) + b"\x0b" + number(len(one)) + one for place, one in pieces)
    out = module[:8]
    for kind, body in sections:
        body = {DATA: data, DATA_COUNT: number(len(pieces))}.get(kind, body)
        out += bytes([kind]) + number(len(body)) + body
    file.write_bytes(out)


main(pathlib.Path(sys.argv[1]))
