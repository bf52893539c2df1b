"""Object stores on loopback that speak as much of Google's and Azure's protocols as a store of memctl needs."""

import itertools
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


@dataclass
class Bucket:
    """Objects by name, each with the number of its version; a put is conditional where it is asked to be."""

    objects: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    turn: threading.Lock = field(default_factory=threading.Lock)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def put(self, name: str, data: bytes, wanted: int | None) -> int | None:
        """Write and give the new number; None where another version than the ``wanted`` one (0: none) is there."""
        with self.turn:
            if wanted is not None and self.objects.get(name, (b"", 0))[1] != wanted:
                return None
            self.objects[name] = (data, next(self.numbers))
            return self.objects[name][1]

    def listed(self, prefix: str, delimiter: str) -> tuple[list[str], list[str]]:
        """Give the names below a prefix, and the folders where they are cut at the delimiter."""
        with self.turn:
            names = sorted(name for name in self.objects if name.startswith(prefix))
        if not delimiter:
            return names, []
        folders = {prefix + name[len(prefix) :].split(delimiter)[0] + delimiter for name in names}
        deep = [name for name in names if delimiter in name[len(prefix) :]]
        return [name for name in names if name not in deep], sorted(folders & {_folder(name, prefix) for name in deep})


def _folder(name: str, prefix: str) -> str:
    return prefix + name[len(prefix) :].split("/")[0] + "/"


class Cloud(BaseHTTPRequestHandler):
    """What both protocols share: objects are put, read in parts, listed and deleted below ``/bucket/``."""

    protocol_version = "HTTP/1.1"
    bucket: Bucket
    skipped = 1  # parts of the path before the object's name

    def log_message(self, *_: Any) -> None:
        """Keep still."""

    def name(self) -> str:
        parts = unquote(urlsplit(self.path).path).lstrip("/").split("/", self.skipped)
        return parts[self.skipped] if len(parts) > self.skipped else ""

    def asked(self, name: str) -> str:
        return parse_qs(urlsplit(self.path).query).get(name, [""])[0]

    def answer(self, status: int, body: bytes = b"", **headers: Any) -> None:
        self.send_response(status)
        for key, value in {"content-length": len(body), "last-modified": formatdate(usegmt=True), **headers}.items():
            self.send_header(key.replace("_", "-"), str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def versioned(self, number: int) -> dict[str, Any]:
        raise NotImplementedError

    def wanted(self) -> int | None:
        raise NotImplementedError

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length", 0)))
        number = self.bucket.put(self.name(), data, self.wanted())
        if number is None:
            self.answer(409 if self.headers.get("if-none-match") else 412)
        else:
            self.answer(201, **self.versioned(number))

    def do_GET(self) -> None:
        if not self.name():
            self.answer(200, self.listing().encode(), content_type="application/xml")
            return
        found = self.bucket.objects.get(self.name())
        if found is None:
            self.answer(404)
            return
        data, number = found
        span = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("range") or self.headers.get("x-ms-range") or "")
        if span is None:
            self.answer(200, data, **self.versioned(number))
            return
        start = int(span[1]) if span[1] else len(data) - int(span[2])
        end = min(int(span[2]) + 1 if span[1] and span[2] else len(data), len(data))
        told = {"content_range": f"bytes {start}-{end - 1}/{len(data)}"}
        self.answer(206, data[start:end], **told, **self.versioned(number))

    def do_HEAD(self) -> None:
        found = self.bucket.objects.get(self.name())
        if found is None:
            self.answer(404)
        else:
            self.answer(200, found[0], **self.versioned(found[1]))

    def do_DELETE(self) -> None:
        gone = self.bucket.objects.pop(self.name(), None)
        self.answer(404 if gone is None else 204 if self.skipped == 1 else 202)

    def listing(self) -> str:
        raise NotImplementedError


class Google(Cloud):
    """Google Cloud Storage, XML: a version is a number, and only that can be asked for in a put."""

    def wanted(self) -> int | None:
        asked = self.headers.get("x-goog-if-generation-match")
        return None if asked is None else int(asked)

    def versioned(self, number: int) -> dict[str, Any]:
        return {"etag": f'"tag-{number}"', "x_goog_generation": number}

    def listing(self) -> str:
        names, folders = self.bucket.listed(self.asked("prefix"), self.asked("delimiter"))
        rows = "".join(
            f"<Contents><Key>{escape(name)}</Key><LastModified>2026-05-04T09:00:00.000Z</LastModified>"
            f"<Size>{len(self.bucket.objects[name][0])}</Size><ETag>x</ETag></Contents>"
            for name in names
        )
        cut = "".join(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in folders)
        return f"<ListBucketResult>{rows}{cut}</ListBucketResult>"


class Azure(Cloud):
    """Azure Blob Storage: below account and container; a version is a tag."""

    skipped = 2

    def wanted(self) -> int | None:
        if self.headers.get("if-none-match") == "*":
            return 0
        tag = self.headers.get("if-match")
        return None if tag is None else int(re.sub(r"\D", "", tag))

    def versioned(self, number: int) -> dict[str, Any]:
        return {"etag": f'"tag-{number}"', "x_ms_blob_type": "BlockBlob"}

    def do_POST(self) -> None:
        """Delete many at once: requests in the parts of a body, answered in the parts of another."""
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        asked = [unquote(path).lstrip("/").split("/")[self.skipped :] for path in re.findall(r"DELETE (\S+) ", body)]
        gone = [self.bucket.objects.pop("/".join(parts), None) for parts in asked]
        told = (b"404 Not Found" if one is None else b"202 Accepted" for one in gone)
        parts = [
            b"--batch\r\nContent-Type: application/http\r\nContent-ID: %d\r\n\r\nHTTP/1.1 %s\r\n\r\n" % numbered
            for numbered in enumerate(told)
        ]
        self.answer(202, b"".join(parts) + b"--batch--\r\n", content_type="multipart/mixed; boundary=batch")

    def listing(self) -> str:
        names, folders = self.bucket.listed(self.asked("prefix"), self.asked("delimiter"))
        rows = "".join(
            f"<Blob><Name>{escape(name)}</Name><Properties><Last-Modified>{formatdate(usegmt=True)}</Last-Modified>"
            f"<Content-Length>{len(self.bucket.objects[name][0])}</Content-Length><Etag>x</Etag>"
            "<Content-Type>application/octet-stream</Content-Type></Properties></Blob>"
            for name in names
        )
        cut = "".join(f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>" for name in folders)
        return f"<EnumerationResults><Blobs>{rows}{cut}</Blobs><NextMarker/></EnumerationResults>"


@contextmanager
def cloud(kind: type[Cloud]) -> Iterator[str]:
    """Serve an empty object store of a kind on loopback, and give its address."""
    handler = type(kind.__name__, (kind,), {"bucket": Bucket()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
