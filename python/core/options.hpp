// Python's arguments as the C interface's option structs, with the memory that those point to.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/arrays.hpp"
#include "core/errors.hpp"
#include "rung/rung.h"

namespace rung::python {

namespace nb = nanobind;

// Token ids as numbers. Errors: UsageError, no sequence of ints of 64 bits.
std::vector<int64_t> token_ids(nb::handle ids);

// Shapes by name, as the C interface takes them.
class NamedShapes {
 public:
  NamedShapes() = default;
  NamedShapes(const NamedShapes&) = delete;
  NamedShapes& operator=(const NamedShapes&) = delete;
  // Errors: UsageError, `extents` is no sequence of integers.
  void add(nb::handle name, nb::handle extents);
  const rung_named_shape* data() const { return shapes_.data(); }
  size_t size() const { return shapes_.size(); }

 private:
  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> extents_;
  std::vector<rung_named_shape> shapes_;
};

// rung_options of a mapping with any of device, threads, dtype, shapes, drop_head and trust_code.
class OpenOptions {
 public:
  explicit OpenOptions(const nb::dict& from);
  OpenOptions(const OpenOptions&) = delete;
  OpenOptions& operator=(const OpenOptions&) = delete;
  const rung_options* get() const { return &options_; }

 private:
  rung_options options_ = RUNG_OPTIONS_INIT;
  std::string device_, dtype_;
  NamedShapes shapes_;
};

// Arrays by name, in host memory; they are borrowed as long as this lives.
class NamedArrays {
 public:
  // None: no arrays.
  explicit NamedArrays(nb::handle mapping, const char* kind = "input");
  NamedArrays(const NamedArrays&) = delete;
  NamedArrays& operator=(const NamedArrays&) = delete;
  const rung_named_tensor* data() const { return tensors_.data(); }
  size_t size() const { return tensors_.size(); }

 private:
  std::deque<std::string> names_;
  std::deque<Borrowed> arrays_;
  std::vector<rung_named_tensor> tensors_;
};

// A sequence of str as an array of C strings.
class Words {
 public:
  explicit Words(nb::handle sequence);
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  const char* const* data() const { return pointers_.data(); }
  size_t size() const { return pointers_.size(); }

 private:
  std::deque<std::string> words_;
  std::vector<const char*> pointers_;
};

}  // namespace rung::python
