# Threads, processes and signals: one session is one thread's, the GIL is free while it runs, forks are refused.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
import rung
from conftest import BERT, SHAPES, THREADS, Arrays, assert_known


def in_threads(count: int, work: Callable[[int], None]) -> None:
    errors: list[BaseException] = []

    def guarded(index: int) -> None:
        try:
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_sessions_of_one_model_run_at_once(bert: rung.Model, bert_inputs: Arrays) -> None:
    alone = bert(**bert_inputs)["last_hidden_state"]

    def work(_: int) -> None:
        with bert.session() as session:
            for _ in range(200):
                assert numpy.array_equal(session(**bert_inputs)["last_hidden_state"], alone)

    in_threads(3, work)


def test_two_threads_in_one_session_are_refused_or_right(bert: rung.Model, bert_inputs: Arrays) -> None:
    """Whoever comes second is refused; nobody gets another's answer."""
    other = {"input_ids": bert_inputs["input_ids"][:, ::-1].copy()}
    wanted = [bert(**inputs)["last_hidden_state"] for inputs in (bert_inputs, other)]
    refused, start = [0, 0], threading.Barrier(2)

    def work(index: int) -> None:
        start.wait()
        for _ in range(1000):
            try:
                state = bert(**(bert_inputs, other)[index])["last_hidden_state"]
            except rung.UsageError as error:
                assert "in use by another thread" in str(error)
                refused[index] += 1
                continue
            assert numpy.array_equal(state, wanted[index])

    in_threads(2, work)
    assert 0 < sum(refused) < 2000


def test_the_gil_is_free_while_the_library_works() -> None:
    stop, turns = threading.Event(), 0

    def count() -> None:
        nonlocal turns
        while not stop.is_set():
            turns += 1
            time.sleep(0.0005)

    counter = threading.Thread(target=count)
    counter.start()
    start = time.perf_counter()
    for _ in range(5):
        rung.bench(BERT, runs=50, shapes=SHAPES, threads=1)
    seconds = time.perf_counter() - start
    stop.set()
    counter.join()
    assert turns > 100 * seconds


def test_a_thread_may_use_what_another_opened(bert: rung.Model, bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    def work(_: int) -> None:
        assert_known(bert(**bert_inputs)["last_hidden_state"], bert_outputs["last_hidden_state"])

    in_threads(1, work)


def test_after_a_fork_the_child_is_refused_and_ends_well(bert: rung.Model, bert_inputs: Arrays) -> None:
    bert(**bert_inputs)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            bert(**bert_inputs)
            text = "no error"
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        bert.close()
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    assert text.startswith("UsageError") and "fork" in text
    assert "last_hidden_state" in bert(**bert_inputs)


def test_a_child_opens_a_model_of_its_own(bert: rung.Model, bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with rung.load(BERT, threads=THREADS, shapes=SHAPES) as own:
                assert_known(own(**bert_inputs)["last_hidden_state"], bert_outputs["last_hidden_state"])
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def answer_elsewhere(path: Path, inputs: Arrays) -> numpy.ndarray:
    with rung.load(path, threads=1, shapes=SHAPES) as model:
        state: numpy.ndarray = model(**inputs)["last_hidden_state"]
        return state


def test_processes_that_are_spawned_work(bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for state in pool.starmap(answer_elsewhere, [(BERT, bert_inputs)] * 2):
            assert_known(state, bert_outputs["last_hidden_state"])


DAEMON = """
import sys, threading, time
sys.path[:0] = sys.argv[2:]
import numpy, rung
model = rung.load(sys.argv[1], threads=1, shapes={"input_ids": (1, 9)})
ids = numpy.array([[2, 5, 6, 7, 3, 0, 0, 0, 0]])
begun = threading.Barrier(4)

def serve(session):
    begun.wait()
    while True:
        session(input_ids=ids)

def climb():
    begun.wait()
    while True:
        rung.climb(sys.argv[1], shapes={"input_ids": (1, 9)}, budget="1s", threads=1, database="",
                   progress=lambda what, fraction, receipt: True)

threads = [threading.Thread(target=serve, args=(model.session(),), daemon=True) for _ in range(2)]
threads.append(threading.Thread(target=climb, daemon=True))
for thread in threads:
    thread.start()
begun.wait()
time.sleep(0.05)
print("done", flush=True)
"""


def test_a_program_ends_well_while_daemon_threads_run_models() -> None:
    for _ in range(8):
        ran = subprocess.run([sys.executable, "-c", DAEMON, str(BERT), *sys.path], capture_output=True, text=True,
                             timeout=60)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")


def test_a_model_is_not_pickled(bert: rung.Model) -> None:
    import pickle

    with pytest.raises(TypeError):
        pickle.dumps(bert)
