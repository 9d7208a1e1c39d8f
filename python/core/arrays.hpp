// Arrays of NumPy, PyTorch and whoever has DLPack, seen as the C interface's tensors without a copy.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <string>
#include <utility>

#include "core/dtypes.hpp"
#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

// Whose an array is, which decides what a call gives back.
enum class Family { numpy, torch_host, torch_device, other };

// What an array is for.
struct Place {
  const char* kind;  // "input", "output"
  const char* name;
  const NamedType* wanted = nullptr;  // its dtype, if a model says
  int64_t length = 0;                 // the extent of its last axis, if a model says
};

// An array while it lends its memory. The tensor points into this object, which stays where it is.
class Borrowed {
 public:
  // Errors: MismatchError, no array, or one that is read-only where `writable` is asked for.
  Borrowed(nb::handle array, Place place, bool writable);
  // A tensor of PyTorch's that was made for `port`, whose values lie at `data`.
  Borrowed(void* data, Place place, const rung_port& port, rung_device device);
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  const rung_tensor& tensor() const { return tensor_; }
  Family family() const { return family_; }
  bool on_device() const;
  bool is_torch() const { return family_ == Family::torch_host || family_ == Family::torch_device; }
  // Says of host memory whether a GPU may copy it by itself: where it is `allowed`, and pinned, if that is worth
  // asking.
  void set_pinned(bool allowed);
  // What came of binding it there. A mismatch's error says how the caller makes it right.
  void check(rung_status status) const;

 private:
  static constexpr size_t kMaxRank = 16;
  size_t bytes() const;
  bool is_pinned() const;
  void borrow_buffer(nb::handle array, bool writable);
  void borrow_bfloat16(nb::handle array, bool writable);
  void borrow_torch(nb::handle array);
  void borrow_dlpack(nb::handle array);
  bool is_bfloat16_of_numpy(nb::handle array) const;
  bool is_masked_of_numpy(nb::handle array) const;
  void set_rank(Py_ssize_t rank);

  // What is wrong with it, in one line (refusals.cpp).
  bool is_row_major() const;
  std::string as_numpy() const;
  std::string as_wanted() const;
  std::string without_gaps() const;
  std::string dtype_word() const;
  [[noreturn]] void mismatch(const std::string& got, const std::string& wanted, const std::string& remedy = "") const;
  [[noreturn]] void refuse(const std::string& got) const;
  [[noreturn]] void refuse_list() const;
  [[noreturn]] void refuse_values(const std::string& got) const;
  [[noreturn]] void refuse_layout(const std::string& got) const;
  [[noreturn]] void refuse_to_borrow(const nb::python_error& error) const;

  nb::handle array_;  // not held: the call's arguments hold it; invalid where the memory was made here
  Place place_;
  Family family_ = Family::other;
  rung_tensor tensor_{};
  std::array<int64_t, kMaxRank> shape_, strides_;
  struct Buffer {
    Py_buffer view{};  // its obj is NULL where none is held
    ~Buffer() {
      if (view.obj) PyBuffer_Release(&view);
    }
  } buffer_;
  nb::ndarray<nb::ro> dlpack_;
};

// The name of its class, and of the module that has it.
std::string class_of(nb::handle object);
// Of a tensor of PyTorch's.
void* address_of(nb::handle tensor);

}  // namespace rung::python
