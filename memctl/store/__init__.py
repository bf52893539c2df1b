"""The store: LanceDB holds the record, DuckDB a derived index, one writer applies. The only home of both libraries.

Opening::

    store = Store.create(home, Model(name, digest, 384))   # makes it where there is none
    store = Store.open(home)                                # NoStore, NewerStore, OtherModel
    store.notes                                             # what to say on stderr (index rebuilt, ...)

Writing (``apply`` is the only way; judge and apply inside ``writing`` so that nothing changes in between)::

    with store.writing("ingest", wait=30):                  # StoreBusy names the holder; finishes a dead writer's batch
        known = store.near(vectors, agent, limit=20, floor=0.3)        # list[list[Near(fact, cosine, vector)]]
        receipt = store.apply(
            Changes(
                facts=[FactWrite(fact, vector, terms), FactWrite(changed_fact)],   # no vector: keep the stored one
                messages=[StoredMessage(transcript_id, agent, path, message, chain, terms, vector)],
                transcripts=[LedgerEntry(...)],
                state=[StateEntry(...)],
            ),
            RunInfo("ingest", args="chat.json", counts={"files": 1}),  # id=receipt.run_id adds a part to that run
        )

Reading (no lock, read-only folders too)::

    store.search_facts(vector, terms, scopes, where=Filter(...), limit=50)    # list[Found(fact, cosine, bm25)]
    store.search_messages(vector, terms, scopes, limit=50)                    # list[FoundMessage(stored, cosine, bm25)]
    store.list_facts(Filter(...), sort="said", limit=20); store.count_facts(...); store.stats(); store.sql(query)
    store.fact(id_prefix); store.facts_by_ids(ids); store.all_facts(Filter(...)); store.contested(agents)
    store.transcripts(agent=, path=, digest=); store.known_prefix(agent, chains)
    store.messages_of(transcript_id); store.all_messages()
    store.state_get(agent, key); store.state_list(agent); store.runs(); store.holder()
    store.record_use(ids, at)                                                 # recall counts, never fails

Upkeep::

    store.undo(run=None, cascade=False, dry_run=False)      # Undone(runs, restored, removed, receipt); UndoBlocked
    store.purge(ids)                                        # final: in no file afterwards; also store.compact()
    store.check(); store.repair()                           # list[Finding]; check changes nothing
    store.backup(target); Store.restore(source, home)       # folder or .tar[.gz], verified
"""

from memctl.store.ledger import chains
from memctl.store.store import Store
from memctl.store.types import (
    Changes,
    FactWrite,
    Filter,
    Found,
    FoundMessage,
    LedgerEntry,
    Model,
    Near,
    Prefix,
    Receipt,
    Run,
    RunInfo,
    StateEntry,
    StoredMessage,
)

__all__ = [
    "Changes",
    "FactWrite",
    "Filter",
    "Found",
    "FoundMessage",
    "LedgerEntry",
    "Model",
    "Near",
    "Prefix",
    "Receipt",
    "Run",
    "RunInfo",
    "StateEntry",
    "Store",
    "StoredMessage",
    "chains",
]
