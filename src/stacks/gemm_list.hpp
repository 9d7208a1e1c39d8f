// Reads a list of matrix products from a file: rung's own list, a file of another stack, or a trace with shapes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "stacks/files/gemm_shape.hpp"
#include "trace/recording/recording.hpp"

namespace rung::stacks {

class GemmList {
 public:
  std::string source;  // the kind of file: "tunableop_untuned", "PyTorch profiler"
  // Returns the products in the order of first appearance; equal ones are merged and their counts added up.
  const std::vector<GemmShape>& shapes() const { return shapes_; }
  // Returns the reasons for lines left out or assumptions made, and how often each occurred.
  const std::map<std::string, int64_t, std::less<>>& remarks() const { return remarks_; }

  void add(GemmShape shape);
  void remark(std::string what) { ++remarks_[std::move(what)]; }

 private:
  std::vector<GemmShape> shapes_;
  std::map<GemmShape, size_t> places_;  // by the product with a count of 1
  std::map<std::string, int64_t, std::less<>> remarks_;
};

// Recognises the file by its content. Errors: it cannot be read, is of an unknown kind, or has no products.
Result<GemmList> read_gemm_list(const std::string& path);

// Returns the products among a recording's host operations.
GemmList gemms_of(const trace::Recording& recording);

}  // namespace rung::stacks
