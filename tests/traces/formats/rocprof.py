# The program as rocprof writes it: with --timestamp on, a list of kernels alone; with --stats, totals of them, too.
# SPDX-License-Identifier: Apache-2.0
from collections import defaultdict

import program

COLUMNS = ('Index', 'KernelName', 'gpu-id', 'queue-id', 'queue-index', 'pid', 'tid', 'grd', 'wgr', 'lds', 'scr',
           'arch_vgpr', 'accum_vgpr', 'sgpr', 'wave_size', 'sig', 'obj', 'DispatchNs', 'BeginNs', 'EndNs', 'CompleteNs',
           'DurationNs')


def volume(extents):
    return extents[0] * extents[1] * extents[2]


def row(number, event, dispatched):
    block = volume(event.block)
    return (number, f'"{event.name} [clone .kd]"', 0, 1, number, program.PROCESS, program.THREAD,
            volume(event.grid) * block, block, event.shared, 0, event.registers, 0, 32, 64, '"0x0"', '"0x7f00c0de"',
            dispatched, event.start, event.end, event.end + 900, event.end - event.start)


def totals(kernels):
    durations = defaultdict(list)
    for event in kernels:
        durations[event.name].append(event.end - event.start)
    everything = sum(map(sum, durations.values()))
    yield '"Name","Calls","TotalDurationNs","AverageNs","Percentage"'
    for name, each in sorted(durations.items(), key=lambda item: -sum(item[1])):
        yield f'"{name}",{len(each)},{sum(each)},{sum(each) // len(each)},{100 * sum(each) / everything}'


def files(events):
    kernels = [event for event in events if event.kind == 'kernel']
    dispatched = {event.correlation: event.end for event in events if event.kind == 'call'}
    header = ','.join(f'"{column}"' for column in COLUMNS)
    rows = [','.join(map(str, row(number, event, dispatched[event.correlation])))
            for number, event in enumerate(kernels)]
    return {'rocprof/results.csv': '\n'.join([header, *rows]) + '\n',
            'rocprof/results.stats.csv': '\n'.join(totals(kernels)) + '\n'}
