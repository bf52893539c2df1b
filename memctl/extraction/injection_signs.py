"""How injected instructions sound, by language. Patterns see one normalised piece of text at a time.

Four kinds of signs, from strong to weak: words that void the agents' own instructions, words that address
machines rather than readers, orders to remember something for good, and other orders to an agent.
"""

import re

_ANY = r"(?:all|any|every|each|the|your|my|our|these|those|of|and|everything|whatever)"
_OWN = r"(?:previous|prior|earlier|preceding|above|existing|former|original|system|initial|current|other|safety|security)"
_RULES = (
    r"(?:instructions?|rules?|guidance|guidelines?|prompts?|directives?|directions|orders|commands?|constraints?|"
    r"policies|programming|training|safeguards|restrictions)"
)

OVERRIDES = (
    rf"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|overrule|bypass|discard|neglect|set aside|pay no attention to|"
    rf"(?:do|must) not follow|don'?t follow|stop following)\s+(?:(?:{_ANY}|{_OWN})\s+){{1,5}}{_RULES}\b",
    r"\b(?:ignor(?:e|ing)|disregard|forget|override)\s+(?:everything|all|anything)\s+(?:\w+\s+){0,3}"
    r"(?:above|before|previously|earlier|prior|told|said|instructed)\b",
    r"\b(?:ignore|override|reveal|print|repeat|leak|output)\s+(?:your|the)\s+system\s+(?:prompt|message)\b",
    r"\bignorier\w*\s+(?:bitte\s+)?(?:\w+\s+){0,3}(?:anweisung|instruktion|regel|vorgabe|prompt|befehl|richtlinie)\w*",
    r"\b(?:vergiss|vergesst|missacht\w*|übergeh\w*|verwirf)\s+(?:bitte\s+)?(?:\w+\s+){0,3}(?:anweisung|instruktion|regel|vorgabe|richtlinie)\w*",
    r"\b(?:ignor[ae]\w*|olvid[ae]\w*|descart[ae]\w*|haz caso omiso de)\s+(?:\w+\s+){0,3}(?:instrucci[oó]n\w*|reglas|órdenes|directrices|indicaciones)\b",
    r"\b(?:ignor(?:e|ez|er)|oubli(?:e|ez|er)|ne tiens pas compte d\w*|ne tenez pas compte d\w*)\s+(?:\w+\s+){0,3}"
    r"(?:instructions|consignes|règles|directives)\b",
    r"\b(?:ignor[ea]\w*|esqueç?[ae]\w*|desconsider\w+)\s+(?:\w+\s+){0,3}(?:instruções|regras|ordens|diretrizes)\b",
    r"\b(?:ignor[ai]\w*|dimentica\w*)\s+(?:\w+\s+){0,3}(?:istruzioni|regole|direttive)\b",
    r"\b(?:negeer|vergeet)\s+(?:\w+\s+){0,3}(?:instructies|regels|aanwijzingen)\b",
    r"\b(?:zignoruj|ignoruj|zapomnij)\w*\s+(?:\w+\s+){0,3}(?:instrukcj|polece|zasad)\w*",
    r"(?:проигнорируй|игнорируй|забудь)\w*\s+(?:\w+\s+){0,3}(?:инструкци|указани|правил)\w*",
    r"(?:忽略|无视|無視|忘记|忘記|不要理会|不理会|忽視)[^。！？\n]{0,12}(?:指令|指示|说明|說明|提示词|提示詞|提示|规则|規則|命令|要求)",
    r"(?:指示|命令|ルール|指令)を?(?:すべて|全て)?(?:無視|忘れ)",
    r"(?:지시|명령|규칙|지침)[^.\n]{0,6}(?:무시|잊)",
)

_MACHINE = (
    r"(?:a\.?i\.?|llm|gpt|large language model|language model|artificial intelligence|chat ?bot|agentic|copilot|claude|chatgpt)"
)
_MACHINES = (
    rf"(?:{_MACHINE}s?[\s-]+(?:\w+[\s-]+)?(?:assistants?|agents?|models?|systems?|readers?|bots?|crawlers?|analysts?|"
    rf"translators?|summari[sz]ers?|reviewers?|tools?|users?|coders?)|{_MACHINE}s?|assistants|agents|automated (?:agents?|assistants?))"
)
_NOTICE = (
    r"(?:note|notice|message|memo|attention|instructions?|important|warning|reminder|request|directive|command|hint|"
    r"announcement|hello|dear|hey|listen|read this)"
)
ADDRESSES = (
    rf"\b{_NOTICE}(?:\s+(?:note|notice|message))?\s*[,:!-]?\s*(?:to|for|from system to)?\s*(?:all|any|every|the|other)?\s*{_MACHINES}\b"
    r"(?=[^.\n]{0,40}[:;,!—–-]|\s+(?:reading|processing|visiting|parsing|viewing|who|that|which)\b)",
    rf"^\W*(?:all|any)?\s*{_MACHINE}s?[\s-]+(?:assistants?|agents?|models?|translators?|bots?|systems?|readers?|reviewers?)?"
    r"\s*(?:(?:reading|processing|parsing|visiting|viewing|summari[sz]ing|that|who)\b[^.:\n]{0,60})?[:,]\s*\S",
    rf"\bif you(?:'re| are)\s+(?:an?|the)\s+{_MACHINES}\b",
    r"\b(?:system|admin(?:istrator)?|developer)\s+(?:note|notice|message|override|prompt|instruction|alert|update)s?\s*"
    rf"(?:(?:to|for)\s+[^:\n]{{0,40}})?\s*[:\]]",
    r"<\|(?:im_start|system|user|assistant|endoftext|eot_id|start_header_id)[^>]{0,20}\|?>|\[/?INST\]|<</?SYS>>|"
    r"</?system(?:-|_)?(?:prompt|message|instruction)?>",
    r"^\W*(?:begin|new|updated|additional|hidden|secret)\s+(?:system\s+)?(?:instructions?|prompt|directives?)\s*[:\]]",
    r"\b(?:hinweis|achtung|anweisung|nachricht|wichtig|notiz|systemhinweis|systemnachricht|mitteilung)\w*\s*[:,]?\s*(?:an|für)?\s*"
    r"(?:alle|die|den)?\s*(?:ki|llm|sprachmodell|chatbot|ai)\w*(?:[\s-]\w+)?\b",
    r"\bsystem(?:hinweis|nachricht|anweisung|meldung)\s*(?:für\s+[^:\n]{0,40})?:",
    r"\b(?:nota|aviso|atención|mensaje|instrucci[oó]n\w*|importante|advertencia)(?:\s+del\s+sistema)?\s*[:,]?\s*(?:para|a)?\s*"
    r"(?:todos|los|las|el)?\s*(?:los\s+)?(?:asistentes?|agentes?|modelos?|sistemas?|ia|llm)\s*(?:de\s+)?(?:ia|inteligencia|lenguaje|llm|:|que)",
    r"\b(?:note|attention|message|consigne|avis|important|instruction)s?(?:\s+système)?\s*[:,]?\s*(?:à|aux?|pour|destinée? aux)?\s*"
    r"(?:tous|les|l')?\s*(?:les\s+)?(?:assistants?|agents?|modèles?|systèmes?|ia|llm)\s*(?:d['’]|de\s+)?(?:ia|intelligence|langage|llm|:|qui)",
    r"\b(?:nota|aviso|atenção|mensagem|instrução|importante)\s*[:,]?\s*(?:para|aos?|a)\s*(?:todos|os)?\s*"
    r"(?:assistentes?|agentes?|modelos?)\s*(?:de\s+)?(?:ia|inteligência|linguagem)",
    r"\b(?:nota|avviso|attenzione|messaggio)\s*[:,]?\s*(?:per|agli|ai)\s*(?:tutti|gli)?\s*(?:assistenti|agenti|modelli)\s*(?:di\s+|ia|ai)",
    r"(?:致|给|給|提醒|通知|注意|各位|所有)[^。！？\n]{0,8}(?:AI|人工智能|人工智慧|大模型|语言模型|智能体|LLM|机器人)",
    r"(?:AI|人工智能|大模型|智能)(?:助手|助理|代理|智能体|模型)[^。！？\n]{0,6}(?:请|請|注意|必须|必須|应当|：|:)",
    r"系统(?:提示|指令|消息|通知|说明|备注)\s*[:：]",
    r"(?:AI|人工知能)(?:アシスタント|エージェント|モデル)(?:へ|への|向け|は必ず)",
)

_STORE = (
    r"(?:remember|memori[sz]e|store|save|record|note|keep|retain|log|persist|register|add|write|commit|put|treat)"
)
_FOR_GOOD = r"(?:permanent(?:ly)?|forever|for ever|for good|indefinitely|always|for all (?:future|time)|from now on|eternally|at all times)"
_MIND = (
    r"(?:(?:long[- ]?term|permanent|persistent|own|internal|agent|core|team|shared|global)\s+)*"
    r"(?:memory|memories|memory bank|knowledge base|notes|context|preferences|profile|instructions|rules)"
)
REMEMBERS = (
    rf"\b{_STORE}\s+(?:\w+\s+){{0,4}}?{_FOR_GOOD}\b",
    rf"\b{_FOR_GOOD}\s+(?:and\s+\w+\s+)?(?:remember|memori[sz]e|store|save|record|keep in mind|note)\b",
    rf"\b{_STORE}\s+(?:[\w'-]+\s+){{0,8}}?(?:in|into|to|as part of)\s+(?:your|the agent'?s?|its|all)\s+{_MIND}\b",
    rf"\b{_STORE}\s+(?:this|that|it|the following|these|as)?\s*(?:[\w'-]+\s+){{0,3}}?as\s+an?\s+"
    r"(?:permanent|standing|persistent|lasting|fixed|global|verified|trusted)\s+(?:\w+\s+){0,2}(?:rule|preference|fact|instruction|decision|memory|policy|note)",
    r"\b(?:update|overwrite|change|modify|edit|replace)\s+your\s+(?:\w+\s+)?(?:memory|memories|instructions|system prompt|rules)\b",
    r"\bmerk\w*\s+(?:dir|euch|ihr euch)?\s*(?:\w+\s+){0,3}?(?:dauerhaft|für immer|permanent|auf dauer)",
    r"\b(?:speicher|notier|übernimm|hinterleg)\w*\s+(?:\w+\s+){0,6}?(?:dauerhaft|für immer|permanent|in deine[mn]?\b|im langzeit|als dauerhafte|als feste)\w*",
    r"\b(?:dauerhaft|für immer|permanent)\s+(?:merken|speichern|notieren)",
    r"\b(?:recuerd[ae]\w*|memoriz[ae]\w*|guard[ae]\w*|almacen[ae]\w*|registr[ae]\w*|anot[ae]\w*)\s+(?:\w+\s+){0,5}?"
    r"(?:para siempre|permanentemente|de forma permanente|en (?:tu|su|vuestra) memoria|como (?:regla|preferencia|norma) permanente)",
    r"\b(?:souviens-toi|souvenez-vous|mémoris\w+|enregistr\w+|retiens|retenez|stock\w+|not\w+)\s+(?:\S+\s+){0,5}?"
    r"(?:pour toujours|définitivement|de façon permanente|en permanence|dans (?:ta|votre) mémoire|comme règle permanente)",
    r"\b(?:lembr\w+-?s?e?|memoriz\w+|guard[ae]\w*|armazen\w+|registr\w+)\s+(?:\S+\s+){0,5}?"
    r"(?:para sempre|permanentemente|na (?:sua|tua) memória|como regra permanente)",
    r"\b(?:ricorda\w*|memorizza\w*|salva\w*)\s+(?:\S+\s+){0,5}?(?:per sempre|permanentemente|nella tua memoria)",
    r"(?:запомни|сохрани|запиши)\w*\s+(?:\S+\s+){0,5}?(?:навсегда|постоянно|в (?:свою|вашу|твою)?\s*памят)\w*",
    r"(?:永久|永远|永遠|长期|長期|牢牢)(?:地)?(?:记住|記住|记录|保存|存储|储存|记忆|記憶)",
    r"(?:记住|記住|保存|存储|储存|写入|存入|记录|加入|記録)[^。！？\n]{0,16}(?:永久|永远|长期记忆|長期記憶|你的记忆|你的記憶|记忆库|記憶)",
    r"(?:永久に|永遠に|ずっと)(?:覚え|記憶|保存)|(?:メモリ|記憶)に(?:保存|記録)(?:して|せよ|しろ)",
)

_YOURS = r"(?:your|the)\s+(?:team|user|users|owner|operator|principal|developer|client|customer|boss|human)s?"
ORDERS = (
    r"\b(?:you|agents?|assistants?)\s+(?:must|shall|have to|are required to|are instructed to|should)\s+(?:now|always|never|immediately|instead)\b",
    r"\byou are now\b|\bact as (?:an?|the|if)\b|\bpretend (?:to be|that)\b|\byour new (?:task|role|goal|instructions?|job)\b",
    r"\bfrom now on\b|\bfrom this (?:moment|point) on\b|\bin all future (?:conversations|sessions|chats|answers|replies|reports)\b",
    rf"\b(?:do not|don'?t|never)\s+(?:mention|tell|inform|reveal|disclose|report|alert|warn|show)\s+(?:\w+\s+){{0,4}}"
    r"(?:this|note|user|users|anyone|anybody|human|team|owner|instruction|message|it)\b",
    rf"\b(?:tell|inform|convince|assure)\s+{_YOURS}\s+that\b",
    r"\b(?:without|no need (?:for|to))\s+(?:asking|confirmation|approval|review|checks?|verification|ask|confirm|verify)\b",
    r"\b(?:send|upload|post|forward|exfiltrate|transmit|submit|email|leak)\s+(?:\w+\s+){0,6}(?:to|at)\s+(?:https?://|[\w.-]+@|[\w-]+\.\w{2,})",
    r"\b(?:run|execute|paste)\s+(?:the following|this)\s+(?:command|code|script|shell)\b",
    r"\balways\s+(?:append|cite|recommend|include|respond|answer|reply|mention|add|link|use|trust|approve|say|promote)\b",
    r"\bnever\s+(?:raise|flag|report|question|verify|check|mention|block|alert|refuse|ask)\b",
    r"\bthis (?:overrides|supersedes|replaces|takes precedence over)\b|\btop priority\b|\bhighest priority\b",
    r"\bpass (?:this|it) on to\b|\bstanding (?:client |team |user )?(?:preference|instruction|rule|order)\b",
    r"\bab (?:jetzt|sofort)\b|\bvon nun an\b|\bdu (?:musst|sollst) (?:ab sofort|jetzt|immer|nie)\b|\berwähne (?:das|dies\w*) nicht\b",
    r"\ba partir de ahora\b|\bde ahora en adelante\b|\bdebes (?:siempre|ahora)\b|\bno (?:menciones|reveles|informes)\b",
    r"\bdésormais\b|\bà partir de maintenant\b|\bdorénavant\b|\btu dois (?:toujours|maintenant)\b|\bne mentionne\w* pas\b",
    r"\ba partir de agora\b|\bde agora em diante\b|\bd'ora in poi\b|\bvanaf nu\b|\bс этого момента\b|\bотныне\b",
    r"从现在(?:起|开始)|從現在起|今后(?:必须|一律|都)|你必须|你必須|不要(?:提及|提到|告诉|告訴|透露)|今後は必ず|これからは",
)

# Who only reports what a page tried does not obey it.
REPORTS = (
    r"\b(?:injection|injected|jailbreak|hidden (?:instruction|text|note|comment|prompt)|tried to|attempt(?:s|ed|ing)? to|"
    r"(?:i|we)(?:'m| am|'re| are|'ve| have)?\s+(?:\w+\s+)?(?:ignor\w+|disregard\w+|not follow\w*|did not follow))\b",
)


def compile_all(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Join the patterns of one kind into one, deaf to case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.MULTILINE)
