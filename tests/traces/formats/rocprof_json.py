# The program as rocprofv3 writes it in JSON, in the versions of ROCm 6.2 and of ROCm 7: tables, then lists of records.
# SPDX-License-Identifier: Apache-2.0
import json

import program

HOST, DEVICE = 8_000_000_001, 8_000_000_002  # handles of agents
FILL = '__amd_rocclr_fillBufferAligned'
FIRST_KERNEL = 16  # where numbers of kernels begin
KINDS = {  # of records, by number; a list of operations for each
    6: ['NONE', 'HSA_CORE_API', 'HIP_RUNTIME_API', 'HIP_COMPILER_API', 'MARKER_CORE_API', 'MEMORY_COPY',
        'KERNEL_DISPATCH'],
    7: ['NONE', 'HSA_CORE_API', 'HIP_RUNTIME_API_EXT', 'HIP_COMPILER_API_EXT', 'MARKER_CORE_RANGE_API', 'MEMORY_COPY',
        'KERNEL_DISPATCH'],
}
OPERATIONS = {
    'HIP_RUNTIME_API': ['hipApiName', 'hipLaunchKernel', 'hipMemcpyAsync', 'hipMemsetAsync', 'hipStreamSynchronize'],
    'MARKER_CORE': ['roctxMarkA', 'roctxRangePushA', 'roctxRangePop', 'roctxThreadRangeA'],
    'MEMORY_COPY': ['MEMORY_COPY_NONE', 'MEMORY_COPY_HOST_TO_HOST', 'MEMORY_COPY_HOST_TO_DEVICE',
                    'MEMORY_COPY_DEVICE_TO_HOST', 'MEMORY_COPY_DEVICE_TO_DEVICE'],
    'KERNEL_DISPATCH': ['KERNEL_DISPATCH_NONE', 'KERNEL_DISPATCH_ENQUEUE', 'KERNEL_DISPATCH_COMPLETE'],
}


def operations_of(kind):
    return next((names for prefix, names in OPERATIONS.items() if kind.startswith(prefix)), [])


def handle(number):
    return {'handle': number}


def extents(values):
    return dict(zip('xyz', values))


def record(version, kind, operation, event):
    number = next(i for i, name in enumerate(KINDS[version]) if name.startswith(kind))
    made = {'size': 72, 'kind': number, 'operation': operations_of(kind).index(operation),
            'correlation_id': {'internal': event.correlation, 'external': 0}, 'start_timestamp': event.start,
            'end_timestamp': event.end, 'thread_id': program.THREAD}
    if version == 7:
        made['correlation_id']['ancestor'] = 0
    return made


def kernel_record(version, kernels, dispatch, event):
    name = FILL if event.kind == 'fill' else event.name
    block = event.block if event.kind == 'kernel' else (256, 1, 1)
    grid = event.grid if event.kind == 'kernel' else (1, 1, 1)
    made = record(version, 'KERNEL_DISPATCH', 'KERNEL_DISPATCH_COMPLETE', event)
    made['dispatch_info'] = {
        'size': 80, 'agent_id': handle(DEVICE), 'queue_id': handle(1),
        'kernel_id': kernels.index(name) + FIRST_KERNEL, 'dispatch_id': dispatch, 'private_segment_size': 0,
        'group_segment_size': event.shared,
        'workgroup_size': extents(block), 'grid_size': extents([b * i for b, i in zip(grid, block)])}
    if version == 7:
        made['stream_id'] = handle(event.stream)
    return made


def copy_record(version, event):
    to_device = event.direction == 'HtoD'
    operation = 'MEMORY_COPY_HOST_TO_DEVICE' if to_device else 'MEMORY_COPY_DEVICE_TO_HOST'
    made = record(version, 'MEMORY_COPY', operation, event)
    ends = (HOST, DEVICE) if to_device else (DEVICE, HOST)
    made |= {'dst_agent_id': handle(ends[1]), 'src_agent_id': handle(ends[0]), 'bytes': event.bytes}
    if version == 7:
        made['stream_id'] = handle(event.stream)
    return made


def symbol(version, kernels, events, name):
    registers = next((e.registers for e in events if e.name == name), 0)
    made = {'size': 80, 'kernel_id': kernels.index(name) + FIRST_KERNEL, 'code_object_id': 1,
            'kernel_name': name + '.kd', 'kernel_object': 140_000, 'kernarg_segment_size': 64,
            'kernarg_segment_alignment': 16, 'group_segment_size': 0, 'private_segment_size': 0,
            'formatted_kernel_name': name + '.kd', 'demangled_kernel_name': name + '.kd', 'truncated_kernel_name': name}
    if version == 7:
        made |= {'sgpr_count': 32, 'arch_vgpr_count': registers, 'accum_vgpr_count': 0}
    return made


def agents():
    return [{'size': 328, 'id': handle(HOST), 'type': 1, 'cpu_cores_count': 64, 'name': 'processor',
             'vendor_name': 'CPU', 'product_name': 'Processor', 'model_name': '', 'node_id': 0, 'logical_node_id': 0},
            {'size': 328, 'id': handle(DEVICE), 'type': 2, 'cu_count': 304, 'name': 'gfx942', 'vendor_name': 'AMD',
             'product_name': 'Accelerator', 'model_name': 'aqua_vanjaram', 'node_id': 2, 'logical_node_id': 1}]


def process(version, events):
    kernels = sorted({FILL} | {event.name for event in events if event.kind == 'kernel'})
    dispatches = [event for event in events if event.kind in ('kernel', 'fill')]
    ranges = [event for event in events if event.kind == 'range']
    for number, event in enumerate(ranges):
        event.correlation = 9001 + number
    names = [{'kind': kind, 'operations': operations_of(kind)} for kind in KINDS[version]]
    messages = [{'key': event.correlation, 'value': event.name} for event in ranges]
    return {
        'metadata': {'pid': program.PROCESS, 'init_time': events[0].start, 'fini_time': events[-1].end,
                     'config': {'kernel_trace': True, 'hip_runtime_api_trace': True}, 'command': ['./program']},
        'agents': agents(), 'counters': [],
        'strings': {'callback_records': names, 'buffer_records': names, 'marker_api': messages,
                    'correlation_id': {'external': []}, 'counters': {'dimension_ids': []}},
        'code_objects': [], 'kernel_symbols': [symbol(version, kernels, events, name) for name in kernels],
        'callback_records': {'counter_collection': []},
        'buffer_records': {
            'kernel_dispatch': [kernel_record(version, kernels, *pair) for pair in enumerate(dispatches, 1)],
            'hip_api': [record(version, 'HIP_RUNTIME_API', 'hip' + e.name, e) for e in events if e.kind == 'call'],
            'hsa_api': [],
            'marker_api': [record(version, 'MARKER_CORE', 'roctxThreadRangeA', e) for e in ranges],
            'rccl_api': [],
            'memory_copy': [copy_record(version, e) for e in events if e.kind == 'copy'],
            'scratch_memory': [],
        },
    }


def files(events):
    return {f'rocprofv3_rocm{version}.json': json.dumps({'rocprofiler-sdk-tool': [process(version, events)]}, indent=0)
            for version in (6, 7)}
