#!/usr/bin/env python3
# Opens, runs and closes a plan again and again, and tells whether the process grows.
# SPDX-License-Identifier: Apache-2.0
"""usage: cycles.py PLAN.rung [CYCLES]  (default: 100000 on the processor, 1000 on a GPU)"""
from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy
import rung

WARM = 100  # cycles after which nothing should grow any more
LIMIT = 4 << 20  # bytes: what an allocator may still hold back


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cycle(plan: str) -> None:
    with rung.load(plan) as model:
        model(**{name: numpy.ones(port.shape, "uint16" if port.dtype == "bfloat16" else port.dtype)
                 for name, port in model.inputs.items()})
        with model.session() as session:
            session.input(next(iter(session.inputs)))


def main() -> int:
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    with rung.load(sys.argv[1]) as model:
        cycles = int(sys.argv[2]) if len(sys.argv) == 3 else 100_000 if model.device == "cpu" else 1000
    for _ in range(WARM):
        cycle(sys.argv[1])
    start, descriptors = resident(), len(os.listdir("/proc/self/fd"))
    for _ in range(cycles):
        cycle(sys.argv[1])
    grown, more = resident() - start, len(os.listdir("/proc/self/fd")) - descriptors
    print(f"{cycles} cycles: {grown / 2**20:+.2f} MiB resident, {more:+d} files")
    return int(grown > LIMIT or more > 0)


if __name__ == "__main__":
    sys.exit(main())
