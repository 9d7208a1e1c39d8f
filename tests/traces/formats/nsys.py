# The program as Nsight Systems exports it: the statements that make the SQLite database, with the columns of a current
# version and of one of 2021.
# SPDX-License-Identifier: Apache-2.0
import program

GLOBAL_PROCESS = program.PROCESS << 24
GLOBAL_THREAD = GLOBAL_PROCESS | program.THREAD
COPY_KINDS = {'HtoD': (1, 0, 2), 'DtoH': (2, 2, 1)}  # direction, from, to: pageable 0, pinned 1, device 2
WORK = 'start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, '
SHAPE = ('registersPerThread INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, '
         'staticSharedMemory INT, dynamicSharedMemory INT')
NEW_SCHEMA = [
    'StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)',
    'ENUM_CUDA_MEM_KIND (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT)',
    'TARGET_INFO_GPU (vmId INT, id INT, name TEXT, busLocation TEXT, cuDevice INT)',
    'TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT, uuid TEXT, numMultiprocessors INT)',
    'CUPTI_ACTIVITY_KIND_RUNTIME (start INT NOT NULL, end INT NOT NULL, eventClass INT NOT NULL, globalTid INT, '
    'correlationId INT, nameId INT NOT NULL, returnValue INT NOT NULL, callchainId INT)',
    f'CUPTI_ACTIVITY_KIND_KERNEL ({WORK}correlationId INT, globalPid INT, demangledName INT, shortName INT, '
    f'mangledName INT, launchType INT, graphNodeId INT, {SHAPE})',
    f'CUPTI_ACTIVITY_KIND_MEMCPY ({WORK}correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, '
    'dstKind INT, graphNodeId INT)',
    f'CUPTI_ACTIVITY_KIND_MEMSET ({WORK}correlationId INT, globalPid INT, value INT, bytes INT, memKind INT)',
    f'CUPTI_ACTIVITY_KIND_SYNCHRONIZATION ({WORK}correlationId INT, globalPid INT, syncType INT, eventId INT)',
    'NVTX_EVENTS (start INT NOT NULL, end INT, eventType INT NOT NULL, rangeId INT, text TEXT, globalTid INT, '
    'endGlobalTid INT, textId INT, domainId INT)',
]
# That version told neither kinds of memory by name nor which process sees which GPU, and named kernels twice.
OLD_SCHEMA = [table.replace(', mangledName INT, launchType INT, graphNodeId INT', '').replace(', graphNodeId INT', '')
              for table in NEW_SCHEMA if not table.startswith(('ENUM', 'TARGET_INFO_CUDA'))]


class Database:
    def __init__(self, schema):
        self.columns = {}
        self.statements = [f'CREATE TABLE {table};' for table in schema]
        for table in schema:
            name, _, columns = table.partition(' (')
            self.columns[name] = [column.split()[0] for column in columns.rstrip(')').split(', ')]
        self.strings = {}

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
        return self.strings[text]

    def insert(self, table, **values):
        if table not in self.columns:
            return
        row = ', '.join(literal(values.get(column)) for column in self.columns[table])
        self.statements.append(f'INSERT INTO {table} VALUES ({row});')

    def text(self):
        for text, number in self.strings.items():
            self.insert('StringIds', id=number, value=text)
        return 'BEGIN;\n' + '\n'.join(self.statements) + '\nCOMMIT;\n'


def literal(value):
    if value is None:
        return 'NULL'
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def add_event(database, event):
    work = {'start': event.start, 'end': event.end, 'deviceId': 0, 'contextId': 1, 'streamId': event.stream,
            'correlationId': event.correlation, 'globalPid': GLOBAL_PROCESS}
    if event.kind == 'call':
        name = database.string(f"cuda{event.name}_v{7000 if event.name == 'LaunchKernel' else 3020}")
        database.insert('CUPTI_ACTIVITY_KIND_RUNTIME', start=event.start, end=event.end, eventClass=0,
                        globalTid=GLOBAL_THREAD, correlationId=event.correlation, nameId=name, returnValue=0)
        if event.name == 'StreamSynchronize':
            database.insert('CUPTI_ACTIVITY_KIND_SYNCHRONIZATION', **work, syncType=3)
    elif event.kind == 'kernel':
        name = database.string(event.name)
        shape = {f'{what}{axis}': extent for what, extents in (('grid', event.grid), ('block', event.block))
                 for axis, extent in zip('XYZ', extents)}
        database.insert('CUPTI_ACTIVITY_KIND_KERNEL', **work, demangledName=name, shortName=name, launchType=1,
                        registersPerThread=event.registers, staticSharedMemory=event.shared, dynamicSharedMemory=0,
                        **shape)
    elif event.kind == 'copy':
        direction, source, destination = COPY_KINDS[event.direction]
        database.insert('CUPTI_ACTIVITY_KIND_MEMCPY', **work, bytes=event.bytes, copyKind=direction, srcKind=source,
                        dstKind=destination)
    elif event.kind == 'fill':
        database.insert('CUPTI_ACTIVITY_KIND_MEMSET', **work, value=0, bytes=event.bytes, memKind=2)
    else:
        database.insert('NVTX_EVENTS', start=event.start, end=event.end, eventType=59, text=event.name,
                        globalTid=GLOBAL_THREAD, domainId=0)


def files(events):
    written = {}
    for name, schema in (('nsys.sql', NEW_SCHEMA), ('nsys_2021.sql', OLD_SCHEMA)):
        database = Database(schema)
        for number, label in enumerate(('Pageable', 'Pinned', 'Device', 'Array', 'Managed')):
            database.insert('ENUM_CUDA_MEM_KIND', id=number, name=f'CUDA_MEMOPR_MEMORY_KIND_{label.upper()}',
                            label=label)
        database.insert('TARGET_INFO_GPU', vmId=0, id=0, name='Accelerator', busLocation='0000:18:00.0', cuDevice=0)
        database.insert('TARGET_INFO_CUDA_DEVICE', gpuId=0, cudaId=0, pid=program.PROCESS, numMultiprocessors=132)
        for event in events:
            add_event(database, event)
        written[name] = database.text()
    return written
