"""Transcripts as AutoGen users save them: bytes in, messages with speakers, roles and times out."""

from dataclasses import replace

from memctl.errors import UnknownFormat, UnreadableInput
from memctl.model import Transcript
from memctl.transcripts.decode import decode
from memctl.transcripts.detect import FORMATS, detect, named
from memctl.transcripts.document import Companions, Document
from memctl.transcripts.files import LARGEST_FILE, companions_of, find, load
from memctl.transcripts.turns import with_tool_names

__all__ = ["FORMATS", "LARGEST_FILE", "Companions", "Document", "companions_of", "find", "load", "read"]


def read(
    path: str,
    data: bytes,
    *,
    format: str | None = None,  # noqa: A002 - the word of --format
    companions: Companions | None = None,
    largest: int = LARGEST_FILE,
) -> list[Transcript]:
    """Read the chats in ``data``; ``path`` only names them.

    The format is recognised by content unless ``format`` names it. ``companions`` gives neighbouring files
    by relative path, ``largest`` is how much a compressed file may unpack to. Any bytes either give transcripts
    or raise UnreadableInput or a kind of it.
    """
    try:
        document = decode(path, data, companions, largest)
        form = named(document, format) if format else detect(document)
        transcripts = form.read(document)
    except RecursionError as error:
        reason = "its values are nested too deeply to be a transcript"
        raise UnreadableInput(path=path, reason=reason, remedy="") from error
    if not transcripts:
        raise UnknownFormat(path=path, reason=f"it holds no messages in the format {form.name}")
    return [replace(transcript, messages=with_tool_names(transcript.messages)) for transcript in transcripts]
