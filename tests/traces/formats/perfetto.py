# The program as Perfetto traces: of rocprofv3, which writes them when all is over, and of rocprof-sys, while it runs.
# SPDX-License-Identifier: Apache-2.0
"""Messages and numbers of fields are those of Perfetto's public .proto files; here they are put together by hand."""
import copy
import struct

import program

BOOT, INCREMENTAL = 6, 64  # clocks
BEGIN, END = 1, 2
CLEARED, NEEDS_STATE = 1, 2
FILL = '__amd_rocclr_fillBufferAligned'
PROCESS_TRACK = 0x5EED00000000


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytearray([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def fixed(field, value):
    return varint(field << 3 | 1) + struct.pack('<Q', value)


def block(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def packet(*fields):
    return block(1, b''.join(fields))


class Sequence:
    """What one thread writes: names by number, times as steps from the last one where they do not go back."""

    def __init__(self, number_of_sequence, now):
        self.id, self.last = number_of_sequence, now
        self.names = ({}, {}, {})  # categories, events, annotations: fields 1, 2, 3 of InternedData
        self.out = bytearray()

    def write(self, *fields):
        self.out += packet(*fields, number(10, self.id))

    def clear(self, track):
        for known in self.names:
            known.clear()
        clocks = [number(1, BOOT) + number(2, self.last),
                  number(1, INCREMENTAL) + number(2, self.last) + number(3, 1) + number(4, 1)]
        defaults = number(58, INCREMENTAL) + block(11, number(11, track))
        self.write(block(6, b''.join(block(1, clock) for clock in clocks)), block(59, defaults), number(13, CLEARED),
                   number(42, 1))

    def describe(self, uuid, *fields):
        self.write(*self.time(self.last), number(13, NEEDS_STATE), block(60, number(1, uuid) + b''.join(fields)))

    def time(self, when):
        if when < self.last:
            return [number(8, when), number(58, BOOT)]
        step, self.last = when - self.last, when
        return [number(8, step)]

    def intern(self, kind, name, new):
        known = self.names[kind]
        if name not in known:
            known[name] = len(known) + 1
            new.append(block(kind + 1, number(1, known[name]) + block(2, name)))
        return known[name]

    def annotation(self, name, value, new):
        written = block(6, value) if isinstance(value, str) else number(3, value)
        return block(4, number(1, self.intern(2, name, new)) + written)

    def begin(self, category, event, track, annotations):
        new = []
        fields = number(3, self.intern(0, category, new)) + number(9, BEGIN)
        fields += number(10, self.intern(1, event.name, new))
        fields += b''.join(self.annotation(name, value, new) for name, value in annotations.items())
        fields += number(11, track) + fixed(47, event.correlation ^ PROCESS_TRACK)
        interned = [block(12, b''.join(new))] if new else []
        self.write(*self.time(event.start), number(13, NEEDS_STATE), *interned, block(11, fields))

    def end(self, when, track):
        self.write(*self.time(when), number(13, NEEDS_STATE), block(11, number(9, END) + number(11, track)))


def named(event, direction='MEMORY_COPY_'):
    """As the tools call it."""
    if event.kind == 'fill':
        event.name, event.grid, event.block = FILL, (1, 1, 1), (256, 1, 1)
    if event.kind == 'copy':
        event.name = direction + ('HOST_TO_DEVICE' if event.direction == 'HtoD' else 'DEVICE_TO_HOST')
    if event.kind == 'call':
        event.name = 'hip' + event.name
    return event


def product(values):
    return values[0] * values[1] * values[2]


def items(event):
    return [blocks * threads for blocks, threads in zip(event.grid, event.block)]


def rocprofv3_annotations(event):
    common = {'begin_ns': event.start, 'end_ns': event.end, 'delta_ns': event.end - event.start, 'kind': 1}
    if event.kind == 'copy':
        ends = ('Agent-0', 'Agent-1') if event.direction == 'HtoD' else ('Agent-1', 'Agent-0')
        return common | {'operation': 2, 'src_agent': ends[0], 'dst_agent': ends[1], 'copy_bytes': event.bytes,
                         'corr_id': event.correlation, 'tid': program.THREAD, 'stream_ID': event.stream}
    if event.kind in ('kernel', 'fill'):
        return common | {'agent': 'Agent-1', 'agent_type': 'GPU', 'corr_id': event.correlation, 'queue': 0,
                         'tid': program.THREAD, 'kernel_id': 17, 'Scratch_Size': 0, 'LDS_Block_Size': event.shared,
                         'VGPR_Count': event.registers, 'Accum_VGPR_Count': 0, 'SGPR_Count': 32,
                         'workgroup_size': product(event.block), 'grid_size': product(items(event)),
                         'stream_ID': event.stream}
    return common | {'tid': program.THREAD, 'operation': 3, 'corr_id': event.correlation, 'ancestor_id': 0}


def rocprofv3(events):
    """Kind after kind, each event with its end behind it, long after the last of them."""
    thread, stream = program.THREAD ^ PROCESS_TRACK, 0x57EA0000
    writer = Sequence(2, program.START_NS + 10**12)
    writer.clear(0x111)
    writer.describe(PROCESS_TRACK, block(3, number(1, program.PROCESS) + block(6, 'program')))
    writer.describe(0x111, number(5, PROCESS_TRACK), block(4, number(1, program.PROCESS) + number(2, program.PROCESS)))
    writer.describe(thread, number(5, PROCESS_TRACK), block(2, f'THREAD 1 ({program.THREAD})'))
    writer.describe(stream, number(5, PROCESS_TRACK), block(2, 'STREAM [" 7 "] '))
    lists = [('call', 'hip_api', thread), ('range', 'marker_api', thread), ('copy', 'memory_copy', stream),
             ('kernel fill', 'kernel_dispatch', stream)]
    for kinds, category, track in lists:
        for event in (named(e) for e in events if e.kind in kinds.split()):
            writer.begin(category, event, track, rocprofv3_annotations(event))
            writer.end(event.end, track)
    service = packet(block(33, b'\x0a\x00'), number(10, 1))  # the tracing configuration
    return service + packet(block(36, bytes(16))) + bytes(writer.out)


def rocprof_sys_annotations(event):
    if event.kind == 'copy':
        ends = (0, 1) if event.direction == 'HtoD' else (1, 0)
        return {'begin_ns': event.start, 'end_ns': event.end, 'stack_id': event.correlation, 'stream_id': event.stream,
                'dst_agent': ends[1], 'src_agent': ends[0]}
    if event.kind in ('kernel', 'fill'):
        return {'begin_ns': event.start, 'end_ns': event.end, 'stack_id': event.correlation, 'stream_id': event.stream,
                'queue': 1, 'dispatch_id': 5, 'kernel_id': 17, 'private_segment_size': 0,
                'group_segment_size': event.shared, 'workgroup_size': '({},{},{})'.format(*event.block),
                'grid_size': '({},{},{})'.format(*items(event))}
    return {'begin_ns': event.start, 'stack_id': event.correlation}


def halves(events):
    """Begins and ends in the order in which a thread writes them."""
    marks = [(e.start, 1, -e.end, e, True) for e in events] + [(e.end, 0, -e.start, e, False) for e in events]
    return sorted(marks, key=lambda mark: mark[:3])


def rocprof_sys(events):
    """The program's thread writes its calls and ranges as they happen, another one the work on the device later."""
    host, device = Sequence(2, program.START_NS), Sequence(3, program.START_NS + 500)
    thread, stream = 0x222, 0x333
    host.clear(thread)
    host.describe(PROCESS_TRACK, block(3, number(1, program.PROCESS)))
    host.describe(thread, number(5, PROCESS_TRACK), block(4, number(1, program.PROCESS) + number(2, program.THREAD)))
    device.clear(0x444)
    device.describe(stream, number(5, PROCESS_TRACK), block(2, 'HIP Activity Stream 7'))
    categories = {'call': 'rocm_hip_api', 'range': 'rocm_marker_api'}
    for when, _, _, event, begins in halves([named(e) for e in events if e.kind in categories]):
        if begins:
            host.begin(categories[event.kind], event, thread, rocprof_sys_annotations(event))
        else:
            host.end(when, thread)
    for event in (named(e) for e in events if e.kind not in categories):
        device.begin('rocm_hip_stream', event, stream, rocprof_sys_annotations(event))
        device.end(event.end, stream)
    return bytes(device.out) + bytes(host.out)


def files(events):
    return {'rocprofv3.pftrace': rocprofv3(copy.deepcopy(events)), 'rocprof_sys.proto': rocprof_sys(events)}
