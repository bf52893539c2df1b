#!/usr/bin/env bash
# The main job on the sample transcripts: three sessions of one team, then what the fourth run would be told.
set -euo pipefail
cd "$(dirname "$0")/.."

MEMCTL_HOME=$(mktemp -d)
export MEMCTL_HOME
trap 'rm -rf "$MEMCTL_HOME"' EXIT
export MEMCTL_NOW=2026-03-24T09:00:00Z # the samples are from March 2026

run() {
    printf '\n\033[1m$ %s\033[0m\n' "$*"
    "$@"
}

echo "Three saved sessions of the team 'quillmark' become memory."
run memctl ingest sample_transcripts/quillmark-1.groupchat.json --agent quillmark --at 2026-03-02T09:00:00Z
run memctl ingest sample_transcripts/quillmark-2.task_result.json --agent quillmark
run memctl ingest sample_transcripts/quillmark-3.console.txt --agent quillmark --at 2026-03-23T09:00:00Z

printf '\nReading a file again changes nothing.\n'
run memctl ingest sample_transcripts/quillmark-1.groupchat.json --agent quillmark

run memctl list --agent quillmark

printf '\nBefore the next run, a script asks and passes the block on.\n'
run memctl recall "where do the finished files go, and what to avoid when building" --agent quillmark --max-tokens 400

printf '\nThe team changed its mind in session two. Both versions can be read, and why.\n'
changed=$(memctl list --agent quillmark --state superseded --limit 1 | cut -f 1)
if [ -n "$changed" ]; then
    run memctl history "${changed:0:8}"
fi

printf '\nWhat has expired is retired, and every run can be taken back.\n'
run memctl prune --expired
run memctl log
