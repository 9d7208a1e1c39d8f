# PyTorch's tensors: on the host, and on a GPU in the program's own stream.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy
import pytest
import rung
from conftest import PI0, Arrays, arrays, assert_known, refusal

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")


def tensors(arrays: Arrays, device: str = "cpu") -> dict[str, Any]:
    return {name: torch.from_numpy(array.copy()).to(device) for name, array in arrays.items()}


def test_tensors_in_tensors_out(bert: rung.Model, bert_inputs: Arrays) -> None:
    outputs = bert(**tensors(bert_inputs))
    state = outputs["last_hidden_state"]
    assert isinstance(state, torch.Tensor) and state.dtype == torch.float32 and not state.is_cuda
    assert numpy.array_equal(state.numpy(), bert(**bert_inputs)["last_hidden_state"])


def test_beside_arrays_of_numpy_arrays_come_out(bert: rung.Model, bert_inputs: Arrays) -> None:
    mixed = bert_inputs | {"input_ids": torch.from_numpy(bert_inputs["input_ids"])}
    assert isinstance(bert(**mixed)["last_hidden_state"], numpy.ndarray)


def test_out_may_be_a_tensor(bert: rung.Model, bert_inputs: Arrays) -> None:
    state = torch.zeros(1, 9, 32)
    assert bert(**bert_inputs, out={"last_hidden_state": state})["last_hidden_state"] is state
    assert numpy.array_equal(state.numpy(), bert(**bert_inputs)["last_hidden_state"])


def test_out_raises_a_tensors_version(bert: rung.Model, bert_inputs: Arrays) -> None:
    """As every write in place does: autograd refuses a backward pass over values that are gone."""
    state, weight = torch.zeros(1, 9, 32), torch.ones(1, requires_grad=True)
    before = state._version
    product = (state * weight).sum()
    bert(**bert_inputs, out={"last_hidden_state": state})
    assert state._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()
    with torch.inference_mode():
        bert(**bert_inputs, out={"last_hidden_state": torch.zeros(1, 9, 32)})


def test_refusals_say_how_to_make_it_right(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = torch.from_numpy(bert_inputs["input_ids"])
    wide = torch.stack([ids, ids], 2)[:, :, 0]
    for value, words in ((ids.to(torch.int32), "got int32, wanted int64: input_ids.to(torch.int64)"),
                         (ids.bfloat16(), "got bfloat16, wanted int64: input_ids.to(torch.int64)"),
                         (ids.to(torch.complex64), "got complex64, wanted int64: input_ids.to(torch.int64)"),
                         (wide, "got strides [18,2], wanted row-major without gaps: make it contiguous: "
                                "input_ids.contiguous()"),
                         (torch._neg_view(ids), "got a tensor yet to be negated, wanted one whose memory has its "
                                                "values: input_ids.resolve_neg()"),
                         (ids.float().requires_grad_(), "got a tensor that requires its gradient, wanted one that does "
                                                        "not: input_ids.detach()")):
        assert refusal(bert, input_ids=value) == f"input 'input_ids': {words}"


def test_tensors_without_memory_are_refused_in_one_line(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = torch.from_numpy(bert_inputs["input_ids"])
    for value, words in ((ids.to("meta"), "meta"), (ids.to_sparse(), "storage"),
                         (torch.nested.nested_tensor([ids[0]]), "Nested")):
        assert words in refusal(bert, input_ids=value)


def test_out_is_refused_without_a_remedy(bert: rung.Model, bert_inputs: Arrays) -> None:
    """A copy would not be the caller's."""
    state = torch.zeros(1, 9, 32)
    for value, words in ((state.double(), "got float64, wanted float32"),
                         (torch.zeros(1, 9, 32, requires_grad=True), "got a tensor that requires its gradient, wanted "
                                                                     "one that does not"),
                         (torch._neg_view(state), "got a tensor yet to be negated, wanted one whose memory has its "
                                                  "values")):
        text = refusal(bert, **bert_inputs, out={"last_hidden_state": value})
        assert text == f"output 'last_hidden_state': {words}"


def test_releases_without_dlpacks_table_of_functions_pass_the_same_tests() -> None:
    """Those before 2.10; here its absence is made, in a process that has not used the table yet."""
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this PyTorch has no such table: the tests of this file ran without it")
    code = "import sys, pytest, torch; del torch.Tensor.__dlpack_c_exchange_api__; sys.exit(pytest.main(sys.argv[1:]))"
    ran = subprocess.run([sys.executable, "-c", code, "-q", "-p", "no:cacheprovider", __file__],
                         capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.fixture
def on_gpu(on_gpu: rung.Model) -> rung.Model:
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return on_gpu


def test_gpu_tensors_in_gpu_tensors_out(on_gpu: rung.Model, bert_inputs: Arrays, bert_outputs: Arrays) -> None:
    state = on_gpu(**tensors(bert_inputs, "cuda"))["last_hidden_state"]
    assert state.is_cuda
    assert_known(state.cpu().numpy(), bert_outputs["last_hidden_state"])
    mixed = tensors(bert_inputs) | {"input_ids": torch.from_numpy(bert_inputs["input_ids"]).cuda()}
    assert torch.equal(on_gpu(**mixed)["last_hidden_state"], state)


def test_gpu_runs_in_the_current_stream(on_gpu: rung.Model, bert_inputs: Arrays) -> None:
    """What the stream has still to write is read, and what it does next reads the result; nothing else waits."""
    wanted = on_gpu(**tensors(bert_inputs, "cuda"))["last_hidden_state"].clone()
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        inputs = {name: torch.zeros_like(tensor) for name, tensor in tensors(bert_inputs, "cuda").items()}
        side.synchronize()
        for _ in range(50):
            for tensor in inputs.values():
                tensor.zero_()
            torch.cuda._sleep(2_000_000)
            for name, tensor in tensors(bert_inputs, "cuda").items():
                inputs[name].copy_(tensor)
            state = on_gpu(**inputs)["last_hidden_state"]
            twice = state * 2
        side.synchronize()
    assert torch.equal(twice, wanted * 2)


def test_gpu_sessions_of_two_threads_give_the_same(on_gpu: rung.Model, bert_inputs: Arrays) -> None:
    inputs = tensors(bert_inputs, "cuda")
    wanted = on_gpu(**inputs)["last_hidden_state"]
    wrong: list[int] = []

    def work() -> None:
        with on_gpu.session() as session, torch.cuda.stream(torch.cuda.Stream()):
            for turn in range(200):
                if not torch.equal(session(**inputs)["last_hidden_state"], wanted):
                    wrong.append(turn)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_gpu_memory_of_a_session_is_taken_by_dlpack(on_gpu: rung.Model, bert_inputs: Arrays) -> None:
    ids = torch.from_dlpack(on_gpu.input("input_ids", where="device"))
    state = torch.from_dlpack(on_gpu.output("last_hidden_state", where="device"))
    assert ids.is_cuda and ids.data_ptr() == torch.from_dlpack(on_gpu.input("input_ids", where="device")).data_ptr()
    ids.copy_(torch.from_numpy(bert_inputs["input_ids"]))
    torch.cuda.synchronize()
    on_gpu.run()
    own = state.clone()
    assert torch.equal(own, on_gpu(input_ids=ids.clone())["last_hidden_state"])


def test_gpu_out_on_the_host_is_filled_when_the_call_returns(on_gpu: rung.Model, bert_inputs: Arrays,
                                                             bert_outputs: Arrays) -> None:
    state = numpy.zeros((1, 9, 32), numpy.float32)
    on_gpu(**tensors(bert_inputs, "cuda"), out={"last_hidden_state": state})
    assert_known(state, bert_outputs["last_hidden_state"])


def test_gpu_pinned_tensors_give_what_others_give(on_gpu: rung.Model) -> None:
    given = tensors(arrays(PI0 / "inputs.npz"), "cpu")
    with rung.load(PI0, device="cuda") as policy:
        wanted = policy(**given)["actions"]
        pinned = {name: tensor.pin_memory() for name, tensor in given.items()}
        out = torch.empty_like(wanted).pin_memory()
        for _ in range(3):
            assert torch.equal(policy(**pinned)["actions"], wanted)
            out.zero_()
            policy(**pinned, out={"actions": out})
            assert torch.equal(out, wanted)
        on_device = policy(**pinned | {"state": given["state"].cuda()})["actions"]  # enqueued alone
        pinned["images"].zero_()
        assert torch.equal(on_device.cpu(), wanted)
