"""`python -m inspector_app`: the same as the console script `modelcontext-inspector`."""

from __future__ import annotations

import sys

from inspector_app.cli import main

if __name__ == "__main__":
    sys.exit(main())
