// A table with a row for each place of a text, which is added to the embeddings of its tokens: learned, or sines and
// cosines.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/huggingface/model_frame.hpp"

namespace rung::huggingface {

// The frequencies fall geometrically, from 1 to about 1/10000. Sines are the first half of a row, cosines the second.
enum class Waves {
  none,        // the table is learned
  below_end,   // frequency k of n is 10000^(-k/n)
  to_the_end,  // frequency k of n is 10000^(-k/(n-1))
};

struct PlaceTable {
  Waves waves = Waves::none;
  int64_t first_row = 0;  // of the first place
};

// Rows of the places of a text from the first one on; the row of place i is `first` + i.
struct PlaceRows {
  NodeId table = kNoNode;  // T[N,width]
  int64_t first = 0;
};

// Returns the table of the module in the model's type, for `count` places at least. Waves that the checkpoint has not
// are computed; a learned table has a row for each of `positions` places.
PlaceRows place_rows(ModelFrame& frame, const PlaceTable& places, const Module& module, const Shape& positions_by_width,
                     int64_t count);

}  // namespace rung::huggingface
