# Programs whose device is slow at what it does, and those that look alike: tiles, nodes of graphs, attention.
# SPDX-License-Identifier: Apache-2.0
from math import prod

from told_case import ELEMENTWISE, FLASH, GEMM, NARROW_TILE, NORM, WIDE_TILE, Case, Trace


def operation(trace, name, at, shapes, *, kernel, start, us):
    """An operation on dense bf16 operands that launches one kernel."""
    strides = [[int(prod(shape[i + 1:])) for i in range(len(shape))] for shape in shapes]
    trace.host(name, at, 8, **{'Input Dims': shapes, 'Input Strides': strides,
                               'Input type': ['c10::BFloat16'] * len(shapes)})
    trace.launch(kernel, at + 2, start, us)


def one_step_of(operations, *, gpu, grid=(256, 1, 1), steps=3):
    """Each of (name, shapes, kernel, us), launched at once, one after the other on the device."""
    trace = Trace()
    trace.gpu, trace.grid = gpu, list(grid)
    for n in range(steps):
        begin = 1000 + n * 5000
        trace.step(n, begin, 4000)
        at, start = begin + 10, begin + 30
        for name, shapes, kernel, us in operations:
            operation(trace, name, at, shapes, kernel=kernel, start=start, us=us)
            at, start = at + 10, start + us
    return trace


def tiles(rng):
    """One row by 4096 x 4096: at 5300 GB/s 6.3 us, which a kernel for few rows comes near."""
    def rows(m, kernel, us):
        return one_step_of([('aten::mm', [[m, 4096], [4096, 4096]], kernel, us)] * 20, gpu='AMD Instinct MI300X')

    yield Case('tiles_wide', rows(1, WIDE_TILE, 40), found={'wide_tiles'}, absent={'one_row_gemm'},
               gains={'wide_tiles': 20 * (40 - 8) / 1e3}, evidence={'wide_tiles': '1x4096x4096: tiles of 128 x 128'})
    yield Case('tiles_wide_and_fast', rows(1, WIDE_TILE, 8), absent={'wide_tiles', 'one_row_gemm'})
    yield Case('tiles_wide_and_full', rows(128, WIDE_TILE, 40), absent={'wide_tiles', 'one_row_gemm'})
    yield Case('tiles_narrow', rows(1, NARROW_TILE, 40), found={'one_row_gemm'}, absent={'wide_tiles'})
    for rows_of_norm in (1, 128):  # a replay: kernels, and the grid of the norm before them
        trace = Trace()
        trace.gpu = 'AMD Instinct MI300X'
        for n in range(3):
            begin = 1000 + n * 5000
            trace.grid = [rows_of_norm, 1, 1]
            launch = trace.launch(NORM, begin, begin + 10, 5, call='hipGraphLaunch')
            for i in range(20):
                trace.grid = [32, 1, 1]
                trace.work(WIDE_TILE, begin + 15 + 45 * i, 40, correlation=launch)
                trace.grid = [rows_of_norm, 1, 1]
                trace.work(NORM, begin + 55 + 45 * i, 5, correlation=launch)
        few = rows_of_norm == 1
        yield Case(f'tiles_replayed_{rows_of_norm}', trace, found={'wide_tiles'} if few else set(),
                   absent=set() if few else {'wide_tiles'}, gains={'wide_tiles': 20 * 32 / 1e3} if few else {},
                   hosts=[(1000 + n * 5000, 1004 + n * 5000) for n in range(3)])


def nodes(rng):
    for name, call, pause, us, found in (('apart', 'hipGraphLaunch', 4, 3, True),
                                         ('near', 'hipGraphLaunch', 1, 3, False),
                                         ('long', 'hipGraphLaunch', 4, 200, False),
                                         ('of_cuda', 'cudaGraphLaunch', 4, 3, False)):
        trace = Trace()
        for n in range(4):
            begin = 1000 + n * 30_000
            launch = trace.launch(GEMM, begin, begin + 10, us, call=call)
            for i in range(1, 100):
                trace.work(ELEMENTWISE, begin + 10 + (us + pause) * i, us, correlation=launch)
        yield Case(f'nodes_{name}', trace, found={'graph_nodes'} if found else set(),
                   absent=set() if found else {'graph_nodes'}, gains={'graph_nodes': 99 * 4 / 1e3} if found else {},
                   hosts=[(1000 + n * 30_000, 1004 + n * 30_000) for n in range(4)])


def attentions(rng):
    """16 heads of 512 queries on 768 keys: 3.3 us at the peak of 989 Tflops, and few kernels take less than 6."""
    def heads(us):
        shapes = [[1, 16, 512, 128], [1, 16, 768, 128], [1, 16, 768, 128]]
        return one_step_of([('aten::scaled_dot_product_attention', shapes, FLASH, us)] * 10, gpu='NVIDIA H200')

    yield Case('attention_slow', heads(60), found={'slow_attention'}, gains={'slow_attention': 10 * (60 - 6) / 1e3},
               evidence={'slow_attention': "far above its sizes' time"})
    yield Case('attention_right', heads(12), absent={'slow_attention'})
    for blocks in (8, 128):
        trace = Trace()
        for n in range(3):
            begin = 1000 + n * 5000
            trace.grid = [blocks, 1, 1]
            launch = trace.launch(FLASH, begin, begin + 10, 90, call='cudaGraphLaunch')
            for i in range(1, 10):
                trace.work(NORM, begin + 100 * i, 9, correlation=launch)
                trace.work(FLASH, begin + 10 + 100 * i, 90, correlation=launch)
        yield Case(f'attention_replayed_{blocks}', trace, found={'slow_attention'} if blocks == 8 else set(),
                   absent=set() if blocks == 8 else {'slow_attention'},
                   evidence={'slow_attention': '8 blocks on 132 units'} if blocks == 8 else {},
                   hosts=[(1000 + n * 5000, 1004 + n * 5000) for n in range(3)])
