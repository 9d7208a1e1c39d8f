#!/usr/bin/env python3
# Records the traces of tests/data/traces that want two GPUs, and times each remedy beside its fault.
# SPDX-License-Identifier: Apache-2.0
#
#   python3 tests/traces/record_ranks.py --out DIR
#
# One process a GPU; the trace is the first one's. A step is timed on all ranks at once, a fixed number of times, since
# every rank must take part in every sum. Rows are added to the truth.json that is in DIR.
import argparse
import dataclasses
import json
import os
import statistics
import time
from pathlib import Path

import torch
import torch.distributed as dist

from decoder import SMALL, Decoder, Shape
from parallel import OneShotSum, ParallelDecoder
from record import Scenario, captured, compare, record

RANKS = 2
PROFILED = 20  # steps before the recording, with the profiler: it begins on one rank later than on another
STEPS = 60  # of one timing
LATE_S = 200e-6  # of host work, before each of a late rank's sums
SEQUENCES = dataclasses.replace(Shape(), tokens=1024)  # two of them: as much work as one of Shape()


def example(shape, sequences=1):
    return torch.randn(sequences, shape.tokens, shape.width, device='cuda', dtype=torch.bfloat16)


def small(total=None, delay_s=0):
    model, x = ParallelDecoder(SMALL, RANKS, total, delay_s), example(SMALL)
    return lambda: model(x)


def one_shot():
    return small(OneShotSum((1, SMALL.tokens, SMALL.width)))


def large():
    """The step with each sum where it is due, and with sums beside other work."""
    model, x = ParallelDecoder(SEQUENCES, RANKS), example(SEQUENCES, 2)
    return lambda: model(x), lambda: model.overlapped(x)


def ranks_small_eager():
    return Scenario(small(), ('small_collectives',), ('late_ranks', 'launch_bound'))


def ranks_late():
    late = dist.get_rank() != 0
    return Scenario(small(delay_s=LATE_S * late), ('late_ranks',), ('small_collectives', 'launch_bound'),
                    {'late_ranks': small()})


def ranks_small_graph():
    return Scenario(captured(small()), ('small_collectives',), cures={'small_collectives': captured(one_shot())})


def ranks_one_shot_graph():
    return Scenario(captured(one_shot()), (), ('small_collectives',))


# As a graph the step takes 2.87 instead of 3.09 ms.
def ranks_large():
    return Scenario(large()[0], ('exposed_collectives',), ('launch_bound',))


def ranks_large_graph():
    due, overlapped = map(captured, large())
    return Scenario(due, ('exposed_collectives',), cures={'exposed_collectives': overlapped})


def ranks_overlapped_graph():
    return Scenario(captured(large()[1]), (), ('exposed_collectives',))


SHARED = (ranks_small_eager, ranks_late, ranks_small_graph, ranks_one_shot_graph, ranks_large, ranks_large_graph,
          ranks_overlapped_graph)


def one_process():
    """All GPUs driven by one process; the remedy is what each of several processes would do."""
    here = torch.cuda.current_device()
    models, xs = [], []
    for device in range(RANKS):
        torch.cuda.set_device(device)
        models.append(Decoder(SMALL))
        xs.append(models[-1].example())
    torch.cuda.set_device(here)
    return Scenario(lambda: [model(x) for model, x in zip(models, xs)], ('one_process_many_gpus',), ('launch_bound',),
                    {'one_process_many_gpus': lambda: models[0](xs[0])})


def synchronize_all():
    for device in range(RANKS):
        torch.cuda.synchronize(device)


def timed_ms(step):
    times = []
    for _ in range(STEPS):
        synchronize_all()
        start = time.perf_counter()
        step()
        synchronize_all()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def row_of(make, path):
    torch.manual_seed(0)
    with torch.inference_mode():
        made = make()
        record(made.step, made.warm, path, PROFILED)
        row = {'device': f'{RANKS} x {torch.cuda.get_device_name()}', 'planted': made.planted, 'present': made.present,
               'step_ms': round(timed_ms(made.step), 4)}
        row['cures'] = {finding: compare(made.step, cure, timed_ms) for finding, cure in made.cures.items()}
    return row


def note(out, name, row):
    print(name, row, flush=True)
    path = out / 'truth.json'
    truth = json.loads(path.read_text()) if path.exists() else {'scenarios': {}}
    truth['scenarios'][name] = row
    path.write_text(json.dumps(truth, indent=1) + '\n')


def run_alone(_, out):
    note(out, 'one_process', row_of(one_process, out / 'one_process.json.gz'))


def run_rank(rank, out):
    os.environ.update(MASTER_ADDR='localhost', MASTER_PORT='29517', RANK=str(rank), WORLD_SIZE=str(RANKS))
    torch.cuda.set_device(rank)
    dist.init_process_group('nccl', device_id=torch.device('cuda', rank))
    dist.all_reduce(torch.zeros(1, device='cuda'))  # the communicator is made by the first sum
    unread = out / f'rank{rank}.json.gz'
    for make in SHARED:
        row = row_of(make, unread if rank else out / f'{make.__name__}.json.gz')
        if rank == 0:
            note(out, make.__name__, row)
    dist.barrier()
    dist.destroy_process_group()
    unread.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--out', type=Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.multiprocessing.spawn(run_alone, (arguments.out,), nprocs=1)
    torch.multiprocessing.spawn(run_rank, (arguments.out,), nprocs=RANKS)


if __name__ == '__main__':
    main()
