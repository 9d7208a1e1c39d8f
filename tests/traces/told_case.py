# What told traces are made of: events in the form of PyTorch's profiler, and what is known of a program.
# SPDX-License-Identifier: Apache-2.0
#
# Times are microseconds, as the profiler writes them.
from dataclasses import dataclass, field

GEMM, ELEMENTWISE = 'ampere_sgemm_128x64_tn', 'void at::native::vectorized_elementwise_kernel<4>'
NORM = 'void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>'
WIDE_TILE = 'Cijk_Alik_Bljk_BBS_BH_Bias_AS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN_LDSB1'
NARROW_TILE = WIDE_TILE.replace('MT128x128', 'MT128x16')
FLASH = 'void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4> >()'
CATEGORY = {GEMM: 'GEMM', ELEMENTWISE: 'element-wise', NORM: 'normalisation', WIDE_TILE: 'GEMM', NARROW_TILE: 'GEMM',
            FLASH: 'attention'}


class Trace:
    """Events as they are written to a file; `stream` and `device` are those of what is launched from here on."""

    def __init__(self):
        self.events, self.correlation = [], 0
        self.stream, self.device = 7, 0
        self.grid, self.gpu = [1, 1, 1], 'NVIDIA H200'

    def host(self, name, start, duration, category='cpu_op', thread=1, **arguments):
        self.events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': 100, 'tid': thread, 'ts': start,
                            'dur': duration, 'args': arguments})

    def call(self, name, start, duration, **arguments):
        self.host(name, start, duration, 'cuda_runtime', **arguments)

    def work(self, name, start, duration, category='kernel', correlation=0):
        self.events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': self.device, 'tid': self.stream,
                            'ts': start, 'dur': duration,
                            'args': {'correlation': correlation, 'device': self.device, 'stream': self.stream,
                                     'grid': self.grid, 'block': [128, 1, 1]}})

    def launch(self, name, call_at, start, duration, *, call='cudaLaunchKernel', call_us=4.0):
        """A call and its kernel; without a start the kernel is not in the trace."""
        self.correlation += 1
        self.call(call, call_at, call_us, correlation=self.correlation)
        if start is not None:
            self.work(name, start, duration, correlation=self.correlation)
        return self.correlation

    def step(self, number, start, duration, name='ProfilerStep#{}'):
        if name:
            self.host(name.format(number), start, duration, 'user_annotation')

    def json(self):
        return {'schemaVersion': 1, 'deviceProperties': [{'id': i, 'name': self.gpu} for i in range(4)],
                'traceEvents': self.events}


@dataclass
class Case:
    """What is known beyond what an accounting of the events tells."""
    name: str
    trace: Trace
    found: set = field(default_factory=set)       # findings that must be there
    absent: set = field(default_factory=set)      # and those that must not
    gains: dict = field(default_factory=dict)     # finding -> ms of a step that its remedy brings by construction
    causes: dict = field(default_factory=dict)    # cause of a gap -> ms of the median step
    notes: set = field(default_factory=set)       # ids that must be there
    evidence: dict = field(default_factory=dict)  # finding -> words that its evidence names
    complete: bool = True                         # the exit code is 0
    steps_by: str = 'ProfilerStep'                # ranges that begin so are the steps
    hosts: list = None                            # where no ranges tell: when the host was at each; empty: one step
    same_as: str = None                           # the case that must have the same sums
    exchanged: dict = field(default_factory=dict)  # devices of same_as -> here: its answers, under these numbers
    breaks: int = None                            # calls of the median step that would break a capture


def short_kernels(trace, at, *, count, apart, kernel_us, names=(GEMM, ELEMENTWISE)):
    """Launched one by one, each a microsecond before it starts."""
    for i in range(count):
        begin = at + apart * i
        trace.launch(names[i % len(names)], begin, begin + 5, kernel_us)


def ahead(trace, at, count, kernel_us, *, name=GEMM, latency=6.0):
    """Launched at once, one after the other on the device; returns when the device is done."""
    start = at + latency
    for i in range(count):
        trace.launch(name, at + 5 * i, start, kernel_us)
        start += kernel_us
    return start
