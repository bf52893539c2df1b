"""Make the word list of ``memctl.rules.tokens`` and check that its counts are never too few.

    python -m training.recall_tokens cl100k_base.tiktoken o200k_base.tiktoken [--write]

The files are the vocabularies as tiktoken publishes them (MIT), a token in base64 and its rank a line; they are not
part of memctl. Checked are the texts of the training teams, random strings of many alphabets, and pairs of words
joined by signs.
"""

import argparse
import base64
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memctl.rules.tokens import count

HERE = Path(__file__).parent
WORDS = HERE.parent / "memctl" / "weights" / "tokens.txt"
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
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args(arguments)
    vocabularies = [_read(path) for path in asked.vocabularies]
    if asked.write:
        WORDS.write_text(_word_list(*vocabularies), encoding="utf-8")
    encodings = [_encoding(path.stem, ranks) for path, ranks in zip(asked.vocabularies, vocabularies, strict=True)]
    few, ours, real = 0, 0, 0
    for text in _texts():
        wanted, counted = max(len(encoding.encode_ordinary(text)) for encoding in encodings), count(text)
        ours, real, few = ours + counted, real + wanted, few + (counted < wanted)
        if counted < wanted:
            print(f"too few: {counted} for {wanted} tokens of {text!r}")
    print(f"{few} texts counted too low; counts are {ours / real:.2f} times the real ones")
    return 1 if few else 0


def _word_list(first: dict[bytes, int], second: dict[bytes, int]) -> str:
    """Write three lines: words that are one token alone and after a space, only after a space, and characters."""
    both = first.keys() & second.keys()
    spaced = [token[1:] for token in sorted(both, key=first.__getitem__) if re.fullmatch(rb" [A-Za-z]+", token)]
    alone = [word for word in spaced if word in both]
    others = [word for word in spaced if word not in both]
    codes = (code for code in range(0x80, 0xFFFF) if not 0xD800 <= code < 0xE000)
    characters = "".join(chr(code) for code in codes if chr(code).encode() in both)
    return f"{b' '.join(alone).decode()}\n{b' '.join(others).decode()}\n{characters}\n"


def _texts() -> Iterator[str]:
    chance = random.Random(0)
    said = [
        fact["text"]
        for path in sorted(HERE.glob("teams/*/gold.json"))
        for fact in json.loads(path.read_text(encoding="utf-8"))["facts"]
    ]
    yield from said
    for alphabet in ALPHABETS:
        for _ in range(2000):
            yield "".join(chance.choice(alphabet) for _ in range(chance.randint(1, 40)))
    words = re.findall(r"\w+", " ".join(said))
    for _ in range(20000):
        yield chance.choice(words) + chance.choice(list("-_./'(\"`:=@ ")) + chance.choice(words)


def _read(path: Path) -> dict[bytes, int]:
    pairs = (line.split() for line in path.read_text(encoding="utf-8").splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def _encoding(name: str, ranks: dict[bytes, int]) -> Any:
    import tiktoken

    return tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


if __name__ == "__main__":
    raise SystemExit(main())
