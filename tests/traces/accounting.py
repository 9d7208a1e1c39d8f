# Where the time of a trace's steps went, worked out slowly from the definitions of docs/advise.md.
# SPDX-License-Identifier: Apache-2.0
#
# It knows traces of tests/traces/told_traces.py and shares nothing with the tool. Times are microseconds.
from dataclasses import dataclass, field

HOST = ('cpu_op', 'cuda_runtime')
WORK = ('kernel', 'gpu_memcpy', 'gpu_memset')
OUTLIER = 1.5


@dataclass
class Accounting:
    steps: int = 0
    step_us: float = 0
    wall_us: float = 0      # of all steps that count
    busy_us: float = 0
    kernels: int = 0
    categories: dict = field(default_factory=dict)
    late_us: float = 0      # of the device, until what ends the gap was launched
    launched_us: float = 0  # and from then on
    outside: int = 0
    outside_us: float = 0
    outliers: list = field(default_factory=list)
    lost: int = 0
    launches: int = 0
    step: 'Accounting' = None  # of the median step alone


def end(event):
    return event['ts'] + event['dur']


def union(spans):
    """The length of what some of the spans cover."""
    total, until = 0, float('-inf')
    for start, stop in sorted(spans):
        total += max(0, stop - max(start, until))
        until = max(until, stop)
    return total


def work_of(events):
    """The busiest device's work by start; of equally busy ones the lowest number's."""
    devices = {}
    for event in events:
        if event['cat'] in WORK:
            devices.setdefault(event['args']['device'], []).append(event)
    if not devices:
        return []
    busiest = max(sorted(devices), key=lambda d: union((e['ts'], end(e)) for e in devices[d]))
    return sorted(devices[busiest], key=lambda e: e['ts'])


def starters(events):
    return {e['args']['correlation']: e for e in events
            if e['cat'] == 'cuda_runtime' and e['args'].get('correlation')}


def is_launch(event):
    return event['cat'] == 'cuda_runtime' and ('LaunchKernel' in event['name'] or 'GraphLaunch' in event['name'])


def placed(hosts, work, launched):
    """A step begins when the device is done with what was launched before, and ends with what was launched in it."""
    spans = []
    for start, stop in hosts:
        own = [w for w in work if start <= launched(w) < stop]
        before = [end(w) for w in work if launched(w) < start]
        free = max(before, default=float('-inf'))
        first = min((w['ts'] for w in own), default=float('inf'))
        begin = max([start, min(free, first)] + [s[1] for s in spans[-1:]])
        spans.append((begin, max([begin, stop] + [end(w) for w in own])))
    return spans


def gaps_of(span, work, calls):
    """The device's idle time in a step, until the launch of what ends it and from then on."""
    late = launched = 0
    done = max([end(w) for w in work if w['ts'] < span[0]] + [span[0]])
    previous = None
    for w in [w for w in work if span[0] <= w['ts']] + [None]:
        start = min(w['ts'], span[1]) if w else span[1]
        if start > done:
            call = calls.get((w or previous or {'args': {}})['args'].get('correlation'))
            same = w and previous and call and calls.get(previous['args']['correlation']) is call
            until = start if w is None else (min(end(call), start) if call else done)
            until = done if same else max(until, done)
            late += until - done
            launched += start - until
        if w is None or w['ts'] >= span[1]:
            break
        if end(w) >= done:
            done, previous = end(w), w
    return late, launched


def sums(spans, work, calls, category):
    found = Accounting(steps=len(spans), wall_us=sum(b - a for a, b in spans))
    for span in spans:
        inside = [w for w in work if span[0] <= w['ts'] < span[1]]
        found.busy_us += union((max(w['ts'], span[0]), min(end(w), span[1])) for w in work
                               if end(w) > span[0] and w['ts'] < span[1])
        found.kernels += sum(w['cat'] == 'kernel' for w in inside)
        for w in inside:
            found.categories[category(w)] = found.categories.get(category(w), 0) + w['dur']
        late, launched = gaps_of(span, work, calls)
        found.late_us += late
        found.launched_us += launched
    return found


def account(events, steps_by, hosts, category):
    work, calls = work_of(events), starters(events)
    launches = sorted(e['ts'] for e in events if is_launch(e))

    def launched(w):
        call = calls.get(w['args']['correlation'])
        return call['ts'] if call else w['ts']

    if hosts is None:
        hosts = sorted((e['ts'], end(e)) for e in events
                       if e['cat'] == 'user_annotation' and e['name'].startswith(steps_by))
        hosts = [h for h in hosts if any(h[0] <= t < h[1] for t in launches + [launched(w) for w in work])]
    spans = placed(hosts, work, launched)
    if not hosts and work:
        timed = [e for e in events if e['cat'] in HOST + WORK]
        spans = [(min(e['ts'] for e in timed), max(end(e) for e in timed))]
        hosts = spans
    if not spans or not work:
        return Accounting(steps=1, launches=len(launches))
    order = sorted(range(len(spans)), key=lambda i: spans[i][1] - spans[i][0])
    median = spans[order[(len(order) - 1) // 2]]
    length = median[1] - median[0]
    kept = [i for i, (a, b) in enumerate(spans) if length / OUTLIER <= b - a <= length * OUTLIER]
    until = spans[kept[-1]][1]
    counted = [w for w in work if w['ts'] < until]  # what begins later ends no step's gap
    found = sums([spans[i] for i in kept], counted, calls, category)
    found.step = sums([median], counted, calls, category)
    found.step_us = length
    found.outliers = [i + 1 for i in range(len(spans)) if i not in kept]
    outside = [w for w in work if not any(a <= w['ts'] < b for a, b in spans)]
    found.outside, found.outside_us = len(outside), sum(w['dur'] for w in outside)
    worked = {e['args']['correlation'] for e in events if e['cat'] in WORK}
    unlinked = max((w['ts'] for w in work if w['args']['correlation'] not in calls), default=float('-inf'))
    capturing = [(b['ts'], min(e['ts'] for e in events if 'EndCapture' in e['name'] and e['ts'] > b['ts']))
                 for b in events if 'BeginCapture' in b['name']]
    for event in events:
        inside = any(hosts[i][0] <= event['ts'] < hosts[i][1] for i in kept)
        if not is_launch(event) or not inside or any(a <= event['ts'] < b for a, b in capturing):
            continue
        found.launches += 1
        found.lost += event['args']['correlation'] not in worked and unlinked < event['ts']
    return found
