"""Choosing what goes into a recall block, so that it never costs more than it may.

The best memories come first, but no type crowds the others out: each memory of a type that is already in
makes the next of that type a little less urgent. What does not fit is counted and said on the last line.
Tokens are counted as :mod:`memctl.rules.tokens` does, rather too high than too low.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memctl.model import Hit, MessageHit, RecallBlock
from memctl.rules.layout import CHATS, ORDER, Layout, section_of

CROWDING = 0.94  # what is left of a memory's urgency for each memory of its type that is already in

Item = Hit | MessageHit
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What goes in, and how many that bear on the question do not."""

    hits: tuple[Hit, ...]
    messages: tuple[MessageHit, ...]
    left_out: int = 0


def pack(
    hits: Sequence[Hit],
    messages: Sequence[MessageHit] = (),
    *,
    query: str,
    agent: str,
    limit: int,
    max_tokens: int,
    count: Count,
    layout: Layout | None = None,
) -> RecallBlock:
    """Make the block: at most ``limit`` memories and as many messages, its text never above ``max_tokens``.

    ``hits`` and ``messages`` come best first and stay so. The block's hits are those that its text shows; its
    messages are all up to the limit, for programs that read them rather than the text. ``left_out`` counts what
    the text does not show. Where nothing is remembered, or nothing fits, the text is empty.
    """
    layout = layout or Layout()
    chosen = _choose(hits, messages, agent, limit, max_tokens, _Price(layout, count))
    text = write(chosen, agent, layout)
    return RecallBlock(query, agent, text, count(text), chosen.hits, tuple(messages[:limit]), chosen.left_out)


def write(chosen: Chosen, agent: str, layout: Layout) -> str:
    """Write a block; nothing chosen is an empty text."""
    if not chosen.hits and not chosen.messages:
        return ""
    body: list[str] = []
    for title, lines in _sections(chosen, layout):
        first, *last = layout.section(title)
        body += [first, *lines, *last]
    return "\n".join([*layout.opening(agent), *body, *layout.closing(chosen.left_out)])


def crowd_order(hits: Sequence[Hit]) -> list[Hit]:
    """Order memories by urgency: their score, less for each better one of the same section."""
    waiting, seen = list(hits), Counter[str]()
    ordered: list[Hit] = []
    while waiting:
        best = max(waiting, key=lambda hit: hit.score * CROWDING ** seen[section_of(hit.fact)])
        waiting.remove(best)
        seen[section_of(best.fact)] += 1
        ordered.append(best)
    return ordered


def _choose(
    hits: Sequence[Hit], messages: Sequence[MessageHit], agent: str, limit: int, max_tokens: int, price: "_Price"
) -> Chosen:
    wanted: list[Item] = [*crowd_order(hits)[:limit], *messages[:limit]]
    beyond = max(0, len(hits) - limit) + max(0, len(messages) - limit)
    all_in = _fill(wanted, max_tokens - price.frame(agent, beyond), price)
    if len(all_in) < len(wanted):  # then the last line has to say so, and costs something itself
        all_in = _fill(wanted, max_tokens - price.frame(agent, len(hits) + len(messages)), price)
    shown = {item.fact.id for item in all_in if isinstance(item, Hit)}
    return Chosen(
        tuple(hit for hit in hits if hit.fact.id in shown),
        tuple(item for item in all_in if isinstance(item, MessageHit)),
        len(hits) + len(messages) - len(all_in),
    )


def _fill(wanted: Sequence[Item], room: int, price: "_Price") -> list[Item]:
    """Take what fits, in order; a long one that does not fit makes way for shorter ones after it."""
    taken: list[Item] = []
    titles: set[str] = set()
    for item in wanted:
        title = _title(item)
        heading = 0 if title in titles else price.section(title)
        for form in _forms(item):
            cost = heading + price.item(form)
            if cost <= room:
                room -= cost
                titles.add(title)
                taken.append(form)
                break
    return taken


def _forms(item: Item) -> list[Item]:
    """Give the ways to show something, the fullest first: a message also without its neighbours."""
    if isinstance(item, MessageHit) and (item.before or item.after):
        return [item, replace(item, before="", after="")]
    return [item]


@dataclass(frozen=True, slots=True)
class _Price:
    """What each part of a block costs in tokens, line ends included."""

    layout: Layout
    count: Count

    def frame(self, agent: str, left_out: int) -> int:
        return self._lines([*self.layout.opening(agent), *self.layout.closing(left_out)])

    def section(self, title: str) -> int:
        return self._lines(self.layout.section(title))

    def item(self, item: Item) -> int:
        return self._lines([_line(item, self.layout)])

    def _lines(self, lines: Sequence[str]) -> int:
        return sum(self.count(line) + 1 for line in lines)


def _sections(chosen: Chosen, layout: Layout) -> list[tuple[str, list[str]]]:
    by_title: dict[str, list[str]] = {title: [] for title in (*ORDER, CHATS)}
    items: list[Item] = [*chosen.hits, *chosen.messages]
    for item in items:
        by_title[_title(item)].append(_line(item, layout))
    return [(title, lines) for title, lines in by_title.items() if lines]


def _title(item: Item) -> str:
    return section_of(item.fact) if isinstance(item, Hit) else CHATS


def _line(item: Item, layout: Layout) -> str:
    return layout.fact(item) if isinstance(item, Hit) else layout.message(item)
