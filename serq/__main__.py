"""`python -m serq`, and the command `serq`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run one command and exit with its code."""
    # Whoever presses Ctrl-C while the parts of serq are loaded wants no more of it than later.
    try:
        from serq.tools.cli import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
