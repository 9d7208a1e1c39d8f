// The layout is that of dlpack.h: rung_tensor is its DLTensor.
// SPDX-License-Identifier: Apache-2.0
#include "core/exchange.hpp"

#include <string>

#include "core/errors.hpp"

namespace rung::python {
namespace {

struct Version {
  uint32_t major, minor;
};

struct Managed {
  Version version;
  void* owner;
  void (*release)(Managed* self);
  uint64_t flags;
  rung_tensor tensor;
};

// Called by a library with the class and the words of its error.
using SetError = void (*)(void* context, const char* kind, const char* message);

void keep_error(void* context, const char* kind, const char* message) {
  *static_cast<std::string*>(context) = std::string(kind) + ": " + message;
}

}  // namespace

struct Exchange::Table {
  Version version;
  Table* previous;
  int (*make)(rung_tensor* like, Managed** made, void* context, SetError set_error);
  int (*lend)(void* array, Managed** lent);
  int (*to_python)(Managed* tensor, void** array);
  int (*read)(void* array, rung_tensor* tensor);
  int (*stream)(int32_t device_type, int32_t device, void** stream);
};

Exchange Exchange::of(nb::handle type) {
  Exchange found;
  nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return found;
  auto* table = static_cast<const Table*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (table->version.major == 1) found.table_ = table;  // static, as the specification has it
  return found;
}

rung_tensor Exchange::read(nb::handle array) const {
  rung_tensor tensor{};
  if (table_->read(array.ptr(), &tensor) != 0) throw nb::python_error();
  return tensor;
}

nb::object Exchange::make(const rung_tensor& like, void*& data) const {
  rung_tensor prototype = like;
  Managed* made = nullptr;
  std::string error;
  if (table_->make(&prototype, &made, &error, keep_error) != 0) {
    if (PyErr_Occurred()) throw nb::python_error();
    raise(RUNG_MEMORY, "an output could not be made: " + error);
  }
  data = static_cast<char*>(made->tensor.data) + made->tensor.byte_offset;
  void* array = nullptr;
  if (table_->to_python(made, &array) != 0) throw nb::python_error();
  return nb::steal(static_cast<PyObject*>(array));
}

void* Exchange::stream(rung_device device) const {
  void* stream = nullptr;
  if (table_->stream(device.type, device.index, &stream) != 0) throw nb::python_error();
  return stream;
}

}  // namespace rung::python
