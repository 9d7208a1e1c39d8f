// Says what is wrong with an array in one line, and by which expression of Python's the caller makes it right.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "core/arrays.hpp"
#include "core/errors.hpp"
#include "core/names.hpp"

namespace rung::python {
namespace {

// PyTorch's errors go on with a stack of C++ frames.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string class_of(nb::handle object) { return text_of(nb::type_name(object.type())); }

// No remedy for an output: a copy would not be the caller's.
void Borrowed::mismatch(const std::string& got, const std::string& wanted, const std::string& remedy) const {
  const bool is_input = std::strcmp(place_.kind, "input") == 0;
  raise(RUNG_MISMATCH, std::string(place_.kind) + " '" + place_.name + "': got " + got + ", wanted " + wanted +
                           (is_input && !remedy.empty() ? ": " + remedy : ""));
}

void Borrowed::refuse(const std::string& got) const {
  mismatch(got, std::strcmp(place_.kind, "input") == 0 ? "a NumPy array, a PyTorch tensor or another that has DLPack"
                                                       : "a NumPy array or a PyTorch tensor");
}

// Tokenizers of transformers give lists unless they are told otherwise.
void Borrowed::refuse_list() const {
  if (!place_.wanted || std::strcmp(place_.kind, "input") != 0) refuse("a " + class_of(array_));
  const std::string name = place_.name;
  const std::string length = place_.length > 0 ? std::to_string(place_.length) : "LENGTH";
  mismatch("a " + class_of(array_), std::string("a NumPy array of ") + place_.wanted->name,
           "numpy.array(" + name + ", '" + place_.wanted->storage +
               "'), or, of a tokenizer of transformers, "
               "tokenizer(text, return_tensors='np', padding='max_length', truncation=True, max_length=" +
               length + ")");
}

// Memory that cannot be read, for which the array's dtype is the reason where that is not the wanted one.
void Borrowed::refuse_values(const std::string& got) const {
  const std::string word = dtype_word();
  if (!place_.wanted || word.empty() || word == place_.wanted->name) refuse(got);
  mismatch(word, place_.wanted->name, as_wanted());
}

void Borrowed::refuse_layout(const std::string& got) const { mismatch(got, "row-major without gaps", without_gaps()); }

void Borrowed::refuse_to_borrow(const nb::python_error& error) const {
  refuse_values("a " + class_of(array_) + " that does not lend its memory (" + first_line(text_of(error.value())) +
                ")");
}

void Borrowed::check(rung_status status) const {
  if (status != RUNG_MISMATCH || !place_.wanted) return python::check(status);
  if (!(tensor_.dtype == place_.wanted->dtype)) {
    const std::string word = dtype_word();
    mismatch(word.empty() ? std::string(name_of(tensor_.dtype)) : word, place_.wanted->name, as_wanted());
  }
  const bool is_input = std::strcmp(place_.kind, "input") == 0;
  raise(status, rung_error() + (is_input && !is_row_major() ? ": " + without_gaps() : std::string()));
}

// What the array's own library calls its dtype: "int4", ">i8"; "" where it says nothing of it.
std::string Borrowed::dtype_word() const {
  constexpr std::string_view torch = "torch.";
  nb::object dtype = array_.is_valid() ? nb::getattr(array_, Names::get().dtype, nb::none()) : nb::none();
  if (dtype.is_none()) return "";
  const std::string word = first_line(text_of(dtype));
  return word.starts_with(torch) ? word.substr(torch.size()) : word;
}

bool Borrowed::is_row_major() const {
  int64_t expected = 1;
  for (int32_t i = tensor_.ndim; tensor_.strides && i-- > 0; expected *= tensor_.shape[i])
    if (tensor_.shape[i] != 1 && tensor_.strides[i] != expected) return false;
  return true;
}

// JAX's own astype() makes 32 bits of 64 unless a program asked otherwise, and a memoryview has none.
std::string Borrowed::as_numpy() const {
  const std::string name = place_.name;
  if (nb::isinstance(array_, nb::module_::import_("numpy").attr("ndarray"))) return name;
  const bool converts = PyObject_CheckBuffer(array_.ptr()) || nb::hasattr(array_, "__array__");
  return (converts ? "numpy.asarray(" : "numpy.from_dlpack(") + name + ")";
}

std::string Borrowed::as_wanted() const {
  const std::string type = place_.wanted->name;
  if (family_ == Family::torch_host || family_ == Family::torch_device)
    return std::string(place_.name) + ".to(torch." + type + ")";
  return as_numpy() + ".astype(" + (type == place_.wanted->storage ? "'" + type + "'" : "ml_dtypes." + type) + ")";
}

std::string Borrowed::without_gaps() const {
  if (family_ == Family::torch_host || family_ == Family::torch_device)
    return std::string(place_.name) + ".contiguous()";
  const std::string array = as_numpy(), name = place_.name;
  return "numpy.ascontiguousarray(" + (array.starts_with("numpy.from_dlpack") ? array : name) + ")";
}

}  // namespace rung::python
