"""What kind of memory a question asks for: what to avoid, what holds just now, what somebody wants, what was settled.

A hint, never a filter: it only weighs in the ranking.
"""

import re

from memctl.model import MemoryType
from memctl.rules.terms import fold

Intent = frozenset[MemoryType]

_CUES: dict[MemoryType, str] = {
    MemoryType.FAILURE: r"""
        avoid\w* pitfalls? wrong fail\w* br[oa]ke\w* backfir\w* problems? troubl\w* issues? mistakes? lessons? gotchas?
        danger\w* risks? traps? tried attempts? unsuccessful rejected crash\w*
        (?:did|does|do|was|were)(?:n[o']?t|\s+not) stay\s+away why\s+not ruled\s+out bad(?:ly)?
        vermeid\w* schief\w* fehl\w* problem\w* gescheitert\w* verworfen versuch\w*
        evit\w* problemas? fall[oaó]\w* error\w* fracas\w* intent[oóa]\w*
        eviter problemes? echec\w* echou\w* erreurs? essay\w*
        falh\w* erros? tentat\w*
        避免 失败 问题 教训 不要 错误 出错 别再 失敗 問題
    """,
    MemoryType.TEMPORARY: r"""
        now today tonight tomorrow yesterday currently current at\s+(?:the\s+moment|present) still status progress
        this\s+(?:week|morning|afternoon|evening) available unavailable busy free down offline how\s+far away
        jetzt heute morgen gestern gerade aktuell derzeit momentan noch fortschritt
        ahora hoy ayer manana actualmente estado todavia
        maintenant aujourd'hui hier demain actuellement en\s+cours encore
        agora hoje ontem amanha atualmente ainda
        现在 今天 明天 昨天 目前 进度 状态 正在 今日 現在
    """,
    MemoryType.PREFERENCE: r"""
        prefer\w* wants? likes? dislikes? wish\w* insists? expects? style tone taste should\s+(?:i|we|it|the)
        how\s+does\s+\w+\s+want favou?rite
        wunsch\w* bevorzug\w* mag moch\w* soll\w*
        quiere\w* prefier\w* gusta\w* tono desea\w*
        veut prefer\w* souhait\w* aime\w*
        quer prefer\w* gosta\w*
        喜欢 偏好 希望 要求 想要 风格 好み
    """,
    MemoryType.DECISION: r"""
        decid\w* decision\w* chos\w* choose pick\w* agreed settled polic(?:y|ies) rules? allowed may can which
        entschied\w* entscheid\w* gewahlt beschlossen regel\w* darf durfen welche\w*
        decid\w* decision\w* elegi\w* acord\w* reglas? puede\w* podemos
        choisi\w* regles? peut pouvons quel\w*
        escolh\w* regras? pode\w*
        决定 选择 规定 可以 哪个 決定
    """,
}


def _pattern(cues: str) -> re.Pattern[str]:
    words = [cue for cue in cues.split() if cue.isascii()]
    signs = [cue for cue in cues.split() if not cue.isascii()]
    return re.compile(rf"\b(?:{'|'.join(words)})\b|{'|'.join(signs)}", re.IGNORECASE)


_PATTERNS = {kind: _pattern(cues) for kind, cues in _CUES.items()}


def intent_of(question: str) -> Intent:
    """Name the types that the words of a question point to; context goes with what is temporary."""
    words = fold(question)
    found = {kind for kind, pattern in _PATTERNS.items() if pattern.search(words)}
    return frozenset(found | ({MemoryType.CONTEXT} if MemoryType.TEMPORARY in found else set()))
