# The program as PyTorch's profiler writes it: JSON in Chrome's format, times in microseconds.
# SPDX-License-Identifier: Apache-2.0
import json

import program

CATEGORIES = {'kernel': 'kernel', 'copy': 'gpu_memcpy', 'fill': 'gpu_memset', 'call': 'cuda_runtime',
              'range': 'user_annotation'}
MEMORY = {'HtoD': 'Pageable -> Device', 'DtoH': 'Device -> Pinned'}


def name_of(event):
    if event.kind == 'copy':
        return f'Memcpy {event.direction} ({MEMORY[event.direction]})'
    if event.kind == 'fill':
        return 'Memset (Device)'
    return 'cuda' + event.name if event.kind == 'call' else event.name


def arguments_of(event):
    arguments = {}
    if event.kind != 'range':
        arguments['correlation'] = event.correlation
    if event.kind in ('kernel', 'copy', 'fill'):
        arguments |= {'device': 0, 'stream': event.stream}
    if event.kind == 'kernel':
        arguments |= {'grid': event.grid, 'block': event.block, 'registers per thread': event.registers,
                      'shared memory': event.shared}
    if event.kind in ('copy', 'fill'):
        arguments['bytes'] = event.bytes
    return arguments


def us(ns):
    return f'{ns // 1000}.{ns % 1000:03}'


def line_of(event):
    on_device = event.kind in ('kernel', 'copy', 'fill')
    head = json.dumps({'ph': 'X', 'cat': CATEGORIES[event.kind], 'name': name_of(event),
                       'pid': 0 if on_device else program.PROCESS,
                       'tid': event.stream if on_device else program.THREAD, 'args': arguments_of(event)})
    return f'{head[:-1]}, "ts": {us(event.start)}, "dur": {us(event.end - event.start)}}}'


def files(events):
    lines = ',\n'.join(line_of(event) for event in events)
    devices = json.dumps([{'id': 0, 'name': 'Accelerator'}])
    return {'kineto.json': f'{{"deviceProperties": {devices}, "traceEvents": [\n{lines}\n]}}\n'}
