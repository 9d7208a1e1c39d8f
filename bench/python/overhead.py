#!/usr/bin/env python3
# What a call from Python costs beside the same plan driven from C: blocks of runs in turns, in one process.
# SPDX-License-Identifier: Apache-2.0
"""Prints a table: microseconds of one run from C and from Python, and the difference, the medians of all blocks.

usage: overhead.py PLAN.rung [--blocks 200] [--runs 50]

The package `rung` is the one that Python imports; a C compiler makes the loop in C against its library.
"""
from __future__ import annotations

import argparse
import ctypes
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy
import rung

HERE = Path(__file__).resolve().parent
Block = Callable[[int], float]  # seconds that this number of runs takes


def library_path() -> str:
    maps = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in maps if Path(line.split()[-1]).name.startswith("librung.so"))


def compile_loop(folder: str) -> ctypes.CDLL:
    compiled = f"{folder}/loop.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", HERE.parents[1] / "include", HERE / "loop.c", "-o", compiled,
                    library_path(), f"-Wl,-rpath,{Path(library_path()).parent}"], check=True)
    loop = ctypes.CDLL(compiled)
    loop.loop_open.restype = ctypes.c_void_p
    for name in ("loop_bound", "loop_own", "loop_enqueued"):
        getattr(loop, name).restype = ctypes.c_double
    return loop


def timed(call: Callable[[], object]) -> Block:
    def block(runs: int) -> float:
        start = time.perf_counter()
        for _ in range(runs):
            call()
        return time.perf_counter() - start

    return block


def random_inputs(model: rung.Model) -> dict[str, Any]:
    """Ones, which are in every input's range."""
    return {name: numpy.ones(port.shape, "uint16" if port.dtype == "bfloat16" else port.dtype)
            for name, port in model.inputs.items()}


def compare(c: Block, python: Block, options: argparse.Namespace, wait: Callable[[], object]) -> tuple[float, ...]:
    """Microseconds from C, from Python, the median difference of neighbouring blocks, and that of either's fastest
    twentieth, which other programs on the machine slowed least."""
    blocks: list[tuple[float, float]] = []
    for number in range(options.blocks + 5):
        seconds = []
        for block in ((c, python) if number % 2 else (python, c)):
            seconds.append(block(options.runs) / options.runs * 1e6)
            wait()
        if min(seconds) < 0:
            raise SystemExit("a run from C failed")
        if number >= 5:
            blocks.append((seconds[0], seconds[1]) if number % 2 else (seconds[1], seconds[0]))
    c_us, python_us = (statistics.median(column) for column in zip(*blocks))
    least_c, least_python = (sorted(column)[len(blocks) // 20] for column in zip(*blocks))
    return c_us, python_us, statistics.median(p - c for c, p in blocks), least_python - least_c


def rows_on_host(loop: ctypes.CDLL, handle: ctypes.c_void_p, model: rung.Model) -> list[tuple[str, Block, Block]]:
    inputs = random_inputs(model)
    out = model(**inputs)
    own = model.session()
    for name, array in inputs.items():
        own.input(name)[...] = array
    for name in model.outputs:
        own.output(name)

    def bound(runs: int) -> float:
        return float(loop.loop_bound(handle, runs))

    def in_own_memory(runs: int) -> float:
        return float(loop.loop_own(handle, runs))

    return [("NumPy arrays in, NumPy arrays out", bound, timed(lambda: model(**inputs))),
            ("the same, `out=` given", bound, timed(lambda: model(**inputs, out=out))),
            ("`run()` in the session's own memory", in_own_memory, timed(own.run))]


def addresses(tensors: Iterable[Any]) -> ctypes.Array[ctypes.c_void_p]:
    found = [tensor.data_ptr() for tensor in tensors]
    return (ctypes.c_void_p * len(found))(*found)


def rows_of_torch(loop: ctypes.CDLL, handle: ctypes.c_void_p, model: rung.Model) -> list[tuple[str, Block, Block]]:
    try:
        import torch
    except ImportError:
        return []
    host = {name: torch.from_numpy(array) for name, array in random_inputs(model).items()
            if model.inputs[name].dtype != "bfloat16"}
    if model.device == "cpu":
        return [("PyTorch tensors in and out", lambda runs: float(loop.loop_bound(handle, runs)),
                 timed(lambda: model(**host)))]
    device = {name: tensor.to(model.device) for name, tensor in host.items()}
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    out = model(**device)

    def enqueued(runs: int) -> float:
        loop.loop_place(handle, addresses(device[name] for name in model.inputs),
                        addresses(out[name] for name in model.outputs))
        return float(loop.loop_enqueued(handle, runs, stream))

    return [("tensors on the GPU in and out, enqueued", enqueued, timed(lambda: model(**device))),
            ("the same, `out=` given", enqueued, timed(lambda: model(**device, out=out)))]


def outputs_alone(model: rung.Model, runs: int = 2000) -> float | None:
    """Microseconds that PyTorch takes to make one call's outputs on the GPU, which it takes for everyone."""
    try:
        import torch
    except ImportError:
        return None
    ports = [(port.shape, getattr(torch, port.dtype)) for port in model.outputs.values()]

    def made() -> list[Any]:
        return [torch.empty(shape, dtype=dtype, device=model.device) for shape, dtype in ports]

    block = timed(made)
    return None if model.device == "cpu" else min(block(runs) for _ in range(10)) / runs * 1e6


def waiter(model: rung.Model) -> Callable[[], object]:
    if model.device == "cpu":
        return lambda: None
    try:
        import torch
    except ImportError:
        return lambda: None
    return torch.cuda.synchronize  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan")
    parser.add_argument("--blocks", type=int, default=200)
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, rung.load(options.plan) as model:
        loop = compile_loop(folder)
        address = loop.loop_open(options.plan.encode())
        if not address:
            raise SystemExit("the loop in C cannot open the plan")
        handle = ctypes.c_void_p(address)
        print(f"{options.plan} on {model.device}; us of a run, medians of {options.blocks} blocks of {options.runs}\n")
        print("| call | from C | from Python | difference | of the fastest |\n| --- | --- | --- | --- | --- |")
        for name, c, python in rows_on_host(loop, handle, model) + rows_of_torch(loop, handle, model):
            row = compare(c, python, options, waiter(model))
            print(f"| {name} | {row[0]:.1f} | {row[1]:.1f} | {row[2]:.1f} | {row[3]:.1f} |", flush=True)
        if alone := outputs_alone(model):
            print(f"\ntorch.empty() takes {alone:.1f} us of the outputs that a call makes on the GPU")


if __name__ == "__main__":
    main()
