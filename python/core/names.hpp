// Names of attributes that calls look up, interned once: a look-up by a C string makes a Python string each time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

namespace rung::python {

namespace nb = nanobind;

struct Names {
  nb::object data_ptr, device, dtype, get_device, is_contiguous, is_cpu, is_cuda, is_neg, is_pinned, out, requires_grad,
      shape, stride, view;

  // Never freed: calls may come until the interpreter ends.
  static const Names& get() {
    static const Names* names = new Names(make());
    return *names;
  }

 private:
  static nb::object intern(const char* text) { return nb::steal(PyUnicode_InternFromString(text)); }
  static Names make() {
    return {intern("data_ptr"),      intern("device"),  intern("dtype"),  intern("get_device"), intern("is_contiguous"),
            intern("is_cpu"),        intern("is_cuda"), intern("is_neg"), intern("is_pinned"),  intern("out"),
            intern("requires_grad"), intern("shape"),   intern("stride"), intern("view")};
  }
};

}  // namespace rung::python
