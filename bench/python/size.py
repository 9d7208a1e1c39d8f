#!/usr/bin/env python3
# What a wheel weighs, part by part, and how long the package that is installed takes to be imported.
# SPDX-License-Identifier: Apache-2.0
"""usage: size.py WHEEL"""
from __future__ import annotations

import statistics
import subprocess
import sys
import zipfile
from pathlib import Path

IMPORT = "import time; start = time.perf_counter(); import rung; print(time.perf_counter() - start)"


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    wheel = Path(sys.argv[1])
    print("| file | MB | MB, compressed |\n| --- | --- | --- |")
    with zipfile.ZipFile(wheel) as archive:
        members = sorted(archive.infolist(), key=lambda member: -member.compress_size)
        for member in [member for member in members if member.compress_size > 50_000]:
            print(f"| {member.filename} | {member.file_size / 1e6:.1f} | {member.compress_size / 1e6:.1f} |")
        unpacked = sum(member.file_size for member in members)
        print(f"| all {len(members)} | {unpacked / 1e6:.1f} | {wheel.stat().st_size / 1e6:.1f} |")
    times = [float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True).stdout)
             for _ in range(20)]
    print(f"\nimport: {1e3 * statistics.median(times):.0f} ms (median of 20 processes, files in the page cache)")


if __name__ == "__main__":
    main()
