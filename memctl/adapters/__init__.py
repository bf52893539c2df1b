"""Memory where the work happens: Python programs, AgentChat, AutoGen 0.2 and AG2.

Each module translates between a framework and the operations, and decides nothing itself. Only
``agentchat`` imports a framework; ``ag2`` works with whatever object has the right methods.
"""
