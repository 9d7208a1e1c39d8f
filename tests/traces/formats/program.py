# One small program, told as what happened when: the writers of formats beside this file tell it each in its own.
# SPDX-License-Identifier: Apache-2.0
"""Three steps of two layers: a copy to the device, launches, a fill, a wait for the result and its copy back."""
from dataclasses import dataclass, field

START_NS = 8_819_330_200_000_000  # of a machine's clock since it was started
PROCESS, THREAD = 4711, 4712
STEPS, LAYERS = 3, 2
CALL_NS = 4_000        # a call of the runtime, on the host
TO_DEVICE_NS = 2_500   # from a call's end to the start of what it started, on an idle stream
HOST_NS = 30_000       # what the host does between two layers, which no profiler sees


@dataclass
class Event:
    kind: str  # kernel, copy, fill, call, range
    name: str
    start: int
    end: int
    correlation: int = 0
    stream: int = 0
    grid: tuple = (0, 0, 0)
    block: tuple = (0, 0, 0)
    registers: int = 0
    shared: int = 0
    bytes: int = 0
    direction: str = ''  # HtoD, DtoH


@dataclass
class Program:
    now: int = START_NS
    free: int = START_NS  # when the stream has done all that it was given
    correlation: int = 100
    events: list = field(default_factory=list)

    def call(self, name, until=0):
        """A call of the runtime; `until`: it waits so long."""
        self.correlation += 1
        end = max(self.now + CALL_NS, until)
        self.events.append(Event('call', name, self.now, end, self.correlation))
        self.now = end
        return self.correlation

    def work(self, kind, name, duration, call, **shape):
        correlation = self.call(call)
        start = max(self.now + TO_DEVICE_NS, self.free)
        self.free = start + duration
        self.events.append(Event(kind, name, start, self.free, correlation, stream=7, **shape))

    def kernel(self, name, duration, **shape):
        self.work('kernel', name, duration, 'LaunchKernel', **shape)

    def step(self, number):
        begin = self.now
        self.work('copy', '', 6_000, 'MemcpyAsync', bytes=65_536, direction='HtoD')
        for _ in range(LAYERS):
            self.now += HOST_NS
            self.kernel('triton_red_fused_native_layer_norm_0', 3_210, grid=(51, 1, 1), block=(128, 1, 1), registers=32,
                        shared=512)
            self.kernel('Cijk_Ailk_Bljk_BBS_BH_MT64x64x32', 41_017, grid=(16, 4, 1), block=(256, 1, 1), registers=128,
                        shared=16_384)
            self.kernel('triton_poi_fused_add_gelu_1', 2_105, grid=(204, 1, 1), block=(256, 1, 1), registers=24)
        self.kernel('triton_red_fused_argmax_2', 2_640, grid=(1, 1, 1), block=(1024, 1, 1), registers=40, shared=4_096)
        self.work('fill', '', 1_500, 'MemsetAsync', bytes=4_096)
        self.work('copy', '', 5_000, 'MemcpyAsync', bytes=2_048, direction='DtoH')
        self.call('StreamSynchronize', until=self.free + 3_000)
        self.events.append(Event('range', f'step {number}', begin, self.now))
        self.now += HOST_NS


def tell():
    program = Program()
    for number in range(STEPS):
        program.step(number)
    return program.events
