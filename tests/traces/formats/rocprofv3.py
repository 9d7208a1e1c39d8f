# The program as rocprofv3 writes it in CSV, by the columns of ROCm 6.2 and of ROCm 7: a file for each kind of thing.
# SPDX-License-Identifier: Apache-2.0
import program

AGENTS = {'host': 0, 'device': 2}  # nodes of the machine
CALL_COLUMNS = ('Domain', 'Function', 'Process_Id', 'Thread_Id', 'Correlation_Id', 'Start_Timestamp', 'End_Timestamp')
KERNEL_COLUMNS = {
    6: ('Kind', 'Agent_Id', 'Queue_Id', 'Thread_Id', 'Dispatch_Id', 'Kernel_Id', 'Kernel_Name', 'Correlation_Id',
        'Start_Timestamp', 'End_Timestamp', 'Private_Segment_Size', 'Group_Segment_Size', 'Workgroup_Size_X',
        'Workgroup_Size_Y', 'Workgroup_Size_Z', 'Grid_Size_X', 'Grid_Size_Y', 'Grid_Size_Z'),
    7: ('Kind', 'Agent_Id', 'Queue_Id', 'Stream_Id', 'Thread_Id', 'Dispatch_Id', 'Kernel_Id', 'Kernel_Name',
        'Correlation_Id', 'Start_Timestamp', 'End_Timestamp', 'LDS_Block_Size', 'Scratch_Size', 'VGPR_Count',
        'Accum_VGPR_Count', 'SGPR_Count', 'Workgroup_Size_X', 'Workgroup_Size_Y', 'Workgroup_Size_Z', 'Grid_Size_X',
        'Grid_Size_Y', 'Grid_Size_Z'),
}
COPY_COLUMNS = {
    6: ('Kind', 'Direction', 'Source_Agent_Id', 'Destination_Agent_Id', 'Correlation_Id', 'Start_Timestamp',
        'End_Timestamp'),
    7: ('Kind', 'Direction', 'Stream_Id', 'Source_Agent_Id', 'Destination_Agent_Id', 'Correlation_Id',
        'Start_Timestamp', 'End_Timestamp'),
}


def lines(columns, rows):
    def text(value):
        return f'"{value}"' if isinstance(value, str) else str(value)
    return ''.join(','.join(map(text, row)) + '\n' for row in [columns, *rows])


def agent(version, where):
    return AGENTS[where] if version == 6 else f'Agent {AGENTS[where]}'


def kernel_row(version, number, event):
    name = '__amd_rocclr_fillBufferAligned' if event.kind == 'fill' else event.name
    block = event.block if event.kind == 'kernel' else (256, 1, 1)
    grid = event.grid if event.kind == 'kernel' else (1, 1, 1)
    row = {'Kind': 'KERNEL_DISPATCH', 'Agent_Id': agent(version, 'device'), 'Queue_Id': 1, 'Stream_Id': event.stream,
           'Thread_Id': program.THREAD, 'Dispatch_Id': number, 'Kernel_Id': 16 + number % 4, 'Kernel_Name': name,
           'Correlation_Id': event.correlation, 'Start_Timestamp': event.start, 'End_Timestamp': event.end,
           'Private_Segment_Size': 0, 'Group_Segment_Size': event.shared, 'LDS_Block_Size': event.shared,
           'Scratch_Size': 0, 'VGPR_Count': event.registers, 'Accum_VGPR_Count': 0, 'SGPR_Count': 32}
    for axis, (blocks, items) in zip('XYZ', zip(grid, block)):
        row[f'Workgroup_Size_{axis}'] = items
        row[f'Grid_Size_{axis}'] = blocks * items
    return [row[column] for column in KERNEL_COLUMNS[version]]


def copy_row(version, event):
    to_device = event.direction == 'HtoD'
    direction = 'HOST_TO_DEVICE' if to_device else 'DEVICE_TO_HOST'
    row = {'Kind': 'MEMORY_COPY', 'Direction': 'MEMORY_COPY_' + direction, 'Stream_Id': event.stream,
           'Source_Agent_Id': agent(version, 'host' if to_device else 'device'),
           'Destination_Agent_Id': agent(version, 'device' if to_device else 'host'),
           'Correlation_Id': event.correlation, 'Start_Timestamp': event.start, 'End_Timestamp': event.end}
    return [row[column] for column in COPY_COLUMNS[version]]


def call_row(domain, name, event):
    return [domain, name, program.PROCESS, program.THREAD, event.correlation, event.start, event.end]


def files(events):
    written = {}
    for version in (6, 7):
        folder = f'rocprofv3_rocm{version}/host/{program.PROCESS}_'
        kernels = [event for event in events if event.kind in ('kernel', 'fill')]
        ranges = 'MARKER_CORE_API' if version == 6 else 'MARKER_CORE_RANGE_API'
        tables = {
            'kernel_trace': (KERNEL_COLUMNS[version], [kernel_row(version, *pair) for pair in enumerate(kernels, 1)]),
            'memory_copy_trace': (COPY_COLUMNS[version], [copy_row(version, e) for e in events if e.kind == 'copy']),
            'hip_api_trace': (CALL_COLUMNS, [call_row('HIP_RUNTIME_API', 'hip' + e.name, e)
                                             for e in events if e.kind == 'call']),
            'marker_api_trace': (CALL_COLUMNS, [call_row(ranges, e.name, e) for e in events if e.kind == 'range']),
            'agent_info': (('Node_Id', 'Logical_Node_Id', 'Agent_Type', 'Name', 'Vendor_Name', 'Product_Name'),
                           [(0, 0, 'CPU', 'processor', 'CPU', 'Processor'),
                            (2, 1, 'GPU', 'gfx942', 'AMD', 'Accelerator')]),
        }
        for table, (columns, rows) in tables.items():
            written[f'{folder}{table}.csv'] = lines(columns, rows)
    return written
