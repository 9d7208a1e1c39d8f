# The program as rocprofv3 writes it unless it is told another format: the statements that make its SQLite database, in
# which the tables of a process end in its identity.
# SPDX-License-Identifier: Apache-2.0
import json

import program
from nsys import Database

ENDING = '_0193d2a4_7c51_7e7c_8e0d_5f2b7c9d1e3a'
NODE, HOST, DEVICE = 77, 0, 2
SHARED = 'id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT, nid INTEGER, pid INTEGER, '
TIMES = 'tid INTEGER, start BIGINT NOT NULL, end BIGINT NOT NULL, '
SCHEMA = [table.replace(' (', ENDING + ' (', 1) for table in (
    'rocpd_string (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT, string TEXT NOT NULL)',
    f'rocpd_info_process ({SHARED}ppid INTEGER, command TEXT)',
    f'rocpd_info_thread ({SHARED}tid INTEGER, name TEXT)',
    f'rocpd_info_agent ({SHARED}type TEXT, absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, '
    'name TEXT, product_name TEXT)',
    f'rocpd_info_kernel_symbol ({SHARED}kernel_name TEXT, display_name TEXT, sgpr_count INTEGER, '
    'arch_vgpr_count INTEGER, accum_vgpr_count INTEGER)',
    'rocpd_event (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT, category_id INTEGER, stack_id INTEGER, '
    'parent_stack_id INTEGER, correlation_id INTEGER, extdata JSONB)',
    f'rocpd_region ({SHARED}{TIMES}name_id INTEGER, event_id INTEGER)',
    f'rocpd_kernel_dispatch ({SHARED}{TIMES}agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, '
    'queue_id INTEGER, stream_id INTEGER, private_segment_size INTEGER, group_segment_size INTEGER, '
    'workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, '
    'grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER)',
    f'rocpd_memory_copy ({SHARED}{TIMES}name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, '
    'queue_id INTEGER, stream_id INTEGER, event_id INTEGER)',
)]
FILL = '__amd_rocclr_fillBufferAligned'


class Rocpd:
    def __init__(self):
        self.database = Database(SCHEMA)
        self.strings, self.kernels = {}, {}
        self.events = self.rows = 0

    def insert(self, table, **values):
        self.database.insert(table + ENDING, nid=NODE, pid=program.PROCESS, **values)

    def number(self, known, text):
        return known.setdefault(text, len(known) + 1)

    def event(self, category, correlation, data='{}'):
        self.events += 1
        self.insert('rocpd_event', id=self.events, category_id=self.number(self.strings, category),
                    stack_id=correlation, parent_stack_id=correlation, correlation_id=0, extdata=data)
        return self.events

    def times(self, event):
        self.rows += 1
        return {'id': self.rows, 'tid': program.THREAD, 'start': event.start, 'end': event.end}

    def region(self, event):
        category, name, data = 'HIP_RUNTIME_API', 'hip' + event.name, '{}'
        if event.kind == 'range':
            category, name, data = 'MARKER_CORE_RANGE_API', 'roctxThreadRangeA', json.dumps({'message': event.name})
        self.insert('rocpd_region', **self.times(event), name_id=self.number(self.strings, name),
                    event_id=self.event(category, event.correlation, data))

    def kernel(self, event):
        name = FILL if event.kind == 'fill' else event.name
        if name not in self.kernels:
            self.insert('rocpd_info_kernel_symbol', id=len(self.kernels) + 1, kernel_name=name + '.kd',
                        display_name=name, sgpr_count=32, arch_vgpr_count=event.registers, accum_vgpr_count=0)
        block = event.block if event.kind == 'kernel' else (256, 1, 1)
        grid = event.grid if event.kind == 'kernel' else (1, 1, 1)
        shape = {}
        for axis, blocks, items in zip('xyz', grid, block):
            shape |= {f'workgroup_size_{axis}': items, f'grid_size_{axis}': blocks * items}
        self.insert('rocpd_kernel_dispatch', **self.times(event), agent_id=DEVICE, queue_id=1, stream_id=event.stream,
                    kernel_id=self.number(self.kernels, name), dispatch_id=self.rows, private_segment_size=0,
                    group_segment_size=event.shared, event_id=self.event('KERNEL_DISPATCH', event.correlation), **shape)

    def copy(self, event):
        to_device = event.direction == 'HtoD'
        name = 'MEMORY_COPY_' + ('HOST_TO_DEVICE' if to_device else 'DEVICE_TO_HOST')
        self.insert('rocpd_memory_copy', **self.times(event), name_id=self.number(self.strings, name),
                    src_agent_id=HOST if to_device else DEVICE, dst_agent_id=DEVICE if to_device else HOST,
                    size=event.bytes, queue_id=1, stream_id=event.stream,
                    event_id=self.event('MEMORY_COPY', event.correlation))


def files(events):
    rocpd = Rocpd()
    rocpd.insert('rocpd_info_process', id=program.PROCESS, command='python app.py')
    rocpd.insert('rocpd_info_thread', id=program.THREAD, tid=program.THREAD)
    for node, kind, name in ((HOST, 'CPU', 'Processor'), (DEVICE, 'GPU', 'Accelerator')):
        rocpd.insert('rocpd_info_agent', id=node, type=kind, absolute_index=node, logical_index=min(node, 1),
                     type_index=0, name='gfx942' if kind == 'GPU' else 'processor', product_name=name)
    take = {'call': rocpd.region, 'range': rocpd.region, 'kernel': rocpd.kernel, 'fill': rocpd.kernel,
            'copy': rocpd.copy}
    for event in events:
        take[event.kind](event)
    for text, number in rocpd.strings.items():
        rocpd.insert('rocpd_string', id=number, string=text)
    return {'rocpd.sql': rocpd.database.text()}
