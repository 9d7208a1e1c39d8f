// Reads an array's memory, shape and dtype by the cheapest way that its kind has.
// SPDX-License-Identifier: Apache-2.0
#include "core/arrays.hpp"

#include <algorithm>

#include "core/dtypes.hpp"
#include "core/errors.hpp"
#include "core/names.hpp"
#include "core/torch.hpp"

namespace rung::python {
namespace {

rung_dtype torch_dtype(nb::handle dtype) {
  struct Known {
    PyObject* object;
    rung_dtype dtype;
  };
  static std::array<Known, 16> known{};
  static size_t count = 0;  // dtype objects of PyTorch live as long as the process
  for (size_t i = 0; i < count; ++i)
    if (known[i].object == dtype.ptr()) return known[i].dtype;
  std::string text = text_of(dtype);  // "torch.int64"
  const NamedType* type = find_type(std::string_view(text).substr(text.find('.') + 1));
  rung_dtype found = type ? type->dtype : rung_dtype{};
  if (count < known.size()) {
    dtype.inc_ref();
    known[count++] = {dtype.ptr(), found};
  }
  return found;
}

bool flag(nb::handle object, nb::handle name) { return nb::cast<bool>(object.attr(name)); }

}  // namespace

void* address_of(nb::handle tensor) {
  return reinterpret_cast<void*>(nb::cast<uintptr_t>(call_method(tensor, Names::get().data_ptr)));
}

Borrowed::Borrowed(nb::handle array, Place place, bool writable) : array_(array), place_(place) {
  const Torch* torch = nullptr;
  if (PyObject_CheckBuffer(array.ptr())) {
    borrow_buffer(array, writable);
  } else if (torch = Torch::loaded(); torch && torch->is_tensor(array)) {
    family_ = Family::torch_host;
    try {
      borrow_torch(array);
    } catch (nb::python_error& error) {  // a sparse tensor, for one, has no memory of this kind
      if (!error.matches(PyExc_RuntimeError) && !error.matches(PyExc_BufferError)) throw;
      refuse_to_borrow(error);
    }
  } else if (nb::hasattr(array, "__dlpack__")) {
    if (writable) refuse("a " + class_of(array) + ", whose memory is not to be written");
    borrow_dlpack(array);
  } else if (PySequence_Check(array.ptr()) && !PyUnicode_Check(array.ptr())) {
    refuse_list();
  } else {
    refuse("a " + class_of(array));
  }
}

Borrowed::Borrowed(void* data, Place place, const rung_port& port, rung_device device) : place_(place) {
  tensor_ = {data, device, port.ndim, port.dtype, const_cast<int64_t*>(port.shape), nullptr, 0};
  family_ = on_device() ? Family::torch_device : Family::torch_host;
}

bool Borrowed::on_device() const {
  int32_t type = tensor_.device.type;
  return type == RUNG_CUDA || type == RUNG_ROCM;
}

size_t Borrowed::bytes() const {
  size_t bytes = tensor_.dtype.bits / 8;
  for (int32_t i = 0; i < tensor_.ndim; ++i) bytes *= static_cast<size_t>(tensor_.shape[i]);
  return bytes;
}

// PyTorch says "host" of all its tensors there, and takes a microsecond to be asked, in which 10 kB are copied.
bool Borrowed::is_pinned() const {
  constexpr size_t kWorthAsking = 16 << 10;
  if (family_ != Family::torch_host || !array_.is_valid() || bytes() < kWorthAsking) return false;
  return nb::cast<bool>(call_method(array_, Names::get().is_pinned));
}

void Borrowed::set_pinned(bool allowed) {
  const bool said = tensor_.device.type == RUNG_CUDA_HOST || tensor_.device.type == RUNG_ROCM_HOST;
  if (said && !allowed) tensor_.device = {RUNG_CPU, 0};
  if (allowed && tensor_.device.type == RUNG_CPU && is_pinned())
    tensor_.device = {Torch::loaded()->is_rocm ? RUNG_ROCM_HOST : RUNG_CUDA_HOST, 0};
}

void Borrowed::set_rank(Py_ssize_t rank) {
  if (rank < 0 || static_cast<size_t>(rank) > kMaxRank) refuse("an array of " + std::to_string(rank) + " dimensions");
  tensor_.ndim = static_cast<int32_t>(rank);
  tensor_.shape = shape_.data();
}

// NumPy lends no memory of ml_dtypes' values; the same bytes as uint16 it does.
bool Borrowed::is_bfloat16_of_numpy(nb::handle array) const {
  static nb::handle bfloat16;  // NumPy's dtype object, kept as long as the process
  if (!bfloat16.is_valid()) {
    nb::object found = nb::steal(PyImport_GetModule(nb::str("ml_dtypes").ptr()));
    if (!found.is_valid()) return false;  // nobody can have made such an array
    bfloat16 = numpy_dtype(*find_type("bfloat16")).release();
  }
  nb::object dtype = nb::getattr(array, Names::get().dtype, nb::none());
  return dtype.is(bfloat16) || dtype.equal(bfloat16);
}

// NumPy lends the memory of such an array with the values that its mask hides.
bool Borrowed::is_masked_of_numpy(nb::handle array) const {
  static const nb::handle ndarray = nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
  if (array.type().is(ndarray) || !nb::isinstance(array, ndarray)) return false;
  return nb::isinstance(array, nb::module_::import_("numpy.ma").attr("MaskedArray"));
}

void Borrowed::borrow_buffer(nb::handle array, bool writable) {
  if (is_masked_of_numpy(array))
    mismatch("a masked array", "one without a mask", std::string(place_.name) + ".filled()");
  // Asked before NumPy is: its refusal takes a few microseconds.
  if (place_.wanted && place_.wanted->dtype.code == RUNG_BFLOAT && is_bfloat16_of_numpy(array))
    return borrow_bfloat16(array, writable);
  Py_buffer& buffer = buffer_.view;
  int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(array.ptr(), &buffer, flags) != 0) {
    nb::python_error error;
    buffer.obj = nullptr;
    if (is_bfloat16_of_numpy(array)) return borrow_bfloat16(array, writable);
    if (!writable && nb::hasattr(array, "__dlpack__")) return borrow_dlpack(array);
    refuse_to_borrow(error);
  }
  family_ = Family::numpy;
  auto dtype = dtype_of_format(buffer.format, static_cast<size_t>(buffer.itemsize));
  if (!dtype) refuse_values(std::string("values of the form '") + buffer.format + "'");
  tensor_.data = buffer.buf;
  tensor_.device = {RUNG_CPU, 0};
  // NumPy has no bfloat16: an array of uint16 holds the bytes of one.
  const bool is_storage = place_.wanted && name_of(*dtype) == place_.wanted->storage;
  tensor_.dtype = is_storage ? place_.wanted->dtype : *dtype;
  set_rank(buffer.ndim);
  std::copy_n(buffer.shape, buffer.ndim, shape_.begin());
  if (PyBuffer_IsContiguous(&buffer, 'C')) return;
  for (int i = 0; i < buffer.ndim; ++i) {
    if (buffer.strides[i] % buffer.itemsize != 0) refuse_layout("values that lie between others' bytes");
    strides_[i] = buffer.strides[i] / buffer.itemsize;
  }
  tensor_.strides = strides_.data();
}

void Borrowed::borrow_bfloat16(nb::handle array, bool writable) {
  static PyObject* const storage = PyUnicode_InternFromString("uint16");
  borrow_buffer(array.attr(Names::get().view)(nb::handle(storage)), writable);
  tensor_.dtype = {RUNG_BFLOAT, 16, 1};
}

void Borrowed::borrow_torch(nb::handle array) {
  const Names& names = Names::get();
  if (flag(array, names.requires_grad))
    mismatch("a tensor that requires its gradient", "one that does not", std::string(place_.name) + ".detach()");
  // Its memory holds the values before a negation that PyTorch has put off; DLPack's table lends it all the same.
  if (nb::cast<bool>(call_method(array, names.is_neg)))
    mismatch("a tensor yet to be negated", "one whose memory has its values",
             std::string(place_.name) + ".resolve_neg()");
  if (const Exchange& exchange = Torch::loaded()->exchange) {
    tensor_ = exchange.read(array);
    family_ = this->on_device() ? Family::torch_device : Family::torch_host;
    return;
  }
  bool on_device = flag(array, names.is_cuda);
  if (!on_device && !flag(array, names.is_cpu)) refuse("a tensor on " + text_of(array.attr(Names::get().device)));
  family_ = on_device ? Family::torch_device : Family::torch_host;
  tensor_.data = address_of(array);
  tensor_.device = {RUNG_CPU, 0};
  if (on_device)
    tensor_.device = {Torch::loaded()->is_rocm ? RUNG_ROCM : RUNG_CUDA,
                      nb::cast<int32_t>(call_method(array, names.get_device))};
  tensor_.dtype = torch_dtype(array.attr(names.dtype));
  nb::object shape = array.attr(names.shape);
  set_rank(static_cast<Py_ssize_t>(nb::len(shape)));
  for (int32_t i = 0; i < tensor_.ndim; ++i) shape_[i] = nb::cast<int64_t>(shape[i]);
  if (nb::cast<bool>(call_method(array, names.is_contiguous))) return;
  nb::object strides = call_method(array, names.stride);
  for (int32_t i = 0; i < tensor_.ndim; ++i) strides_[i] = nb::cast<int64_t>(strides[i]);
  tensor_.strides = strides_.data();
}

void Borrowed::borrow_dlpack(nb::handle array) {
  // JAX computes in the background, and its arrays are lent at once.
  try {
    if (nb::hasattr(array, "block_until_ready")) array.attr("block_until_ready")();
  } catch (nb::python_error& error) {  // one that was deleted, or given away to a computation
    if (!error.matches(PyExc_RuntimeError)) throw;
    refuse_to_borrow(error);
  }
  if (!nb::try_cast(array, dlpack_) || !dlpack_.is_valid())
    refuse_values("a " + class_of(array) + " that DLPack does not lend");
  tensor_.data = dlpack_.data_handle();
  tensor_.byte_offset = dlpack_.byte_offset();
  tensor_.device = {dlpack_.device_type(), dlpack_.device_id()};
  tensor_.dtype = {dlpack_.dtype().code, dlpack_.dtype().bits, dlpack_.dtype().lanes};
  set_rank(static_cast<Py_ssize_t>(dlpack_.ndim()));
  std::copy_n(dlpack_.shape_ptr(), dlpack_.ndim(), shape_.begin());
  if (!dlpack_.stride_ptr()) return;
  std::copy_n(dlpack_.stride_ptr(), dlpack_.ndim(), strides_.begin());
  tensor_.strides = strides_.data();
}

}  // namespace rung::python
