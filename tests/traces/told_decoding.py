# Programs that make a text token by token, and those that look alike: growing caches, tokens that the host reads.
# SPDX-License-Identifier: Apache-2.0
from told_case import CATEGORY, Case, Trace
from told_device_work import operation

CAT = 'void at::native::(anonymous namespace)::CatArrayBatchedCopy<c10::BFloat16, unsigned int, 4, 128, 1>()'
GEMV = 'void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 128, 16, 4>()'
READ = 'Memcpy DtoH (Device -> Pageable)'
CATEGORY.update({CAT: 'copy', GEMV: 'GEMM', READ: 'copy'})


def cat(trace, at, shapes, *, start, us):
    trace.host('aten::cat', at, 8, **{'Input Dims': [shapes, []], 'Input type': ['TensorList', 'Scalar']})
    trace.launch(CAT, at + 2, start, us)


def texts(rng):
    """16 caches of 24 us each, which one more token makes longer, or which slide."""
    for name, grows in (('grows', True), ('slides', False)):
        trace = Trace()
        for n in range(4):
            begin, length = 1000 + n * 5000, 900 + (n if grows else 0)
            trace.step(n, begin, 4000)
            operation(trace, 'aten::mm', begin + 10, [[1, 4096], [4096, 4096]], kernel=GEMV, start=begin + 30,
                      us=100)
            for i in range(16):
                cat(trace, begin + 20 + 10 * i, [[1, 8, length, 128], [1, 8, 1, 128]], start=begin + 130 + 24 * i,
                    us=24)
        yield Case(f'cache_{name}', trace, found={'growing_cache'} if grows else set(),
                   absent=set() if grows else {'growing_cache'},
                   gains={'growing_cache': 16 * 24 / 1e3} if grows else {},
                   evidence={'growing_cache': '+ [1,8,1,128]'} if grows else {})


def read_back(trace, at, start, bytes_read):
    """The host waits in the call until the copy is done; returns when it goes on."""
    trace.correlation += 1
    trace.call('cudaMemcpyAsync', at, 4, correlation=trace.correlation)
    trace.events.append({'ph': 'X', 'cat': 'gpu_memcpy', 'name': READ, 'pid': trace.device, 'tid': trace.stream,
                         'ts': start, 'dur': 2, 'args': {'correlation': trace.correlation, 'device': trace.device,
                                                         'stream': trace.stream, 'bytes': bytes_read}})
    trace.call('cudaStreamSynchronize', at + 5, start + 3 - (at + 5))
    return start + 3


def loops(rng):
    """Steps of 300 us, behind each of which 40 us pass until the next one runs."""
    for name, rows, bytes_read, found in (('tokens', 1, 8, True), ('answers', 64, 8, False),
                                          ('actions', 1, 6400, False)):
        trace, begin = Trace(), 1000.0
        for n in range(6):
            at = begin
            for i in range(3):
                operation(trace, 'aten::mm', at + 10 * i, [[rows, 4096], [4096, 4096]], kernel=GEMV,
                          start=begin + 10 + 100 * i, us=100)
            done = read_back(trace, begin + 30, begin + 310, bytes_read)
            trace.step(n, begin - 1, done - begin + 2)
            begin = done + 30
        yield Case(f'loop_of_{name}', trace, found={'wait_per_token'} if found else set(),
                   absent=set() if found else {'wait_per_token'},
                   gains={'wait_per_token': 5 / 6 * 0.040} if found else {})
