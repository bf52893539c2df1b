"""Check that the counts of ``memctl.rules.tokens`` are not too low.

    python -m training.recall_tokens cl100k_base.tiktoken o200k_base.tiktoken [--lines FILE...]

The files are the vocabularies as tiktoken publishes them (MIT), a token in base64 and its rank a line; they are not
part of memctl. Checked are what the training teams said and remember, random strings of many alphabets, pairs of words
joined by signs, and the lines of any files given.

The margins were chosen so that none of 1,581 memories, 27,730 different lines of chats and 67,420 sentences of a
program's translations into 94 languages is counted too low, and of 42,000 random strings one, of rare ideographs. The
counts of the memories are 1.38 times the real ones.
"""

import argparse
import base64
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from memctl.embedding.models import open_rarities
from memctl.rules.tokens import TokenCount

HERE = Path(__file__).parent
TOLERATED = 1 / 10_000
PATTERNS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz ",
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_./",
    "0123456789abcdef ",
    "".join(map(chr, range(32, 127))),
    "".join(map(chr, range(32, 0x250))),
    "".join(map(chr, range(0x4E00, 0x9FFF))),
    "".join(map(chr, range(0x3040, 0x30FF))),
    "абвгдежзиклмн опрст",
    "äöüßéèñçãõ abcdefghi",
    "😀🎉👍🏽 ok",
    "ab \n\t.-#",
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vocabularies", type=Path, nargs=2)
    parser.add_argument("--lines", type=Path, nargs="*", default=[])
    asked = parser.parse_args(arguments)
    encodings = [_encoding(path.stem, _read(path)) for path in asked.vocabularies]
    count = TokenCount(open_rarities())
    texts, few, ours, real = 0, 0, 0, 0
    for texts, text in enumerate((*_texts(), *_lines(asked.lines)), 1):  # noqa: B007
        wanted, counted = max(len(encoding.encode_ordinary(text)) for encoding in encodings), count(text)
        ours, real, few = ours + counted, real + wanted, few + (counted < wanted)
        if counted < wanted:
            print(f"too few: {counted} for {wanted} tokens of {text!r}")
    print(f"{few} of {texts} texts counted too low; counts are {ours / real:.2f} times the real ones")
    return 1 if few > texts * TOLERATED else 0


def _texts() -> Iterator[str]:
    chance = random.Random(0)
    said = [
        fact["text"]
        for path in sorted(HERE.glob("teams/*/gold.json"))
        for fact in json.loads(path.read_text(encoding="utf-8"))["facts"]
    ]
    yield from said
    yield from _lines(sorted(HERE.glob("teams/*/session-*")))
    for alphabet in ALPHABETS:
        for _ in range(2000):
            yield "".join(chance.choice(alphabet) for _ in range(chance.randint(1, 40)))
    words = re.findall(r"\w+", " ".join(said))
    for _ in range(20000):
        yield chance.choice(words) + chance.choice(list("-_./'(\"`:=@ ")) + chance.choice(words)


def _lines(paths: Iterable[Path]) -> list[str]:
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    return list(dict.fromkeys(line for line in lines if line.strip()))


def _read(path: Path) -> dict[bytes, int]:
    pairs = (line.split() for line in path.read_text(encoding="utf-8").splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def _encoding(name: str, ranks: dict[bytes, int]) -> Any:
    import tiktoken

    return tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


if __name__ == "__main__":
    raise SystemExit(main())
