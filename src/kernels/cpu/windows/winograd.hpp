// The arguments of the transforms of a Winograd convolution, in plain numbers: two by two results of windows of three
// by three come out of sixteen products instead of thirty-six.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace rung::cpu {

inline constexpr int kWinogradTerms = 16;  // products of a patch of four by four elements

// Turns one patch into its terms, for all channels.
struct WinogradPatch {
  const float* elements[kWinogradTerms];  // each with its channels side by side
  int64_t channels;
  float* out;       // the first term
  int64_t to_term;  // elements from term to term
};

// Turns sums of terms into results, for one panel of columns.
struct WinogradSums {
  const float* sums;                // of the first term
  int64_t to_term, columns, width;  // columns: a multiple of a vector; width: elements from patch to patch, or result
  int64_t patches;
  float* lines[2];  // where the results of both lines go, patch by patch
};

namespace avx2 {
void winograd_terms(const WinogradPatch& patch);
void winograd_results(const WinogradSums& sums);
}  // namespace avx2
namespace avx512 {
void winograd_terms(const WinogradPatch& patch);
void winograd_results(const WinogradSums& sums);
}  // namespace avx512

}  // namespace rung::cpu
