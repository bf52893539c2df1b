"""From chats to claims: cleaning, the local extractor and the LLM extractor."""
