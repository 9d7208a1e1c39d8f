# What decode.py times: rung's command, llama.cpp and OpenVINO GenAI, each over the same weights and the same tokens.
# SPDX-License-Identifier: Apache-2.0
"""A contender is made once; each call of block() reads the prompt anew, makes tokens, and returns a Block."""
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy

import decoders


@dataclass
class Block:
    prefill_ms: float
    decode_ms: float  # median of the tokens behind the first
    tokens: list
    bytes_per_token: float = 0
    read_gbps: float = 0  # measured by the process that made the tokens, right behind them


@dataclass
class Work:
    """A model on disk, and what is asked of it. `folder` holds everything that is made of the shape."""
    shape: str
    folder: Path
    prompt: numpy.ndarray
    new: int
    threads: int
    seed: int

    @property
    def checkpoint(self):
        return self.folder / 'checkpoint'


class Rung:
    """`rung generate` on a plan of chunks of 1, 8, 64 and 512 tokens, a process for each block."""
    name = 'rung'

    def __init__(self, work, program):
        length = len(work.prompt) + work.new
        chunks = [size for size in (1, 8, 64, 512) if size <= length]
        plan, inputs = work.folder / f'chunks-{length}-{work.threads}.rung', work.folder / 'prompt.npz'
        numpy.savez(inputs, input_ids=work.prompt[None])
        shapes = [word for size in chunks for word in ('--shape', f'input_ids=1,{size}')]
        subprocess.run([program, 'build', work.checkpoint, '--cache', str(length), *shapes, '--threads',
                        str(work.threads), '--out', plan], check=True, stdout=subprocess.DEVNULL)
        self.command = [program, 'generate', plan, '--inputs', inputs, '--new', str(work.new), '--json']
        self.plan = plan

    def block(self):
        done = subprocess.run(self.command, check=True, capture_output=True, text=True)
        told = json.loads(done.stdout)
        return Block(told['prefill_ms'], told['decode_ms']['median'], told['tokens'], told['bytes_per_token'],
                     told['bytes_per_token'] / told['floor_ms'] * 1e-6)


class LlamaCpp:
    """llama.cpp by llama-cpp-python, over a GGUF file in bf16."""
    name = 'llama.cpp'

    def __init__(self, work):
        import llama_cpp

        path = work.folder / 'model.gguf'
        decoders.make_gguf(work.shape, path, work.seed)
        self.work, self.library = work, llama_cpp
        self.model = llama_cpp.Llama(str(path), n_ctx=len(work.prompt) + work.new, n_batch=512, n_ubatch=512,
                                     n_threads=work.threads, n_threads_batch=work.threads, verbose=False)
        self.prompt = [int(token) for token in work.prompt]

    def likeliest(self):
        logits = self.library.llama_get_logits_ith(self.model._ctx.ctx, -1)
        return int(numpy.ctypeslib.as_array(logits, (self.model.n_vocab(),)).argmax())

    def block(self):
        self.model.reset()
        stamps = [time.perf_counter()]
        tokens = []
        while len(tokens) < self.work.new:
            self.model.eval(tokens[-1:] or self.prompt)
            tokens.append(self.likeliest())
            stamps.append(time.perf_counter())
        times = numpy.diff(stamps) * 1e3
        return Block(times[0], statistics.median(times[1:]), tokens)


class OpenVino:
    """OpenVINO GenAI over what optimum-intel exports; its own choice of layouts, bf16 arithmetic."""
    name = 'OpenVINO'
    never = 1  # the id that would end a text; ends are ignored, but one must be given

    def __init__(self, work):
        import openvino
        import openvino_genai

        exported = work.folder / 'openvino'
        if not exported.exists():
            program = Path(sys.executable).with_name('optimum-cli')
            subprocess.run([program, 'export', 'openvino', '--model', work.checkpoint, '--task',
                            'text-generation-with-past', '--weight-format', 'fp16', '--disable-convert-tokenizer',
                            exported], check=True, capture_output=True, env=dict(os.environ, HF_HUB_OFFLINE='1'))
        settings = dict(INFERENCE_NUM_THREADS=work.threads, INFERENCE_PRECISION_HINT='bf16', PERFORMANCE_HINT='LATENCY')
        scheduler = openvino_genai.SchedulerConfig()
        scheduler.enable_prefix_caching = False  # it would remember the last block's prompt
        self.pipeline = openvino_genai.LLMPipeline(exported, 'CPU', scheduler_config=scheduler, **settings)
        self.prompt = openvino.Tensor(work.prompt[None])
        self.config = openvino_genai.GenerationConfig(max_new_tokens=work.new, ignore_eos=True, do_sample=False)
        self.config.set_eos_token_id(self.never)
        self.config.stop_token_ids = {self.never}

    def block(self):
        made = self.pipeline.generate(self.prompt, self.config)
        raw = made.perf_metrics.raw_metrics
        return Block(raw.m_times_to_first_token[0] * 1e-3, statistics.median(raw.m_durations) * 1e-3,
                     list(made.tokens[0]))


PEERS = (LlamaCpp, OpenVino)
