"""The page at /docs: the OpenAPI document for people, on one page that loads nothing from anywhere."""

import json
from html import escape
from typing import Any

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h2{margin-top:2.5rem}code,pre{font:14px/1.45 ui-monospace,monospace}summary{cursor:pointer;padding:.4rem 0}
summary b{display:inline-block;width:3.5rem}details{border-bottom:1px solid #ddd}
td,th{text-align:left;padding:.15rem 1rem .15rem 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{background:#111;color:#eee}details{border-color:#333}a{color:#9cf}}
"""


def documentation(document: dict[str, Any]) -> str:
    """Write an OpenAPI document as HTML."""
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            group = (operation.get("tags") or ["other"])[0]
            groups.setdefault(group, []).append(_operation(document, path, method, operation))
    parts = [f"<h2>{escape(name)}</h2>{''.join(rows)}" for name, rows in groups.items()]
    info = document["info"]
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}</title>"
        f"<style>{_STYLE}</style><h1>{escape(info['title'])} {escape(info['version'])}</h1>"
        f"<p>{escape(info.get('description', ''))} Machines read <a href=/openapi.json>openapi.json</a>. "
        "Keys go into <code>Authorization: Bearer</code> or <code>X-API-Key</code>; errors look like "
        '<code>{"error": {"code", "message", "remedy"}}</code>.</p>' + "".join(parts)
    )


def _operation(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    fields = _properties(document, body) if body else _parameters(operation)
    return (
        f"<details><summary><b>{method.upper()}</b> <code>{escape(path)}</code> "
        f"{escape(operation.get('summary', ''))}</summary>{_table(fields)}</details>"
    )


def _parameters(operation: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (entry["name"], _kind(entry.get("schema", {})), _about(entry.get("schema", {}), entry.get("required", False)))
        for entry in operation.get("parameters", ())
    ]


def _properties(document: dict[str, Any], schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    named = schema.get("$ref", "").rsplit("/", 1)[-1]
    whole = document.get("components", {}).get("schemas", {}).get(named, schema)
    required, fields = whole.get("required", ()), whole.get("properties", {})
    return [(name, _kind(field), _about(field, name in required)) for name, field in fields.items()]


def _kind(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        kinds = [_kind(part) for part in schema["anyOf"] if part.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type") or schema.get("const") or schema.get("$ref", "any").rsplit("/", 1)[-1])


def _about(schema: dict[str, Any], required: bool) -> str:
    told = [schema.get("description", "")]
    told += ["Required."] if required else []
    told += [f"Default {json.dumps(schema['default'])}."] if schema.get("default") is not None else []
    return " ".join(part for part in told if part)


def _table(fields: list[tuple[str, str, str]]) -> str:
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in field)}</tr>" for field in fields)
    return f"<table>{rows}</table>" if rows else "<p>No arguments.</p>"
