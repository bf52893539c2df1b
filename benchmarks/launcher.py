"""Run a command and write its peak memory after the last line of its stderr.

A process inherits the memory mark of the one that starts it. This one is small, so the mark is the command's own.
"""

import os
import sys

if __name__ == "__main__":
    pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
    _, status, usage = os.wait4(pid, 0)
    sys.stderr.write(f"\n{usage.ru_maxrss}")
    sys.exit(os.waitstatus_to_exitcode(status))
