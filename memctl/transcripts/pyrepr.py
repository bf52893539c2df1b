"""Python ``repr`` text as plain values: literals, and calls such as ``TextMessage(source='a', ...)`` as objects.

Nothing is evaluated: the text is parsed to a syntax tree and only constants, containers and keyword calls
are taken from it.
"""

import ast
import re
import warnings
from datetime import UTC, datetime
from typing import Any

LONGEST = 64_000_000
_ENUM = re.compile(r"<[A-Za-z_][\w.]*: ('(?:[^'\\\n]|\\.)*'|-?\d+)>")
_OBJECT = re.compile(r"<[A-Za-z_][\w.]*(?: object)? at 0x[0-9a-fA-F]+>")
_START = re.compile(r"\s*(?:[\[({]|[A-Za-z_]\w*\()")


class NoLiteral(Exception):
    """The text is not a Python literal; ``line`` is where that shows."""

    def __init__(self, reason: str, line: int = 1) -> None:
        """Keep the reason and the line."""
        super().__init__(reason)
        self.line = line


def parse(text: str) -> Any:
    """Read one Python value from ``text``; NoLiteral where it is none."""
    if len(text) > LONGEST:
        raise NoLiteral(f"Python reprs are read up to {LONGEST} characters")
    if not _START.match(text):
        raise NoLiteral("it does not start like a Python value")
    return _value(_tree(text.strip()))


def _tree(text: str) -> ast.expr:
    """Parse, at the second try with enum members and objects replaced by what a literal can hold."""
    try:
        return _parsed(text)
    except NoLiteral:
        replaced = _OBJECT.sub("None", _ENUM.sub(r"\1", text))
        if replaced == text:
            raise
        return _parsed(replaced)


def _parsed(text: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown escapes in a transcript are no business of ours
        try:
            return ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise NoLiteral(error.msg or "not a Python value", error.lineno or 1) from error
        except (ValueError, MemoryError) as error:
            raise NoLiteral(str(error) or "nested too deeply") from error


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value.decode("utf-8", "replace") if isinstance(value, bytes) else _plain(value)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {str(_value(key)): _value(value) for key, value in zip(keys, values, strict=True) if key}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Call():
            return _called(node)
        case ast.Attribute() | ast.Name():
            return ast.unparse(node)
    raise NoLiteral(f"{type(node).__name__} is not part of a literal", getattr(node, "lineno", 1))


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _called(node: ast.Call) -> Any:
    """Read ``Name(key=value)`` as an object that tells its type; times as ISO text; dict-like calls as their dict."""
    name = ast.unparse(node.func).rpartition(".")[2]
    if name == "datetime":
        return _moment(node)
    record = {keyword.arg: _value(keyword.value) for keyword in node.keywords if keyword.arg}
    if not record and node.args:
        return _value(node.args[-1])
    return {"type": name, **record} if name.endswith(("Message", "Event")) else record


def _moment(node: ast.Call) -> str | None:
    """Write ``datetime.datetime(2026, 5, 4, ...)`` as ISO text; libraries use UTC."""
    numbers = [_value(item) for item in node.args]
    if not 3 <= len(numbers) <= 7 or not all(type(number) is int for number in numbers):
        return None
    try:
        return datetime(*numbers).replace(tzinfo=UTC).isoformat()
    except (ValueError, OverflowError):
        return None
