"""The served faces of memctl: REST and MCP, both generated from one catalog of operations; keys, jobs, limits."""
