// A list of matrix products out of a file: rung's own list, a file of another stack, or a trace with shapes.
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
  std::string source;  // what the file is: "tunableop_untuned", "PyTorch profiler"
  // In the order in which they came first, no two the same product: their counts are added up.
  const std::vector<GemmShape>& shapes() const { return shapes_; }
  // Lines that were left out or assumed, and how often.
  const std::map<std::string, int64_t, std::less<>>& remarks() const { return remarks_; }

  void add(GemmShape shape);
  void remark(std::string what) { ++remarks_[std::move(what)]; }

 private:
  std::vector<GemmShape> shapes_;
  std::map<GemmShape, size_t> places_;  // by the product with a count of 1
  std::map<std::string, int64_t, std::less<>> remarks_;
};

// The file's content says what it is. Errors: it cannot be read, is nothing that has products, or has none.
Result<GemmList> read_gemm_list(const std::string& path);

// The products among a recording's host operations.
GemmList gemms_of(const trace::Recording& recording);

}  // namespace rung::stacks
