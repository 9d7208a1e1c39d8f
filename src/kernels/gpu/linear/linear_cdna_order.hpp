// The order of weights that CDNA's linear kernels need.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels/gpu/linear/linear_cdna_arguments.hpp"
#include "kernels/linear_shape.hpp"

namespace rung::gpu {

// The order is the same for every tile of a kernel: sixteen rows at a time, partners beside each other.
struct CdnaOrder {
  CdnaEpilogue epilogue;
  uint32_t n, rows, k, chunks;  // columns of the result; rows and columns of w, and chunks of its columns
  DType type;                   // of w; f8e4m3fn stands for the machine's e4m3
  uint32_t element_bytes;
  uint32_t half;  // rows between partners; 0: no pairs

  explicit CdnaOrder(const Problem& problem);
  // Returns the tiles of sixteen rows, with tiles of partners counted apart; it is even, for blocks that take two.
  uint32_t tiles() const;
  struct Rows {
    uint32_t first, end;
  };
  Rows rows_of(uint32_t tile) const;
  uint32_t tile_bytes() const;  // below 2^30, as K is no longer than the distance between rows of x
  size_t bytes() const;
};

// Returns whether kernels for that architecture multiply values of a type: CDNA 3 has another e4m3 than others.
bool (*multiplied_on(const GpuInfo& gpu))(DType);
// Returns the verdict that all rows with weights in this order share, beside their own.
Verdict supports_cdna_order(const Problem& problem, const Machine& machine);
// The callbacks of a row.
size_t cdna_packed_bytes(const Problem& problem, const Machine& machine, size_t i);
void pack_for_cdna(const Problem& problem, const Machine& machine, size_t i, const void* from, void* to);
// Returns the fields that do not depend on the cut of a layer, but on its end.
LinearCdnaArguments cdna_arguments(const gpu::Call& call, const CdnaOrder& order);

}  // namespace rung::gpu
