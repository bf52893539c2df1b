"""The count of tokens as recall makes it, with the bundled tokenizer."""

from memctl.embedding.models import open_rarities
from memctl.rules.tokens import TokenCount

count = TokenCount(open_rarities())
