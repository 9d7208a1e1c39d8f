// Calls numpy.empty() and torch.empty().
// SPDX-License-Identifier: Apache-2.0
#include "core/results.hpp"

#include <cstring>

#include "core/torch.hpp"

namespace rung::python {
namespace {

nb::object call(nb::handle callable, PyObject* const* arguments, size_t positional, nb::handle names) {
  PyObject* result = PyObject_Vectorcall(callable.ptr(), arguments, positional, names.ptr());
  if (!result) throw nb::python_error();
  return nb::steal(result);
}

}  // namespace

Made ResultMaker::make(Family family, rung_device device) {
  if (family == Family::numpy) return make_numpy();
  nb::object tensor = make_torch(family, device);
  return {tensor, tensor};
}

Made ResultMaker::make_numpy() {
  if (!empty_.is_valid()) {
    nb::object numpy = nb::module_::import_("numpy");
    storage_ = numpy.attr("dtype")(port_->type->storage);
    view_as_ = std::strcmp(port_->type->name, port_->type->storage) == 0 ? nb::none() : numpy_dtype(*port_->type);
    empty_ = numpy.attr("empty");
  }
  PyObject* arguments[] = {port_->shape.ptr(), storage_.ptr()};
  nb::object array = call(empty_, arguments, 2, nb::handle());
  return {view_as_.is_none() ? array : nb::object(array.attr("view")(view_as_)), array};
}

nb::object ResultMaker::make_torch(Family family, rung_device device) {
  const Torch& torch = *Torch::loaded();  // whose tensor an input is
  const bool on_device = family == Family::torch_device;
  nb::object& where = on_device ? torch_device_ : torch_host_;
  if (!where.is_valid()) {
    torch_dtype_ = torch.dtype(port_->type->dtype);
    where = on_device ? torch.device("cuda", device.index) : torch.device("cpu");
  }
  static const nb::handle names = nb::make_tuple("dtype", "device").release();
  PyObject* arguments[] = {port_->shape.ptr(), torch_dtype_.ptr(), where.ptr()};
  return call(torch.empty, arguments, 1, names);
}

}  // namespace rung::python
