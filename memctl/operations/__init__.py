"""What memctl can do: each operation takes an open memory and arguments and returns a Result.

Every face (command line, REST, MCP, adapters) calls these and nothing below them.
"""
