# PyTorch's tensors: on the host, and on a GPU in the program's own stream.
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from typing import Any

import numpy
import pytest
import rung
from conftest import PI0, Arrays, arrays, assert_known

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


def test_refusals_say_how_to_make_it_right(bert: rung.Model, bert_inputs: Arrays) -> None:
    ids = torch.from_numpy(bert_inputs["input_ids"])
    wide = torch.stack([ids, ids], 2)[:, :, 0]
    for value, words in ((ids.to(torch.int32), "input_ids.to(torch.int64)"), (wide, "input_ids.contiguous()"),
                         (ids.to("meta"), "meta"), (ids.float().requires_grad_(), ".detach()")):
        with pytest.raises(rung.MismatchError, match="input 'input_ids'") as caught:
            bert(input_ids=value)
        assert words in str(caught.value)


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
