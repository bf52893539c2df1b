"""From bytes to values or text, whatever the file went through: gzip, BOMs, UTF-16, several JSON values, logs."""

import codecs
import gzip
import hashlib
import io
import json
import re
import zlib
from typing import Any

from memctl.errors import UnreadableInput
from memctl.transcripts import pyrepr
from memctl.transcripts.document import Companions, Document, Shape, counted, no_companions, tame

_LARGEST = 2_000_000_000
# Chats become about ten times smaller by gzip; what unpacks to a hundred times its size was made to do harm.
_HIGHEST_RATIO = 100
_HARMLESS = 64_000_000
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARIES = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF": "a PDF",
    b"PK\x03\x04": "a zip archive",
    b"PAR1": "a Parquet file",
    b"\x7fELF": "a program",
    b"\x80\x04\x95": "a Python pickle, which could run code when it is loaded",
    b"\x80\x05\x95": "a Python pickle, which could run code when it is loaded",
    b"7z\xbc\xaf": "a 7z archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}
_SQLITE = b"SQLite format 3\x00"
_GZIP = b"\x1f\x8b"
_PROBE = 4096
_LONGEST_ESCAPE = 6
_LONGEST_CHARACTER = 4
_WORDS = ("null", "true", "false", "NaN", "Infinity", "-Infinity")
_PYTHON = re.compile(r"\s*(?:(?:[\[({]\s*)+'|\[?[A-Za-z]\w*(?:Result|Message|Event)\()")
_SAVE_AGAIN = "Save the transcript again; nothing of it was read."
_decoder = json.JSONDecoder(strict=False)


def decode(path: str, data: bytes, companions: Companions | None = None, largest: int = _LARGEST) -> Document:
    """Turn the bytes of a file into a document; UnreadableInput says where they cannot be read."""
    digest = hashlib.sha256(data).hexdigest()
    neighbours = companions or no_companions
    plain = _inflated(path, data, largest) if data.startswith(_GZIP) else data
    if not plain.strip():
        raise UnreadableInput(path=path, reason="the file is empty", remedy="")
    if plain.startswith(_SQLITE):
        return Document(path, Shape.SQLITE, digest, data=plain, companions=neighbours)
    text, notes = _text(path, plain)
    values, more = _values(path, text)
    if values is None:
        return Document(path, Shape.TEXT, digest, text=text, notes=notes, companions=neighbours)
    return Document(path, Shape.VALUES, digest, values, notes=(*notes, *more), companions=neighbours)


def _inflated(path: str, data: bytes, largest: int) -> bytes:
    most = min(largest, max(_HARMLESS, _HIGHEST_RATIO * len(data)))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            plain = packed.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableInput(path=path, reason=f"the gzip data is damaged or cut off ({error})") from error
    if len(plain) > most:
        raise UnreadableInput(path=path, reason=f"it unpacks to more than {most} bytes", remedy="Split the file.")
    return plain


def _text(path: str, data: bytes) -> tuple[str, tuple[str, ...]]:
    for magic, what in _BINARIES.items():
        if data.startswith(magic):
            raise UnreadableInput(path=path, reason=f"it is {what}, not a transcript", remedy="")
    mark, encoding = next(((mark, name) for mark, name in _BOMS if data.startswith(mark)), (b"", _guess(data)))
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(path, data, error, len(mark) + error.start) from error
    return _without_nuls(path, text)


def _guess(data: bytes) -> str:
    """Tell UTF-16 without a mark by its zero bytes; anything else has to be UTF-8."""
    probe = data[:_PROBE]
    if len(probe) >= 4 and probe[1::2].count(0) > 0.6 * len(probe[1::2]) and probe[::2].count(0) == 0:
        return "utf-16-le"
    if len(probe) >= 4 and probe[::2].count(0) > 0.6 * len(probe[::2]) and probe[1::2].count(0) == 0:
        return "utf-16-be"
    return "utf-8"


def _undecodable(path: str, data: bytes, error: UnicodeDecodeError, offset: int) -> UnreadableInput:
    line = data.count(b"\n", 0, offset) + 1
    place = f"offset {offset} (line {line})"
    if offset >= len(data) - _LONGEST_CHARACTER and ("end of data" in error.reason or "truncated" in error.reason):
        reason = f"the text is cut off inside a character at {place}"
        return UnreadableInput(path=path, reason=reason, remedy=_SAVE_AGAIN)
    reason = f"byte 0x{data[offset]:02x} at {place} is not {error.encoding.upper()} text"
    return UnreadableInput(path=path, reason=reason, remedy="Convert the file to UTF-8, for instance with iconv.")


def _without_nuls(path: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Drop the NUL characters that a crash leaves in a log; a file made of them is binary."""
    count = text.count("\x00")
    if not count:
        return text, ()
    place = text.index("\x00")
    clean = text.replace("\x00", "")
    if not clean.strip() or _controls(clean[:_PROBE]) > 0.1 * len(clean[:_PROBE]):
        raise UnreadableInput(path=path, reason=f"binary data (a NUL byte at offset {place})", remedy="")
    return clean, (f"left out {counted(count, 'NUL byte')}, the first at character {place}",)


def _controls(text: str) -> int:
    return sum(1 for character in text if ord(character) < 32 and character not in "\t\n\r\x1b\f\b\a")


def _values(path: str, text: str) -> tuple[tuple[Any, ...] | None, tuple[str, ...]]:
    """Read ``text`` as JSON values, as a log with a value a line, or as a Python literal; None: it is prose."""
    start = text.lstrip()[:1]
    error: json.JSONDecodeError | None = None
    if start in "[{":
        try:
            return _json_values(path, text), ()
        except json.JSONDecodeError as found:
            error = found
    if _mostly_objects(text):
        return _lines(path, text)
    try:
        return (pyrepr.parse(text),), ()
    except pyrepr.NoLiteral as problem:
        if _PYTHON.match(text) and not _has_prose(text, 0):
            reason = f"broken or cut off Python text at line {problem.line} ({tame(problem)})"
            raise UnreadableInput(path=path, reason=reason, remedy=_SAVE_AGAIN) from problem
        if error is not None and _meant_as_json(text) and not _has_prose(text, error.pos):
            raise _broken(path, text, error) from error
    return None, ()


def _json_values(path: str, text: str) -> tuple[Any, ...]:
    """Decode every JSON value of ``text``, one after the other."""
    values = []
    position, end = _skip_space(text, 0), len(text)
    while position < end:
        try:
            value, position = _decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            raise
        except ValueError as error:  # the interpreter's limit on the digits of an integer
            raise UnreadableInput(path=path, reason=f"line {_line(text, position)}: {error}") from error
        values.append(value)
        position = _skip_space(text, position)
    return tuple(values)


def _skip_space(text: str, position: int) -> int:
    """Go past white space and the commas that people leave between records."""
    while position < len(text) and text[position] in " \t\r\n,\ufeff":
        position += 1
    return position


def _mostly_objects(text: str) -> bool:
    """Tell a log that holds a JSON object on most of its lines."""
    objects = total = 0
    for line in text.split("\n"):
        if stripped := line.strip():
            total += 1
            objects += stripped.startswith('{"') and stripped.endswith("}")
    return objects > 0 and objects * 2 >= total and (objects > 1 or total > 1)


def _lines(path: str, text: str) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Decode a log line by line; lines that never were JSON are counted, a broken JSON line is refused."""
    values, stray = [], 0
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip().strip("\ufeff")
        if not stripped.startswith('{"') and stripped != "{}":
            stray += bool(stripped)
            continue
        try:
            values.append(_decoder.decode(stripped))
        except ValueError as error:
            reason = f"line {number} is broken JSON ({_reason(error)})"
            raise UnreadableInput(path=path, reason=reason, remedy="Repair or remove that line.") from error
    return tuple(values), ((f"left out {counted(stray, 'line')} outside JSON",) if stray else ())


def _meant_as_json(text: str) -> bool:
    """Tell JSON that went wrong from prose that happens to start with a bracket."""
    opening = "".join(text[:200].split())
    return opening.startswith(("{", '["', "[[", "[{", "[]")) or opening == "["


def _has_prose(text: str, position: int) -> bool:
    """Tell whether a console transcript follows what could not be read as JSON."""
    rest = text[position:]
    return "\n---------- " in rest or (" (to " in rest and "):\n" in rest)


def _broken(path: str, text: str, error: json.JSONDecodeError) -> UnreadableInput:
    end = len(text.rstrip())
    if _is_cut(error):
        inside = f", inside the string that starts at line {error.lineno}" if "Unterminated" in error.msg else ""
        reason = f"the JSON is cut off at line {_line(text, end)} (character {end}){inside}"
        remedy = _SAVE_AGAIN
    else:
        reason = f"broken JSON at line {error.lineno}, column {error.colno} ({error.msg})"
        remedy = "Repair the file; nothing of it was read."
    return UnreadableInput(path=path, reason=reason, remedy=remedy)


def _is_cut(error: json.JSONDecodeError) -> bool:
    """Tell JSON that stops too early, also in the middle of a string or of an escape, from JSON that is wrong."""
    rest = error.doc[error.pos :].strip() if len(error.doc) - error.pos < _PROBE else "more"
    in_word = any(word.startswith(rest) for word in _WORDS)
    in_escape = "escape" in error.msg and len(rest) <= _LONGEST_ESCAPE
    return in_word or in_escape or error.msg.startswith("Unterminated string")


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return "cut off" if _is_cut(error) else f"{error.msg}, column {error.colno}"
    return str(error)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
