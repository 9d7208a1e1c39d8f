# A contestant seen from outside: a process that answers lines, stopped by a signal while the others run.
# SPDX-License-Identifier: Apache-2.0
import json
import os
import signal
import subprocess
import time

SETTLE_S = 0.1  # after one process stops and before the next is timed: clocks and caches come to rest


class Contestant:
    """Says "ready"; then "go MS" -> {"runs", "median_ms", "times_ms"}. Stopped whenever it has nothing to do."""

    def __init__(self, name, command, cores, log):
        self.name, self.reason = name, None
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.wait_until_ready()

    def wait_until_ready(self):
        line = self.process.stdout.readline()
        if line.strip() == 'ready':
            self.process.send_signal(signal.SIGSTOP)
        else:
            self.read(line)

    def ask(self, line):
        """The answer, or None when the contestant cannot take part; `reason` then says why."""
        if self.reason:
            return None
        self.process.send_signal(signal.SIGCONT)
        time.sleep(SETTLE_S)
        try:
            self.process.stdin.write(line + '\n')
            self.process.stdin.flush()
            reply = self.process.stdout.readline()
        except BrokenPipeError:  # it ended
            reply = ''
        self.process.send_signal(signal.SIGSTOP)
        return self.read(reply)

    def read(self, reply):
        try:
            answer = json.loads(reply)
        except json.JSONDecodeError:
            self.reason = f'its process ended or answered {reply.strip()[:80]!r}; see its log'
            return None
        if 'unavailable' in answer:
            self.reason = answer['unavailable']
            return None
        return answer

    def close(self):
        self.process.kill()
        self.process.communicate()


class Absent:
    """Stands for a contestant that could not even start."""

    def __init__(self, name, reason):
        self.name, self.reason = name, reason

    def ask(self, _line):
        return None

    def close(self):
        pass


def cores_for(threads):
    """This many of this process's processors, on different physical cores as far as they go."""
    first, others, seen = [], [], set()
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = siblings_of(cpu)
        (others if siblings in seen else first).append(cpu)
        seen.add(siblings)
    return set((first + others)[:threads])


def siblings_of(cpu):
    try:
        with open(f'/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list', encoding='ascii') as file:
            return file.read().strip()
    except OSError:
        return str(cpu)
