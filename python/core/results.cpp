// Calls numpy.empty() and torch.empty().
// SPDX-License-Identifier: Apache-2.0
#include "core/results.hpp"

#include <cstring>

#include "core/torch.hpp"

namespace rung::python {
namespace {

nb::object call(nb::handle callable, PyObject* const* arguments, size_t count) {
  PyObject* result = PyObject_Vectorcall(callable.ptr(), arguments, count, nullptr);
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

}  // namespace

Made ResultMaker::make(Family family, rung_device device) {
  return family == Family::numpy ? make_numpy() : make_torch(device);
}

Made ResultMaker::make_numpy() {
  if (!empty_.is_valid()) {
    nb::object numpy = nb::module_::import_("numpy");
    storage_ = numpy.attr("dtype")(port_->type->storage);
    view_as_ = std::strcmp(port_->type->name, port_->type->storage) == 0 ? nb::none() : numpy_dtype(*port_->type);
    empty_ = numpy.attr("empty");
  }
  PyObject* arguments[] = {port_->shape.ptr(), storage_.ptr()};
  nb::object array = call(empty_, arguments, 2);
  return {view_as_.is_none() ? array : nb::object(array.attr("view")(view_as_)), array};
}

// tensor.new_empty(shape) takes a microsecond less than torch.empty(shape, dtype=..., device=...), and a call of
// DLPack's table several less.
Made ResultMaker::make_torch(rung_device device) {
  const Torch& torch = *Torch::loaded();  // whose tensor an input is
  const rung_port& port = port_->port;
  Made made;
  if (torch.exchange) {
    const rung_tensor like{nullptr, device, port.ndim, port.dtype, const_cast<int64_t*>(port.shape), nullptr, 0};
    made.array = torch.exchange.make(like, made.data);
    return made;
  }
  const bool on_device = device.type != RUNG_CPU;
  nb::object& new_empty = on_device ? new_on_device_ : new_on_host_;
  if (!new_empty.is_valid()) {
    nb::object where = on_device ? torch.device_type("cuda", device.index) : torch.device_type("cpu");
    nb::object none = torch.empty(0, nb::arg("dtype") = torch.dtype(port_->type->dtype), nb::arg("device") = where);
    new_empty = none.attr("new_empty");
  }
  PyObject* arguments[] = {port_->shape.ptr()};
  made.array = call(new_empty, arguments, 1);
  made.data = address_of(made.array);
  return made;
}

}  // namespace rung::python
