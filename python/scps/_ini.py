# SPDX-License-Identifier: MIT
"""Parses a scenario file as inih does for scps_lab: sections, KEY = VALUE or KEY : VALUE, comments from # or ; at the beginning of a
line and from ; behind a blank, indented lines that continue the value before."""
from typing import Iterator, List, NamedTuple, Optional, Tuple

BLANKS = b" \t\n\v\f\r"
LINE_LEN = 198     # largest length of a line, octets, without its end
SECTION_LEN = 48   # largest length of a line that begins with [, octets, with its end
MARK = b"\xef\xbb\xbf"  # byte order mark that some editors write at the beginning of a text in UTF-8
NAME_LEN = 49      # octets that are kept of a section's name, and of the key to which an indented line belongs


class Line(NamedTuple):
    number: int
    continued: bool
    section: bytes
    key: Optional[bytes]  #: None: the line is refused
    value: bytes          #: or the reason
    begins: bool = False  #: the line begins the section, and key and value are empty


def _split(text: bytes) -> List[bytes]:
    """Splits the text into lines, each with its end."""
    found = [line + b"\n" for line in text.split(b"\n")]
    found[-1] = found[-1][:-1]
    return found if found[-1] else found[:-1]


def _find(text: bytes, ends: bytes) -> int:
    """Returns the position of the first octet that is in ends, or of a ; behind a blank; the length if there is none."""
    blank = False
    for i, c in enumerate(text):
        if c in ends or (blank and c == 0x3b):
            return i
        blank = c in BLANKS
    return len(text)


def _cut(text: bytes) -> Tuple[bytes, bytes, bytes]:
    """Splits a line into its key, the octet that ends the key ("" if none does), and its value."""
    i = _find(text, b"=:")
    if text[i:i + 1] not in (b"=", b":"):
        return text, b"", b""
    value = text[i + 1:]
    return text[:i].rstrip(BLANKS), text[i:i + 1], value[:_find(value, b"")].strip(BLANKS)


def lines(text: bytes) -> Iterator[Line]:
    """Returns the section, or key and value, of each line of a file; a line with neither is reported last, as by inih."""
    section, last, bad, sections = b"", b"", 0, False
    if text.startswith(MARK):
        text = text[len(MARK):]
    for number, whole in enumerate(_split(text), 1):
        raw = whole.rstrip(b"\n")
        continued = raw[:1] in (b" ", b"\t")
        if len(whole) > LINE_LEN + 1:
            yield Line(number, continued, section, None,
                       b"the line is longer than %d characters: continue it on an indented one" % LINE_LEN)
            return
        if continued and raw.lstrip(b" \t").startswith(b"["):
            yield Line(number, False, section, None, b"an indented section: remove the blanks before '['")
            return
        if raw.startswith(b"["):
            sections = True
            if len(whole) > SECTION_LEN:
                yield Line(number, continued, section, None,
                           b"the section's name is longer than %d characters" % (SECTION_LEN - 2))
            elif b"]" in raw:
                yield Line(number, False, raw[1:raw.index(b"]")], b"", b"", True)
            else:
                yield Line(number, False, section, None, b"a section without ']' at its end: correct the line")
        # inih skips a mark itself, so there may be two
        line = (raw[len(MARK):] if number == 1 and raw.startswith(MARK) else raw).strip(BLANKS)
        indented = raw[:1] in tuple(bytes([c]) for c in BLANKS) and bool(line)
        if not line or line[:1] in (b"#", b";"):
            continue
        if last and indented:
            yield Line(number, continued, section, last, line[:_find(line, b"")].rstrip(BLANKS))
        elif line.startswith(b"["):
            end = _find(line[1:], b"]")
            if line[1 + end:2 + end] == b"]":
                section, last = line[1:1 + end][:NAME_LEN], b""
            else:
                bad = bad or number
        else:
            key, sign, value = _cut(line)
            if sign:
                last = key[:NAME_LEN]
                yield Line(number, continued, section, key, value)
            else:
                bad = bad or number
    if bad:
        yield Line(bad, False, section, None, b"neither a [section] nor KEY = VALUE: correct the line")
    elif not sections:
        yield Line(1, False, section, None, b"there is no [section], such as [link] or [flow]: give a scenario file")
