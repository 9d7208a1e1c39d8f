// Looks torch up among the modules that the program has imported.
// SPDX-License-Identifier: Apache-2.0
#include "core/torch.hpp"

#include "core/dtypes.hpp"

namespace rung::python {
namespace {

// torch.cuda.current_stream() makes an object of Python's each time; the function beneath gives the address alone.
nb::object raw_stream_of(nb::handle torch) {
  nb::object inner = nb::getattr(torch, "_C", nb::none());
  return nb::getattr(inner, "_cuda_getCurrentRawStream", nb::none());
}

// torch.autograd.graph.increment_version, from 2.1 on.
nb::object increment_of(nb::handle torch) {
  nb::object graph = nb::getattr(nb::getattr(torch, "autograd", nb::none()), "graph", nb::none());
  return nb::getattr(graph, "increment_version", nb::none());
}

const Torch* look_up() {
  PyObject* found = PyImport_GetModule(nb::str("torch").ptr());
  if (!found) {
    PyErr_Clear();
    return nullptr;
  }
  nb::object torch = nb::steal(found);
  if (!nb::hasattr(torch, "cuda") || !nb::hasattr(torch, "empty")) return nullptr;  // it is being imported
  auto* of = new Torch;
  of->tensor_type = torch.attr("Tensor");
  of->empty = torch.attr("empty");
  of->device_type = torch.attr("device");
  of->raw_stream = raw_stream_of(torch);
  of->current_stream = torch.attr("cuda").attr("current_stream");
  of->increment = increment_of(torch);
  of->exchange = Exchange::of(of->tensor_type);
  of->is_rocm = !nb::object(torch.attr("version").attr("hip")).is_none();
  return of;
}

}  // namespace

const Torch* Torch::loaded() {
  static const Torch* torch = nullptr;
  if (!torch) torch = look_up();
  return torch;
}

bool Torch::is_tensor(nb::handle object) const {
  int is = PyObject_IsInstance(object.ptr(), tensor_type.ptr());
  if (is < 0) throw nb::python_error();
  return is;
}

nb::object Torch::dtype(rung_dtype dtype) const { return nb::module_::import_("torch").attr(named_type(dtype).name); }

void* Torch::stream(rung_device device) const {
  if (exchange) return exchange.stream(device);
  nb::object address =
      raw_stream.is_none() ? nb::object(current_stream(device.index).attr("cuda_stream")) : raw_stream(device.index);
  return reinterpret_cast<void*>(nb::cast<uintptr_t>(address));
}

void Torch::increment_version(nb::handle tensor) const {
  if (increment.is_none() || nb::cast<bool>(tensor.attr("is_inference")())) return;
  increment(tensor);
}

nb::object call_method(nb::handle object, nb::handle name) {
  PyObject* self = object.ptr();
  PyObject* result = PyObject_VectorcallMethod(name.ptr(), &self, 1, nullptr);
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

}  // namespace rung::python
