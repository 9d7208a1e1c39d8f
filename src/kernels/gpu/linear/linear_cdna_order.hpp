// The order in which CDNA's linear kernels want the weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_cdna_arguments.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

// The same for every tile: sixteen rows at a time, partners beside each other.
struct CdnaOrder {
  CdnaEpilogue epilogue;
  uint32_t n, rows, k, chunks;  // of the result, of w, columns of w, and chunks of them
  DType type;                   // of w
  uint32_t element_bytes;
  uint32_t half;  // rows between partners; 0: no pairs

  explicit CdnaOrder(const Problem& problem);
  // Tiles of sixteen rows, those of partners counted apart; even, for blocks that take two.
  uint32_t tiles() const;
  struct Rows {
    uint32_t first, end;
  };
  Rows rows_of(uint32_t tile) const;
  uint32_t tile_bytes() const;  // K is at most as long as rows of x are apart, so it is below 2^30
  size_t bytes() const;
};

// Verdict for all rows that take weights in this order, beside their own.
Verdict supports_cdna_order(const Problem& problem, const Machine& machine);
// A row's callbacks.
size_t cdna_packed_bytes(const Problem& problem, const Machine& machine, size_t i);
void pack_for_cdna(const Problem& problem, const Machine& machine, size_t i, const void* from, void* to);
// The fields that do not depend on how a layer is cut, but for how it ends.
LinearCdnaArguments cdna_arguments(const gpu::Call& call, const CdnaOrder& order);

}  // namespace rung::gpu
