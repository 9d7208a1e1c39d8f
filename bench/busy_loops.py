# Programs that use a processor each, beside what is measured.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import subprocess
import sys


@contextlib.contextmanager
def busy_loops(count):
    loops = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
