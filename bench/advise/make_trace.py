#!/usr/bin/env python3
# Writes a trace of any size as PyTorch's profiler would: steps of a decoder with shapes, launches, kernels and arrows.
# SPDX-License-Identifier: Apache-2.0
"""usage: make_trace.py OUT BYTES    (suffixes: k, M, G of a thousand; OUT may end in .gz)"""
from __future__ import annotations

import gzip
import random
import sys
from dataclasses import dataclass

LAYERS = 24
WIDTH, HIDDEN, HEADS, TOKENS = 1024, 4096, 16, 51
PID, TID, STREAM = 4711, 4711, 7
HEAD = '''{
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "numSms": 132}
  ],
  "record_shapes": 1,
  "displayTimeUnit": "ms",
  "traceEvents": ['''
TAIL = '''
  ],
  "traceName": "made.json"
}
'''


class Writer:
    """Events as Kineto writes them: one key and value after another, over several lines, with blanks in lists."""

    def __init__(self, out) -> None:
        self.out, self.bytes, self.first = out, 0, True
        self.ids = self.correlation = 0
        self.host_us = self.device_us = 4638936257157.0
        self.random = random.Random(1)
        self.events = 0

    def text(self, text: str) -> None:
        self.bytes += len(text)
        self.out.write(text.encode())

    def event(self, text: str) -> None:
        self.text(("" if self.first else ",") + text)
        self.first = False
        self.events += 1

    def whole(self, category: str, name: str, place: str, when: tuple[float, float], args: str) -> None:
        self.event(f'\n  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", {place},\n'
                   f'    "ts": {when[0]:.3f}, "dur": {when[1]:.3f},\n    "args": {{\n      {args}\n    }}\n  }}')

    def op(self, name: str, when: tuple[float, float], dims: list[list[int]], values: str) -> None:
        self.ids += 1
        strides = [[row_stride(d, i) for i in range(len(d))] for d in dims]
        types = ", ".join('"c10::BFloat16"' if d else '"Scalar"' for d in dims)
        self.whole("cpu_op", name, f'"pid": {PID}, "tid": {TID}', when,
                   f'"External id": {self.ids},"Record function id": 0, "Concrete Inputs": [{values}], '
                   f'"Input type": [{types}], "Input Strides": {strides}, "Input Dims": {dims}, "Ev Idx": {self.ids}')

    def launch(self, kernel: str, grid: tuple[int, int, int], kernel_us: float) -> None:
        """A call on the host, a kernel on the device, and the arrow between them."""
        self.correlation += 1
        begin = self.host_us
        self.host_us += 4 + self.random.random()
        link = f'"External id": {self.ids}, "correlation": {self.correlation}'
        self.whole("cuda_runtime", "cudaLaunchKernel", f'"pid": {PID}, "tid": {TID}', (begin, self.host_us - begin),
                   f'"cbid": 211, {link}')
        self.event(f'\n  {{\n    "ph": "s", "id": {self.correlation}, "pid": {PID}, "tid": {TID}, "ts": {begin:.3f},\n'
                   f'    "cat": "ac2g", "name": "ac2g"\n  }}')
        self.device_us = max(self.device_us, self.host_us) + 1
        duration = kernel_us * (0.9 + 0.2 * self.random.random())
        self.whole("kernel", kernel, f'"pid": 0, "tid": {STREAM}', (self.device_us, duration),
                   f'"External id": {self.ids}, "queued": 0, "device": 0, "context": 1,\n'
                   f'      "stream": {STREAM}, "correlation": {self.correlation},\n'
                   f'      "registers per thread": 168,\n      "shared memory": 49152,\n'
                   f'      "blocks per SM": 3.272727,\n      "warps per SM": 26.181818,\n'
                   f'      "grid": [{grid[0]}, {grid[1]}, {grid[2]}],\n      "block": [128, 1, 1],\n'
                   f'      "est. achieved occupancy %": 25')
        self.event(f'\n  {{\n    "ph": "f", "id": {self.correlation}, "pid": 0, "tid": {STREAM}, '
                   f'"ts": {self.device_us:.3f},\n    "cat": "ac2g", "name": "ac2g", "bp": "e"\n  }}')
        self.device_us += duration


def row_stride(dims: list[int], axis: int) -> int:
    product = 1
    for extent in dims[axis + 1:]:
        product *= extent
    return product


@dataclass(frozen=True)
class Kernel:
    name: str
    us: float


GEMM = Kernel("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute_segment_k_off_"
              "kernel__5x_cublas", 9.0)
POINTWISE = Kernel("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
                   "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
                   2.0)
NORM = Kernel("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, "
              "c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)", 3.0)
ATTENTION = Kernel("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
                   "cutlass::bfloat16_t> >(pytorch_flash::Flash_fwd_params)", 12.0)


def nested(out: Writer, names: list[str], dims: list[list[int]], values: str, kernel: Kernel) -> None:
    """Operations within each other, of which the innermost launches a kernel; the profiler writes the outer first."""
    begin = out.host_us
    inside = 2.0 * len(names) + 5
    for depth, name in enumerate(names):
        out.op(name, (begin + 1.5 * depth, inside + 2.0 * (len(names) - depth)), dims, values)
    out.host_us = begin + 1.5 * len(names)
    out.launch(kernel.name, (TOKENS, max(1, dims[0][-1] // 128), 1), kernel.us)
    out.host_us = begin + inside + 2.0 * len(names) + 3


def linear(out: Writer, inner: int, outer: int) -> None:
    nested(out, ["aten::linear", "aten::matmul", "aten::mm"], [[1, TOKENS, inner], [inner, outer], []], '"", "", ""',
           GEMM)


def pointwise(out: Writer, name: str, dims: list[list[int]]) -> None:
    nested(out, [name], dims, '"", "", "1"', POINTWISE)


def layer(out: Writer, keys: int) -> None:
    """Its cache of keys and values grows from step to step, and with it the number of different shapes."""
    row = [1, TOKENS, WIDTH]
    nested(out, ["aten::layer_norm", "aten::native_layer_norm"], [row, [], [WIDTH], [WIDTH], []],
           '"", "[1024]", "", "", "1e-05"', NORM)
    for _ in range(3):
        linear(out, WIDTH, WIDTH)
    heads, cached = [1, HEADS, TOKENS, WIDTH // HEADS], [1, HEADS, keys, WIDTH // HEADS]
    nested(out, ["aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
                 "aten::_flash_attention_forward"], [heads, cached, cached, [], []], '"", "", "", "0.", "False"',
           ATTENTION)
    linear(out, WIDTH, WIDTH)
    pointwise(out, "aten::add", [row, row, []])
    linear(out, WIDTH, HIDDEN)
    pointwise(out, "aten::gelu", [[1, TOKENS, HIDDEN], []])
    linear(out, HIDDEN, WIDTH)
    pointwise(out, "aten::add", [row, row, []])


def step(out: Writer, number: int) -> None:
    start = out.host_us
    for _ in range(LAYERS):
        layer(out, TOKENS + number % 512)
    begin, out.host_us = out.host_us, max(out.host_us, out.device_us) + 10
    out.whole("cuda_runtime", "cudaStreamSynchronize", f'"pid": {PID}, "tid": {TID}', (begin, out.host_us - begin),
              f'"cbid": 131, "External id": {out.ids}, "correlation": 0')
    out.whole("user_annotation", f"ProfilerStep#{number}", f'"pid": {PID}, "tid": {TID}',
              (start, out.host_us - start + 5),
              f'"External id": {out.ids}')
    out.host_us += 20


def bytes_of(text: str) -> int:
    unit = {"k": 10**3, "M": 10**6, "G": 10**9}.get(text[-1])
    return int(float(text[:-1]) * unit) if unit else int(text)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    path, wanted = sys.argv[1], bytes_of(sys.argv[2])
    with (gzip.open(path, "wb", 1) if path.endswith(".gz") else open(path, "wb", 1 << 20)) as file:
        out = Writer(file)
        out.text(HEAD)
        number = 0
        while out.bytes < wanted:
            number += 1
            step(out, number)
        out.text(TAIL)
    print(f"{path}: {out.bytes} bytes, {out.events} events, {number} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
