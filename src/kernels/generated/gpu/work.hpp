// The facts of a problem that both forms of a generated kernel use.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "ir/region.hpp"
#include "kernels/collapse.hpp"
#include "kernels/problem.hpp"

namespace rung::gpu {

inline constexpr int64_t kGeneratedThreads = 256;  // of a block that has no reason for more
inline constexpr int64_t kMostNeighbours = 8;      // of one thread in one access

struct GeneratedWork {
  RegionProgram program;
  Shape shape;
  std::vector<bool> rows;        // by register: it holds a value of each row
  std::vector<Strides> strides;  // of the operands over the shape
  std::vector<ResultPlace> results;
  const Problem& problem;

  // Returns whether it computes with integers, as formulas of integers do.
  bool computes_integers() const { return as<Formula>(problem.op) && !is_float(problem.inputs[0].dtype); }
  // Returns the type that holds values between loads and stores.
  std::string_view computed_type() const {
    if (!computes_integers()) return "float";
    return problem.output.dtype == DType::i64 ? "int64_t" : "int";
  }
};

// Refers to the problem. Errors: what generated kernels do not take.
Result<GeneratedWork> work_of(const Problem& problem);
// Returns the most neighbours of which accesses along the inner axis are whole and aligned, and 16 bytes at most: the
// lanes of a warp then access one run of memory.
int64_t neighbours(const GeneratedWork& work, const Loops& loops, int64_t inner,
                   std::span<const int64_t> inner_strides);

}  // namespace rung::gpu
