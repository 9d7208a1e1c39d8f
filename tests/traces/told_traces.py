# Traces in the form of PyTorch's profiler whose truth is known: each is a program that is told event by event.
# SPDX-License-Identifier: Apache-2.0
#
# cases() makes them from a fixed seed. Times are microseconds, as the profiler writes them.
import random

from told_case import ELEMENTWISE, GEMM, NORM, Case, Trace, ahead, short_kernels
from told_decoding import loops, texts
from told_device_work import attentions, nodes, tiles


# ---- one program at several rates
def at_rate(period, ranges, rng):
    trace = Trace()
    for n in range(6):
        begin = 1000 + n * period
        trace.step(n, begin, 5000, ranges)
        short_kernels(trace, begin, count=100, apart=49, kernel_us=19 + rng.choice((0, 1)),
                      names=(NORM, *[GEMM, ELEMENTWISE] * 49, GEMM))
    return trace


def rates(rng):
    for period in (5000, 6500, 20000, 50000):
        yield Case(f'rate_{period}', at_rate(period, 'ProfilerStep#{}', rng), found={'launch_bound'})
    for period in (20000, 50000):
        yield Case(f'rate_{period}_named', at_rate(period, 'infer', rng), steps_by='infer', found={'launch_bound'})
        yield Case(f'rate_{period}_unnamed', at_rate(period, None, rng), found={'launch_bound'},
                   hosts=[(1000 + n * period, 1000 + n * period + 99 * 49 + 4) for n in range(6)])


def graphs_at_rate(rng):
    for period in (3000, 40000):
        trace = Trace()
        for n in range(5):
            begin = 1000 + n * period
            correlation = trace.launch(GEMM, begin, begin + 10, 500, call='cudaGraphLaunch', call_us=8)
            for i in range(3):
                trace.work(ELEMENTWISE, begin + 512 + 400 * i, 390, correlation=correlation)
        yield Case(f'graphs_{period}', trace, absent={'launch_bound', 'host_work'},
                   hosts=[(1000 + n * period, 1008 + n * period) for n in range(5)])


# ---- what is no step's
def work_between(rng):
    for count in (3, 30):
        trace = Trace()
        for n in range(4):
            begin = 1000 + n * 5000
            trace.step(n, begin, 1000)
            ahead(trace, begin + 5, 10, 95)
            for i in range(count):
                trace.launch(ELEMENTWISE, begin + 1100 + 100 * i, begin + 1110 + 100 * i, 90)
        yield Case(f'work_between_{count}', trace, notes={'outside', 'between'})
    trace = Trace()
    for n in range(3):  # still at work on the step's stream when the next one begins
        begin = 1000 + n * 3000
        trace.step(n, begin, 2000)
        ahead(trace, begin + 5, 10, 150)
        trace.launch(ELEMENTWISE, begin + 2100, begin + 2110, 1400)
    yield Case('work_between_is_late', trace, notes={'outside'})
    trace = Trace()
    for n in range(4):
        trace.step(n, 1000 + 2000 * n, 900)
        trace.launch(GEMM, 1010 + 2000 * n, 1020 + 2000 * n, 700)
    for i in range(50):  # nobody recorded who launched it
        trace.work(ELEMENTWISE, 10000 + 100 * i, 90)
    yield Case('work_without_calls', trace, notes={'outside'})
    trace = Trace()
    ahead(trace, 100, 20, 40)
    for n in range(3):
        trace.step(n, 2000 + 1000 * n, 900)
        ahead(trace, 2010 + 1000 * n, 8, 100)
    yield Case('work_before', trace, notes={'outside'})


def empty_steps(rng):
    for where in ('last', 'first', 'both'):
        trace, begin = Trace(), 1000
        if where != 'last':
            trace.step(0, 900, 40)
        for n in range(1, 4):
            trace.step(n, begin, 1000)
            ahead(trace, begin + 5, 10, 95)
            begin += 1010
        if where != 'first':
            trace.step(4, begin, 40)
        yield Case(f'empty_{where}', trace, notes={'empty_steps'})


def outliers(rng):
    for which, extra in (('first', 5_000_000), ('middle', 90_000), ('last', 30_000)):
        trace, begin = Trace(), 1000
        for n in range(5):
            slow = {'first': 0, 'middle': 2, 'last': 4}[which] == n
            wait = extra if slow else 0
            trace.step(n, begin, 25_000 + wait)
            trace.launch(GEMM, begin + 10, begin + 30 + wait, 400, call_us=4 + wait)
            ahead(trace, begin + 40 + wait, 48, 500, latency=400)
            begin += 25_100 + wait
        yield Case(f'outlier_{which}', trace, notes={'outliers'}, absent={'launch_bound', 'host_work'})
    trace, begin = Trace(), 1000
    for n in range(5):  # the profiler was stopped in the middle of the last
        count = 12 if n < 4 else 3
        trace.step(n, begin, 110 * count)
        ahead(trace, begin + 5, count, 100)
        begin += 110 * count + 20
    yield Case('outlier_is_cut_off', trace, notes={'outliers'})


def layers(rng):
    for name in ('layer{}', 'transformer.blocks.{}', 'TransformerLayer_{}'):
        trace, begin = Trace(), 1000
        for n in range(12):
            trace.step(n, begin, 300, name)
            ahead(trace, begin + 5, 3, 95)
            begin += 305
        yield Case('layers_' + name.split('{')[0].strip('._'), trace, hosts=[])
    trace, begin, hosts = Trace(), 1000, []
    for n in range(3):
        hosts.append((begin, begin + 7 * 305 + 300))
        for part in range(8):
            trace.step(part, begin, 300, 'layer{}')
            ahead(trace, begin + 5, 3, 95)
            begin += 305
        begin += 9000
    yield Case('layers_again_and_again', trace, hosts=hosts, notes={'between'})


# ---- why the device stands still
def two_halves(body, gap, *, launch_late=True, first=500.0, second=500.0, steps=3):
    """Steps of two kernels; `body(trace, at)` is what the host does for `gap` after the first, on its end."""
    trace = Trace()
    length = first + second + gap + 200
    for n in range(steps):
        begin = 1000 + n * (length + 10)
        trace.step(n, begin, length)
        trace.launch(GEMM, begin + 5, begin + 10, first)
        body(trace, begin + 10 + first)
        call = begin + 10 + first + gap if launch_late else begin + 10
        trace.launch(ELEMENTWISE, call, begin + 10 + first + gap + 6, second)
        trace.call('cudaDeviceSynchronize', begin + first + gap + 30, second)
    return trace


def causes(rng):
    def nothing(trace, at):
        pass

    def loads(gap):
        return lambda t, at: t.host('enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', at - 100, gap + 90,
                                    'user_annotation')

    yield Case('gap_short', two_halves(nothing, 200), found={'launch_bound'}, absent={'host_work'}, breaks=1)
    yield Case('gap_long', two_halves(nothing, 9000), found={'host_work'}, absent={'launch_bound'},
               gains={'host_work': 9.0})
    yield Case('gap_of_a_device', two_halves(nothing, 9000, launch_late=False),
               absent={'launch_bound', 'host_work', 'sync_in_step'})
    for gap in (300, 38_000):
        yield Case(f'gap_loads_{gap}', two_halves(loads(gap), gap), found={'input_loading'},
                   absent={'launch_bound', 'host_work'}, gains={'input_loading': gap / 1e3},
                   evidence={'input_loading': 'DataLoader'})
    named = two_halves(lambda t, at: t.host('make_mask', at + 5, 7900, 'user_annotation'), 8000)
    yield Case('gap_of_a_range', named, found={'host_work'}, absent={'launch_bound'}, gains={'host_work': 8.0},
               evidence={'host_work': 'make_mask'})
    function = two_halves(lambda t, at: t.host('image.py(12): resize', at + 5, 7900, 'python_function'), 8000)
    yield Case('gap_of_a_function', function, found={'host_work'}, absent={'launch_bound'},
               evidence={'host_work': 'image.py(12): resize'})
    thread = two_halves(lambda t, at: t.host('tokenizer', at + 5, 7900, 'cpu_op', thread=5), 8000)
    yield Case('gap_of_a_thread', thread, found={'host_work'}, evidence={'host_work': 'thread 5'})
    compiles = two_halves(lambda t, at: t.call('cuModuleLoadData', at + 5, 7900, correlation=0), 8000)
    yield Case('gap_compiles', compiles, found={'tuning_in_run'}, absent={'launch_bound', 'host_work'})
    allocates = two_halves(lambda t, at: t.call('cudaMalloc', at - 100, 390, correlation=0), 300)
    yield Case('gap_allocates', allocates, found={'allocation_in_step'}, absent={'launch_bound'}, breaks=2)
    waits = two_halves(lambda t, at: t.call('cudaStreamSynchronize', at - 480, 482, correlation=0), 300)
    yield Case('gap_waits', waits, found={'sync_in_step'}, breaks=2)


def loading_first(rng):
    trace = Trace()
    for n in range(4):
        begin = 1000 + n * 62_000
        trace.step(n, begin, 61_000)
        trace.host('enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', begin + 10, 38_000, 'user_annotation')
        ahead(trace, begin + 38_020, 40, 550)
    yield Case('loading_first', trace, found={'input_loading'}, absent={'launch_bound', 'host_work'},
               gains={'input_loading': 37.9})


def busy_with_older_work(rng):
    trace = Trace()
    trace.step(0, 1000, 400)
    trace.launch(GEMM, 1010, 1020, 100)
    trace.launch(GEMM, 1180, 101_200, 100)
    for i in range(9):
        trace.launch(GEMM, 1200 + 20 * i, 101_300 + 100 * i, 100)
    yield Case('device_busy_with_older_work', trace, absent={'launch_bound', 'host_work', 'sync_in_step'})


# ---- streams and devices
def streams(rng):
    trace = Trace()
    for n in range(3):
        begin = 1000 + n * 2100
        trace.step(n, begin, 2090)
        for half, stream in ((0, 7), (1010, 8)):
            trace.stream = stream
            trace.launch(GEMM, begin + 5 + half, begin + 10 + half, 1000)
            trace.call('cudaStreamSynchronize', begin + 11 + half, 1000, correlation=0)
    yield Case('streams_kept_apart_by_a_wait', trace, found={'sync_in_step'}, gains={'sync_in_step': 1.0})
    trace = Trace()
    for n in range(3):
        begin = 1000 + n * 1400
        trace.step(n, begin, 1300)
        for i in range(100):
            trace.stream = 7 + i % 2
            trace.launch(ELEMENTWISE, begin + 5 + 12 * i, begin + 10 + 12 * i, 10)
    yield Case('streams_kept_apart_by_launches', trace, found={'launch_bound'}, gains={'launch_bound': 0.7})


def overlapping(seed, assign):
    """Work of random lengths, some of it side by side; `assign(i)` is its stream."""
    rng, trace = random.Random(seed), Trace()
    times = rng.sample(range(0, 1800, 10), 40)  # a thread is in one call at a time
    work = [(rng.choice((GEMM, ELEMENTWISE)), at, rng.randint(20, 90)) for at in times]
    for n in range(3):
        begin = 1000 + n * 2500
        trace.step(n, begin, 2000)
        for i, (name, at, length) in enumerate(sorted(work, key=lambda w: w[1])):
            trace.stream = assign(i)
            trace.launch(name, begin + at, begin + at + 6, length)
    return trace


def moved(rng):
    for seed in (1, 2, 3):
        yield Case(f'streams_{seed}', overlapping(seed, lambda i: 7 + i % 4))
        yield Case(f'streams_{seed}_moved', overlapping(seed, lambda i: 7 + i % 13), same_as=f'streams_{seed}')


def two_devices(order):
    trace = Trace()
    for n in range(3):
        begin = 1000 + n * 3000
        trace.step(n, begin, 2500)
        for place, (count, length) in zip(order, ((20, 60), (6, 40))):
            trace.device = place
            for i in range(count):
                at = begin + 10 + 80 * i + 35 * (length == 40)
                trace.launch(GEMM if length == 60 else ELEMENTWISE, at, at + 6, length)
    return trace


def on_two_devices(seed, order, assign):
    """Work side by side on several streams of two devices, one of which does more; `assign(i)` is the stream."""
    rng, trace = random.Random(seed), Trace()
    times = sorted(rng.sample(range(0, 3000, 10), 90))
    places = rng.choices((0, 0, 1), k=90)
    work = [(place, rng.choice((GEMM, ELEMENTWISE, NORM)), rng.randint(20, 110)) for place in places]
    for n in range(3):
        begin = 1000 + n * 4000
        trace.step(n, begin, 3300)
        for i, (at, (place, name, length)) in enumerate(zip(times, work)):
            trace.device, trace.stream = order[place], assign(i)
            trace.launch(name, begin + at, begin + at + 6, length)
        trace.call('cudaDeviceSynchronize', begin + 3020, 200, correlation=0)
    return trace


def devices(rng):
    yield Case('devices', two_devices((0, 1)))
    yield Case('devices_exchanged', two_devices((1, 0)), same_as='devices', exchanged={'0': '1', '1': '0'})
    yield Case('devices_elsewhere', two_devices((3, 2)), same_as='devices', exchanged={'0': '3', '1': '2'})
    for seed in range(1, 7):
        name = f'devices_{seed}'
        yield Case(name, on_two_devices(seed, (0, 1), lambda i: 7 + i % 3))
        yield Case(f'{name}_exchanged', on_two_devices(seed, (1, 0), lambda i: 7 + i % 3), same_as=name,
                   exchanged={'0': '1', '1': '0'})
        yield Case(f'{name}_moved', on_two_devices(seed, (0, 1), lambda i: 7 + i % 11), same_as=name)
        yield Case(f'{name}_exchanged_and_moved', on_two_devices(seed, (1, 0), lambda i: 9 + i % 5), same_as=name)


# ---- what was not recorded
def lost(rng):
    for name, graphs, kernels in (('all', 1.0, 0.0), ('some', 0.5, 0.0), ('none', 0.0, 0.0), ('kernels', 0.0, 0.4)):
        trace = Trace()
        for n in range(4):
            begin = 1000 + n * 10_000
            trace.step(n, begin, 9900)
            for i in range(3):
                start = None if kernels > 0 and (n * 3 + i) % 2 else begin + 20 + 20 * i
                trace.launch(ELEMENTWISE, begin + 10 + 20 * i, start, 10)
            is_lost = n < 4 * graphs
            correlation = trace.launch(GEMM, begin + 100, None if is_lost else begin + 120, 100,
                                       call='hipGraphLaunch', call_us=9)
            for i in range(0 if is_lost else 80):
                trace.work(GEMM, begin + 221 + 100 * i, 99, correlation=correlation)
            trace.call('hipStreamSynchronize', begin + 115, 8500, correlation=0)
            trace.launch('Memcpy DtoH (Device -> Host)', begin + 8700, None, 0, call='hipMemcpyWithStream', call_us=20)
        grave = name != 'none'
        yield Case(f'lost_{name}', trace, complete=not grave, notes={'lost_launches'} if grave else set(),
                   absent={'sync_in_step', 'launch_bound', 'host_work'} if grave else set())
    trace = Trace()
    for n in range(4):  # one of 800, as at the end of a recording
        trace.step(n, 1000 + 30_000 * n, 29_000)
        for i in range(200):
            at = 1010 + 30_000 * n + 100 * i
            trace.launch(GEMM, at, None if (n, i) == (3, 199) else at + 6, 90)
    yield Case('lost_one', trace, notes={'lost_launches'})


def captures(rng):
    for replays in (0, 1):
        trace = Trace()
        for n in range(2):
            begin = 1000 + 5000 * n
            trace.step(n, begin, 4000)
            trace.call('cudaStreamBeginCapture', begin + 10, 5, correlation=0)
            for i in range(40):
                trace.launch(GEMM, begin + 20 + 20 * i, None, 0)
            trace.call('cudaStreamEndCapture', begin + 900, 5, correlation=0)
            trace.launch(ELEMENTWISE, begin + 2000, begin + 2010, 900)
            for i in range(60 * replays):
                trace.launch(ELEMENTWISE, begin + 3000 + 15 * i, begin + 3006 + 15 * i, 8)
        yield Case(f'capture_{replays}', trace, notes={'capture'}, complete=bool(replays) and 2 * 40 < 61)


def without_work(rng):
    trace = Trace()
    trace.step(0, 1000, 900)
    for i in range(10):
        trace.host('aten::mm', 1010 + 80 * i, 70)
    yield Case('no_device_work', trace, complete=False, notes={'no_device_work'})
    trace = Trace()
    trace.step(0, 1000, 900)
    for i in range(10):
        trace.launch(GEMM, 1010 + 80 * i, None, 0)
    yield Case('no_device_work_of_launches', trace, complete=False, notes={'no_device_work'})


MAKERS = (rates, graphs_at_rate, work_between, empty_steps, outliers, layers, causes, loading_first,
          busy_with_older_work, streams, moved, devices, lost, captures, without_work, tiles, nodes, attentions, texts,
          loops)


def cases():
    rng = random.Random(31)
    return [case for make in MAKERS for case in make(rng)]
