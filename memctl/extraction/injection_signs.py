"""How injected instructions sound, by language.

Four kinds of signs, from strong to weak: words that void the agents' own instructions, words that address
machines rather than readers, orders to remember something for good, and other orders to an agent. A sign has
stems of which one must occur in the lower-case text (separated by ``|``; most texts are passed over by that) and
a pattern.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sign:
    """Stems that a text must hold for the pattern to be tried."""

    stems: tuple[str, ...]
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of one kind in all languages."""

    rows: tuple[Sign, ...]

    def found(self, text: str, lower: str) -> Iterator[tuple[int, int]]:
        """Yield the places of the signs in a text; ``lower`` is the same text in lower case."""
        for row in self.rows:
            for stem in row.stems:  # a plain loop: this is the hottest line of cleaning
                if stem in lower:
                    yield from (match.span() for match in row.pattern.finditer(text))
                    break

    def count(self, text: str, lower: str) -> int:
        """Count the signs that do not overlap."""
        count, reach = 0, -1
        for start, end in sorted(self.found(text, lower)):
            count, reach = (count + 1, end) if start >= reach else (count, max(reach, end))
        return count

    def in_(self, text: str, lower: str) -> bool:
        """Whether one of the signs is in the text."""
        return next(self.found(text, lower), None) is not None


def _signs(*rows: tuple[str, str]) -> Signs:
    return Signs(tuple(Sign(tuple(stems.split("|")), re.compile(text, re.IGNORECASE)) for stems, text in rows))


_ANY = r"(?:all|any|every|each|the|your|my|our|these|those|of|and|everything|whatever)"
_OWN = (
    r"(?:previous|prior|earlier|preceding|above|existing|former|original|system|initial|current|other|safety|security)"
)
_RULES = (
    r"(?:instructions?|rules?|guidance|guidelines?|prompts?|directives?|directions|orders|commands?|constraints?|"
    r"policies|programming|training|safeguards|restrictions)"
)
_VOID = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|overrule|bypass|discard|neglect|set aside|"
    r"pay no attention to|(?:do|must) not follow|don'?t follow|stop following)"
)

OVERRIDES = _signs(
    (
        "ignor|disregard|forget|overr|bypass|discard|neglect|set aside|no attention|not follow|n't follow|stop follow",
        rf"\b{_VOID}\s+(?:(?:{_ANY}|{_OWN})\s+){{1,5}}{_RULES}\b",
    ),
    (
        "ignor|disregard|forget|override",
        r"\b(?:ignor(?:e|ing)|disregard|forget|override)\s+(?:everything|all|anything)\s+(?:\w+\s+){0,3}"
        r"(?:above|before|previously|earlier|prior|told|said|instructed)\b",
    ),
    (
        "system prompt|system message",
        r"\b(?:ignore|override|reveal|print|repeat|leak|output)\s+(?:your|the)\s+system\s+(?:prompt|message)\b",
    ),
    (
        "ignorier|vergiss|vergesst|missacht|übergeh|verwirf",
        r"\b(?:ignorier\w*|vergiss|vergesst|missacht\w*|übergeh\w*|verwirf)\s+(?:bitte\s+)?(?:\w+\s+){0,3}"
        r"(?:anweisung|instruktion|regel|vorgabe|prompt|befehl|richtlinie)\w*",
    ),
    (
        "instrucci|reglas|órdenes|directrices|indicaciones",
        r"\b(?:ignor[ae]\w*|olvid[ae]\w*|descart[ae]\w*|haz caso omiso de)\s+(?:\w+\s+){0,3}"
        r"(?:instrucci[oó]n\w*|reglas|órdenes|directrices|indicaciones)\b",
    ),
    (
        "instructions|consignes|règles|directives",
        r"\b(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|ne (?:tiens|tenez) pas compte d\w*)\s+(?:\w+\s+){0,3}"
        r"(?:instructions|consignes|règles|directives)\b(?:\s+(?:précédent|antérieur|ci-dessus|système|du|reçu)\w*)",
    ),
    (
        "instruções|regras|ordens|diretrizes",
        r"\b(?:ignor[ea]\w*|esque[çc][ae]\w*|desconsider\w+)\s+(?:\w+\s+){0,3}(?:instruções|regras|ordens|"
        r"diretrizes)\b",
    ),
    (
        "istruzioni|regole|direttive",
        r"\b(?:ignor[ai]\w*|dimentica\w*)\s+(?:\w+\s+){0,3}(?:istruzioni|regole|direttive)\b",
    ),
    ("negeer|vergeet", r"\b(?:negeer|vergeet)\s+(?:\w+\s+){0,3}(?:instructies|regels|aanwijzingen)\b"),
    ("ignoruj|zapomnij", r"\b(?:z?ignoruj|zapomnij)\w*\s+(?:\w+\s+){0,3}(?:instrukcj|polece|zasad)\w*"),
    ("игнорир|забудь", r"(?:игнорируй|забудь)\w*\s+(?:\w+\s+){0,3}(?:инструкци|указани|правил)\w*"),
    (
        "忽略|无视|無視|忘记|忘記|理会|忽視",
        r"(?:忽略|无视|無視|忘记|忘記|不要理会|不理会|忽視)[^。！？\n]{0,12}(?:指令|指示|说明|說明|提示|规则|規則|命令|要求)",
    ),
    ("無視|忘れ", r"(?:指示|命令|ルール|指令)を?(?:すべて|全て)?(?:無視|忘れ)"),
    ("무시|잊", r"(?:지시|명령|규칙|지침)[^.\n]{0,6}(?:무시|잊)"),
)

_MACHINE = r"(?:a\.?i\.?|llm|gpt|(?:large )?language model|artificial intelligence|chat ?bot|copilot|claude|chatgpt)"
_KIND = (
    r"(?:assistants?|agents?|models?|systems?|readers?|bots?|crawlers?|analysts?|translators?|summari[sz]ers?|"
    r"reviewers?|tools?|users?|coders?)"
)
_MACHINES = (
    rf"(?:{_MACHINE}s?[\s-]+(?:\w+[\s-]+)?{_KIND}|{_MACHINE}s?|assistants|agents|automated (?:agents?|assistants?))"
)
_NOTICE = (
    r"(?:note|notice|message|memo|attention|instructions?|important|warning|reminder|request|directive|command|hint|"
    r"announcement|hello|dear|hey|listen|read this)"
)
_ADDRESSED = (
    "ai |ai-|a.i.|llm|gpt|language model|artificial|chatbot|chat bot|copilot|claude|assistants|agents|automated"
)

ADDRESSES = _signs(
    (
        _ADDRESSED,
        rf"\b{_NOTICE}(?:\s+(?:note|notice|message))?\s*[,:!-]?\s*(?:to|for)?\s*(?:all|any|every|the|"
        rf"other)?\s*{_MACHINES}\b"
        r"(?=[^.\n]{0,40}[:;,!—–-]|\s+(?:reading|processing|visiting|parsing|viewing|who|that|which)\b)",
    ),
    (
        _ADDRESSED,
        rf"(?:^|[.!?>\]\n(]\s?)\W*(?:all|any)?\s*{_MACHINE}s?[\s-]+{_KIND}?\s*"
        r"(?:(?:reading|processing|parsing|visiting|viewing|summari[sz]ing|that|who)\b[^.:\n]{0,60})?[:,]\s*\S",
    ),
    (_ADDRESSED, rf"\bif you(?:'re| are)\s+(?:an?|the)\s+{_MACHINES}\b"),
    (
        "system |admin|developer ",
        r"\b(?:system|admin(?:istrator)?|developer)\s+(?:note|notice|message|override|instruction|alert|update)s?\s*"
        r"(?:(?:to|for)\s+[^:\n]{0,40})?\s*[:\]]",
    ),
    (
        "<|inst]|<sys|sys>|<system",
        r"<\|(?:im_start|system|user|assistant|endoftext|eot_id|start_header_id)[^>]{0,20}\|?>|\[/?INST\]|<</?SYS>>|"
        r"</?system(?:-|_)?(?:prompt|message|instruction)?>",
    ),
    (
        "instruction|prompt|directive",
        r"(?:^|[.!?>\]]\s)\W*(?:begin|new|updated|additional|hidden|"
        r"secret)\s+(?:system\s+)?(?:instructions?|prompt|directives?)\s*[:\]]",
    ),
    (
        "hinweis|achtung|anweisung|nachricht|wichtig|notiz|mitteilung",
        r"\b(?:system)?(?:hinweis|achtung|anweisung|nachricht|wichtig|notiz|mitteilung)\w*\s*[:,]?\s*(?:an|für)?\s*"
        r"(?:alle|die|den)?\s*(?:ki|llm|sprachmodell|chatbot|ai)(?:[\s-]\w+|s|e|en)?\b",
    ),
    ("system", r"\bsystem(?:hinweis|nachricht|anweisung|meldung)\s*(?:für\s+[^:\n]{0,40})?:"),
    (
        "nota|aviso|atenci|mensaje|instrucci|importante|advertencia|atenção|mensagem|instrução",
        r"\b(?:nota|aviso|aten(?:ción|ção)|mensaje|mensagem|instrucci[oó]n\w*|instrução|importante|advertencia)"
        r"(?:\s+del?\s+sistema)?\s*[:,]?\s*(?:para|aos?|a)?\s*(?:todos|los|las|el|os)?\s*(?:los\s+|os\s+)?"
        r"(?:asistentes?|assistentes?|agentes?|modelos?|sistemas?|ia|llm)\s*(?:de\s+)?(?:ia|inteligencia|"
        r"lenguaje|linguagem|llm|:|que)",
    ),
    (
        "note|attention|message|consigne|avis|important|instruction",
        r"\b(?:note|attention|message|consigne|avis|important|instruction)s?(?:\s+système)?\s*[:,]?\s*"
        r"(?:à|aux?|pour|destinée? aux)\s*(?:tous|les|l')?\s*(?:les\s+)?(?:assistants?|agents?|modèles?|"
        r"systèmes?|ia|llm)"
        r"\s*(?:d['’]|de\s+)?(?:ia|intelligence|langage|llm|:|qui)",
    ),
    (
        "avviso|attenzione|messaggio|nota",
        r"\b(?:nota|avviso|attenzione|messaggio)\s*[:,]?\s*(?:per|agli|ai)\s*(?:tutti|gli)?\s*"
        r"(?:assistenti|agenti|modelli)\s*(?:di\s+|ia|ai)",
    ),
    (
        "ai|人工智|大模型|语言模型|智能体|llm|机器人",
        r"(?:致|提醒|通知|注意|各位|请所有)[^。！？\n]{0,6}(?:AI|人工智能|人工智慧|大模型|语言模型|智能体|LLM)|"
        r"给[^。！？\n]{0,4}(?:AI|人工智能|大模型|智能体|LLM)[^。！？\n]{0,4}的(?:提示|说明|指令|备注|留言|通知)",
    ),
    (
        "助手|助理|代理|智能体|模型",
        r"(?:AI|人工智能|大模型|智能)(?:助手|助理|代理|智能体|模型)[^。！？\n]{0,6}(?:请|請|注意|必须|必須|应当|：|:)",
    ),
    ("系统", r"系统(?:提示|指令|消息|通知|说明|备注)\s*[:：]"),
    ("アシスタント|エージェント|モデル", r"(?:AI|人工知能)(?:アシスタント|エージェント|モデル)(?:へ|への|向け|は必ず)"),
)

_STORE = r"(?:remember|memori[sz]e|store|save|record|note|keep|retain|log|persist|register|add|write|commit|put|treat)"
_FOR_GOOD = (
    r"(?:permanent(?:ly)?|forever|for ever|for good|indefinitely|for all (?:future|time)|eternally|at all times)"
)
_MIND = (
    r"(?:(?:long[- ]?term|permanent|persistent|own|internal|agent|core|team|shared|global)\s+)*"
    r"(?:memory|memories|memory bank|knowledge base|notes|context|preferences|profile|instructions|rules)"
)
_LASTING = r"(?:permanent|standing|persistent|lasting|fixed|global|verified|trusted)"

REMEMBERS = _signs(
    (
        "permanent|forever|for ever|for good|indefinitely|for all|eternally|at all times",
        rf"\b{_STORE}\s+(?:\w+\s+){{0,4}}?{_FOR_GOOD}\b|"
        rf"\b{_FOR_GOOD}\s+(?:and\s+\w+\s+)?(?:remember|memori[sz]e|store|save|record|keep in mind|note)\b",
    ),
    (
        "memor|knowledge base|notes|context|preferences|profile|instructions|rules",
        rf"\b{_STORE}\s+(?:[\w'-]+\s+){{0,8}}?(?:in|into|to|as part of)\s+(?:your|the agent'?s?|its|all)\s+{_MIND}\b",
    ),
    (
        "permanent|standing|persistent|lasting|fixed|global|verified|trusted",
        rf"\b{_STORE}\s+(?:[\w'-]+\s+){{0,4}}?as\s+an?\s+{_LASTING}\s+(?:\w+\s+){{0,2}}"
        r"(?:rule|preference|fact|instruction|decision|memory|policy|note)",
    ),
    (
        "your ",
        r"\b(?:update|overwrite|change|modify|edit|replace)\s+your\s+(?:\w+\s+)?(?:memory|memories|"
        r"instructions|system prompt|rules)\b",
    ),
    (
        "dauerhaft|für immer|permanent|auf dauer|in deine|langzeit|als feste",
        r"\bmerk\w*\s+(?:dir|euch)?\s*(?:\w+\s+){0,3}?(?:dauerhaft|für immer|permanent|auf dauer)|"
        r"\b(?:speicher|notier|übernimm|hinterleg)\w*\s+(?:\w+\s+){0,6}?"
        r"(?:dauerhaft|für immer|permanent|in deine[mn]?\b|im langzeit|als dauerhafte|als feste)\w*|"
        r"\b(?:dauerhaft|für immer|permanent)\s+(?:merken|speichern|notieren)",
    ),
    (
        "siempre|permanente|memoria",
        r"\b(?:recuerd[ae]\w*|memoriz[ae]\w*|guard[ae]\w*|almacen[ae]\w*|registr[ae]\w*|anot[ae]\w*)\s+(?:\w+\s+){0,5}?"
        r"(?:para siempre|permanentemente|de forma permanente|en (?:tu|su|vuestra) memoria|como (?:regla|"
        r"preferencia|norma) permanente)",
    ),
    (
        "toujours|définitivement|permanen|mémoire",
        r"\b(?:souviens-toi|souvenez-vous|mémoris\w+|enregistr\w+|retiens|retenez|stock\w+|not\w+)\s+(?:\S+\s+){0,5}?"
        r"(?:pour toujours|définitivement|de façon permanente|en permanence|dans (?:ta|votre) mémoire|"
        r"comme règle permanente)",
    ),
    (
        "sempre|permanente|memória|memoria",
        r"\b(?:lembr\w+(?:-se)?|memoriz\w+|guard[ae]\w*|armazen\w+|registr\w+|ricorda\w*|salva\w*)\s+(?:\S+\s+){0,5}?"
        r"(?:para sempre|permanentemente|na (?:sua|tua) memória|como regra permanente|per sempre|nella tua memoria)",
    ),
    (
        "запомни|сохрани|запиши",
        r"(?:запомни|сохрани|запиши)\w*\s+(?:\S+\s+){0,5}?(?:навсегда|постоянно|в (?:свою|вашу|твою)?\s*памят)\w*",
    ),
    (
        "永久|永远|永遠|长期|長期|牢牢|记忆|記憶",
        r"(?:永久|永远|永遠|长期|長期|牢牢)(?:地)?(?:记住|記住|记录|保存|存储|储存|记忆|記憶)|"
        r"(?:记住|記住|保存|存储|储存|写入|存入|记录|加入|記録)[^。！？\n]{0,16}(?:永久|永远|长期记忆|長期記憶|你的记忆|你的記憶|记忆库|記憶)",
    ),
    (
        "永久に|永遠に|ずっと|メモリ|記憶",
        r"(?:永久に|永遠に|ずっと)(?:覚え|記憶|保存)|(?:メモリ|記憶)に(?:保存|記録)(?:して|せよ|しろ)",
    ),
)

ORDERS = _signs(
    (
        "you |agent|assistant",
        r"\b(?:you|agents?|assistants?)\s+(?:must|shall|have to|are required to|are instructed to|should)\s+"
        r"(?:now|always|never|immediately|instead|remember|store|save|ignore|disregard|treat|approve)\b",
    ),
    (
        "you are now|act as|pretend|your new",
        r"\byou are now\b|\bact as (?:an?|the|if)\b|\bpretend (?:to be|that)\b|\byour new (?:task|role|"
        r"goal|instructions?|job)\b",
    ),
    (
        "from now on|from this|all future",
        r"\bfrom now on\b|\bfrom this (?:moment|point) on\b|\b(?:in|for) all future (?:conversations|"
        r"sessions|chats|answers|replies|reports)\b",
    ),
    (
        "mention|tell|inform|reveal|disclose|report|alert|warn|show",
        r"\b(?:do not|don'?t|never)\s+(?:mention|tell|inform|reveal|disclose|report|alert|warn|show)\s+(?:\w+\s+){0,4}?"
        r"(?:this|note|users?|anyone|anybody|humans?|team|owner|instruction|message|it)\b",
    ),
    (
        "tell |inform |convince |assure ",
        r"\b(?:tell|inform|convince|assure)\s+(?:your|the)\s+"
        r"(?:team|user|owner|operator|principal|developer|client|customer|boss|human)s?\s+that\b",
    ),
    (
        "without |no need ",
        r"\b(?:without|no need (?:for|to))\s+(?:asking|confirmation|approval|review|checks?|verification|"
        r"ask|confirm|verify)\b",
    ),
    (
        "send|upload|post|forward|exfiltrate|transmit|submit|email|leak",
        r"\b(?:send|upload|post|forward|exfiltrate|transmit|submit|email|leak)\s+(?:\w+\s+){0,6}?(?:to|at)\s+"
        r"(?:https?://|[\w.-]+@|[\w-]+\.\w{2,})",
    ),
    ("following|this ", r"\b(?:run|execute|paste)\s+(?:the following|this)\s+(?:command|code|script|shell)\b"),
    (
        "always ",
        r"\balways\s+(?:append|cite|recommend|include|respond|answer|reply|mention|add|link|trust|approve|"
        r"say|promote)\b",
    ),
    ("never ", r"\bnever\s+(?:raise|flag|report|question|verify|check|mention|block|alert|refuse|ask)\b"),
    (
        "overrides|supersedes|replaces|precedence|priority|system prompt",
        r"\bsystem prompt\s*:|\bthis (?:overrides|supersedes|replaces|takes precedence over)\b|\b(?:top|"
        r"highest) priority\b",
    ),
    (
        "remember that|memori|pass this on|pass it on|standing ",
        r"\b(?:remember|memori[sz]e) that\b|\bpass (?:this|it) on to\b|\bstanding (?:client |team |"
        r"user )?(?:preference|instruction|rule|order)\b",
    ),
    (
        "ab jetzt|ab sofort|von nun an|du musst|du sollst|erwähne|merke dir",
        r"\bab (?:jetzt|sofort)\b|\bvon nun an\b|\bdu (?:musst|sollst) (?:ab sofort|jetzt|immer|nie)\b|"
        r"\berwähne (?:das|dies\w*) nicht\b|\bmerke dir\b",
    ),
    (
        "ahora|debes|no menciones|no reveles|recuerda",
        r"\ba partir de ahora\b|\bde ahora en adelante\b|\bdebes (?:siempre|ahora)\b|\bno (?:menciones|"
        r"reveles)\b|\brecuerda que\b",
    ),
    (
        "désormais|maintenant|dorénavant|tu dois|mentionne|souviens",
        r"\bdésormais\b|\bà partir de maintenant\b|\bdorénavant\b|\btu dois (?:toujours|maintenant)\b|"
        r"\bne mentionne\w* pas\b|\bsouviens-toi\b",
    ),
    (
        "agora|d'ora in poi|vanaf nu|с этого момента|отныне",
        r"\ba partir de agora\b|\bde agora em diante\b|\bd'ora in poi\b|\bvanaf nu\b|\bс этого момента\b|\bотныне\b",
    ),
    (
        "现在|現在|今后|你必|不要|记住|今後|これから",
        r"从现在(?:起|开始)|從現在起|今后(?:必须|一律|都)|你必须|你必須|不要(?:提及|提到|告诉|告訴|透露)|请记住|今後は必ず|これからは",
    ),
)
