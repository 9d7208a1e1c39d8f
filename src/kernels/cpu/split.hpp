// The cut of calls into parts: so fine that a thread without its core delays others little, so coarse that it is free.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/kernel.hpp"

namespace rung::cpu {

inline constexpr double kCoreGflops = 100;  // about the rate of a core in a product of f32

// Returns the parts into which one thread's share of a call is cut. The call takes about `us` microseconds of one core
// in all, and the share has `items` items, the most parts that it can have.
inline int pieces_of_share(const Problem& problem, double us, int64_t items) {
  constexpr double kPieceUs = 25;  // each more piece costs about 0.1 us
  constexpr int kMostPieces = 8;
  if (problem.threads <= 1) return 1;
  const auto wanted = static_cast<int64_t>(us / (kPieceUs * problem.threads));
  return static_cast<int>(std::max<int64_t>(1, std::min({wanted, items, int64_t{kMostPieces}})));
}

// Splits the work of rows whose time is proportional to the elements of their result.
inline Split split_by_elements(const Problem& problem, const Machine&) {
  constexpr double kElementUs = 0.3e-3;
  const int64_t elements = problem.output.shape.product();
  return {std::max(1, problem.threads) *
          pieces_of_share(problem, kElementUs * static_cast<double>(elements), elements)};
}

}  // namespace rung::cpu
