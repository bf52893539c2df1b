"""Other memories beside memctl: the same sentences, the same MiniLM weights, each in an environment of its own."""

from benchmarks.peers.measuring import measure

__all__ = ["measure"]
