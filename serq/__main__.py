"""`python -m serq`: the same as the command `serq`."""

from __future__ import annotations

from serq.tools.cli import main

if __name__ == "__main__":
    main()
