# Writes the program's traces, one for each format, as the tests read them; with --check, compares.
# SPDX-License-Identifier: Apache-2.0
"""python3 tests/traces/formats/write.py tests/data/traces/formats [--check]"""
import argparse
import pathlib
import sys

import kineto
import nsys
import perfetto
import program
import rocpd
import rocprof
import rocprof_json
import rocprofv3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--check', action='store_true')
    options = parser.parse_args()
    different = []
    for writer in (kineto, nsys, perfetto, rocpd, rocprof, rocprof_json, rocprofv3):
        for name, content in writer.files(program.tell()).items():
            path = options.folder / name
            content = content.encode() if isinstance(content, str) else content
            if options.check:
                if not path.is_file() or path.read_bytes() != content:
                    different.append(name)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    if different:
        sys.exit(f"not as the generator writes them: {', '.join(different)}")


if __name__ == '__main__':
    main()
