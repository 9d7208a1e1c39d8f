# `python -m rung`: the command line tool that the package holds, in this process's place.
# SPDX-License-Identifier: Apache-2.0
"""The command line of rung."""
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the tool, with this process's arguments, standard streams and environment."""
    tool = str(Path(__file__).parent / "bin" / "rung")
    try:
        os.execv(tool, ["rung", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"rung: {tool}: {error.strerror}; this package was built without the tool")


if __name__ == "__main__":
    main()
