"""What a turn does: ask, propose, accept, refuse, thank, end. And who speaks: a person, an agent, a tool.

These are the structure of a conversation, read from its form. Whether a sentence is worth keeping is
the classifier's business; here it is only settled what cannot be a memory on its own, and which turn
answers which.
"""

import re
from collections.abc import Iterable

from memctl.extraction.outputs import is_output
from memctl.extraction.segment import words
from memctl.model import Message, Role

PERSON, AGENT, TOOL = "person", "agent", "tool"

_AGENT_NAME = re.compile(
    r"(?:agent|bot|assistant|copilot|gpt|llm|planner|coder|critic|reviewer|writer|orchestrator|surfer|executor|"
    r"terminal|engineer|analyst|manager|researcher|proxy|helper|architect|tester|asistente|assist[ae]nte?|helfer|planer|"
    r"(?<![^\W_])(?:ai|ki|ia))(?:[_ -]?\d+)?$|(?:助手|机器人|智能体)$",
    re.IGNORECASE,
)
_MACHINE_STYLE = re.compile(r"^#{1,4} |```|\*\*[^*\n]+\*\*|\bTERMINATE\b|^\|.*\|\s*$", re.MULTILINE)

_LATIN_ACCEPT = (
    r"yes|yep|yeah|yup|ok|okay|okey|agreed|agree|deal|done|sure|fine|go ahead|sounds good|works for me|"
    r"let's do (?:it|that)|"
    r"perfect|exactly|correct|right|confirmed|\+1|approved|fair enough|good idea|do (?:it|that)|"
    r"ja|jawohl|einverstanden|abgemacht|passt|genau|gerne|in ordnung|klar|machen wir|so machen wir|gut|"
    r"sí|si|vale|de acuerdo|hecho|perfecto|claro|adelante|"
    r"oui|d'accord|entendu|parfait|ça marche|c'est bon|"
    r"sim|fechado|combinado|beleza|certo|pode ser|tá bom|"
    r"va bene|d'accordo|perfetto"
)
_ACCEPT = re.compile(rf"^\W*(?:(?:{_LATIN_ACCEPT})\b|好的?|可以|同意|行|没问题|就这样|对|是的)", re.IGNORECASE)
_DECLARED = re.compile(
    r"^\W*(?:(?:final )?decision|decided|agreed|rule|policy|entscheidung|beschluss|beschlossen|regel|decisión|decidido|"
    r"acordado|regla|décision|décidé|règle|decisão|regra|决定|规定)\s*[:：]",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:failed|crashed|broke down|fell over)\b[^.;]{0,40}\b(?:because|since|as|due to|with|when|after)\b"
    r"|\b(?:did(?:n't| not)|does(?:n't| not)) work\b|\bhat nicht (?:funktioniert|geklappt)\b|\bno funcion[óo]\b"
    r"|\bn'a pas (?:marché|fonctionné)\b|\bnão funcionou\b|失败了|不管用",
    re.IGNORECASE,
)
_REFUSE = re.compile(
    r"^\W*(?:(?:no|nope|nah|not?(?: yet)?|don't|never|rather not|please don't|i'd rather not|forget it|nein|"
    r"nicht|lieber nicht|"
    r"auf keinen fall|non|não|nem|mejor no|ni hablar|absolutely not|hard no|wait)\b|不行?|不要|别|不用)",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"^\W*(?:(?:many |great, )?thanks?(?: you)?|thx|cheers|danke|vielen dank|gracias|merci|obrigad[oa]|grazie|"
    r"welcome|hello|hi|hey|"
    r"good (?:morning|afternoon|evening|night)|morning|guten (?:morgen|tag)|hallo|hola|buenos días|bonjour|"
    r"salut|olá|oi|bom dia|"
    r"congratulations|great|nice|lovely|awesome|cool|understood|noted|got it|will do|bye|see you|tschüss|bis später|"
    r"hasta luego|à bientôt|tchau|lol|haha)\b|^\W*(?:谢谢|你好|大家好|收到|明白|了解|再见|早上好|辛苦了)",
    re.IGNORECASE,
)
_END = re.compile(r"^\W*(?:TERMINATE|FINAL ANSWER|DONE|END)\W*$")
_QUESTION_END = re.compile(r"[?？][\"'”’»)\]\s]*$")
_OFFER = re.compile(
    r"^\W*(?:(?:shall|should|would you|could you|can you|do you|may|let me (?:know|check|see|try|look|pull|fix|run)|"
    r"i(?:'ll| will) (?:now|check|look|pull|run|try|start|prepare|draft|get)|would you like|feel free|here(?:'s|"
    r" is| are)|"
    r"soll ich|möchtest du|können wir|lass mich|quieres que|puedo|¿|souhaitez|voulez|posso|quer que)\b|要不要|"
    r"需要我)",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """Say whether the sentence asks."""
    return bool(_QUESTION_END.search(text)) or text.startswith("¿")


def is_courtesy(text: str) -> bool:
    """Say whether the sentence only greets, thanks, acknowledges or ends the chat."""
    return bool(_END.match(text)) or (words(text) <= 5 and bool(_THANKS.match(text)))


def is_offer(text: str) -> bool:
    """Say whether the sentence asks for leave or announces the speaker's next step."""
    return bool(_OFFER.match(text))


def is_declared(text: str) -> bool:
    """Say whether a sentence announces itself as a decision or a rule."""
    return bool(_DECLARED.match(text))


def tells_of_failure(text: str) -> bool:
    """Say whether a sentence plainly tells that something was tried and did not work, and why."""
    return bool(_FAILED.search(text))


def accepts(text: str) -> bool:
    """Say whether the turn begins by agreeing with what was said before."""
    return bool(_ACCEPT.match(text)) and not refuses(text)


def refuses(text: str) -> bool:
    """Say whether the turn begins by refusing what was said before."""
    return bool(_REFUSE.match(text))


def kinds(messages: Iterable[Message]) -> dict[str, str]:
    """Tell for each speaker whether it is a person, an agent or a tool.

    Roles do not say: a saved group chat calls nearly everybody "user", and readers call all who have a
    name agents. So names count, tool calls, and the way a speaker writes.
    """
    found: dict[str, str] = {}
    for message in messages:
        before = found.get(message.speaker)
        if before != AGENT:
            found[message.speaker] = _strongest(before, _kind(message))
    return found


def _strongest(before: str | None, now: str) -> str:
    """One who writes and also prints output is an agent, and so is a person who writes like a machine."""
    return now if before in (None, now) else AGENT


def _kind(message: Message) -> str:
    if is_output(message):
        return TOOL
    if message.role is Role.SYSTEM or message.tool_calls or _AGENT_NAME.search(message.speaker):
        return AGENT
    return AGENT if len(_MACHINE_STYLE.findall(message.text)) >= 2 else PERSON
