// How fine calls are cut: so fine that a thread which loses its core delays others little, so coarse that cutting costs
// nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/kernel.hpp"

namespace rung::cpu {

inline constexpr double kCoreGflops = 100;  // about what a core reaches in a product of f32

// Into how many parts one thread's share of a call is cut that takes about `us` microseconds of one core in all, where
// the share consists of `items` pieces.
inline int pieces_of_share(const Problem& problem, double us, int64_t items) {
  constexpr double kPieceUs = 25;  // cutting one off costs about 0.1
  constexpr int kMostPieces = 8;
  if (problem.threads <= 1) return 1;
  const auto wanted = static_cast<int64_t>(us / (kPieceUs * problem.threads));
  return static_cast<int>(std::max<int64_t>(1, std::min({wanted, items, int64_t{kMostPieces}})));
}

// Splits the work of rows whose time goes with the elements of their result.
inline Split split_by_elements(const Problem& problem, const Machine&) {
  constexpr double kElementUs = 0.3e-3;
  const int64_t elements = problem.output.shape.product();
  return {std::max(1, problem.threads) *
          pieces_of_share(problem, kElementUs * static_cast<double>(elements), elements)};
}

}  // namespace rung::cpu
