// Attention that adds a bias to the score of a query and a key for the distance between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/module_builder.hpp"

namespace rung::huggingface {

// Distances share a row of the table: the first have one each, and the others grow with their logarithm.
struct RelativePositions {
  int64_t buckets = 0;      // rows of the table
  int64_t farthest = 0;     // distances from here on share a row
  bool looks_ahead = true;  // half of the rows are for keys behind the query; false: those count as distance 0
  int64_t row_of(int64_t query, int64_t key) const;
};

class RelativeBias {
 public:
  // `table`: the module whose weight is T[buckets,heads].
  RelativeBias(ModuleBuilder& builder, const Module& table, const RelativePositions& positions, int64_t heads)
      : w_(builder), table_(table), positions_(positions), heads_(heads) {}

  // Returns f32[1,heads,places,places], for a text that stands in one run.
  NodeId among(int64_t places);
  // Returns f32[1,heads,chunk,slots] for a chunk whose first token stands at `position`, i64[1], among the slots of a
  // cache; keys behind a query are -inf.
  NodeId behind(NodeId position, int64_t chunk, int64_t slots);

 private:
  NodeId rows();
  NodeId at(NodeId rows, NodeId ids);

  ModuleBuilder& w_;
  Module table_;
  RelativePositions positions_;
  int64_t heads_;
};

}  // namespace rung::huggingface
