// Operators of ONNX that move channels into places, and places into channels.
// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/operators.hpp"

namespace rung::onnx::operators {
namespace {

using exported::refuse;

int64_t block_of(const Call& call) {
  const int64_t block = call.integer("blocksize");
  if (call.rank(call[0]) != 4 || block < 1 || block > exported::kMostMade)
    refuse("blocks of {} in {}", block, call.type(call[0]));
  return block;
}

}  // namespace

// Channels are rows of the block, its columns, then channels of the result (DCR), or the result's channels first (CRD).
Outputs depth_to_space(const Call& call) {
  const Shape x = call.shape(call[0]);
  const int64_t block = block_of(call);
  const std::string mode = call.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") refuse("mode: got '{}', wanted 'DCR' or 'CRD'", mode);
  if (x[1] % (block * block)) refuse("blocks of {} in {}", block, call.type(call[0]));
  const int64_t channels = x[1] / (block * block);
  const bool first = mode == "CRD";
  const Shape apart =
      first ? Shape{x[0], channels, block, block, x[2], x[3]} : Shape{x[0], block, block, channels, x[2], x[3]};
  const NodeId turned =
      call.transpose(call.reshape(call[0], apart), first ? Dims{0, 1, 4, 2, 5, 3} : Dims{0, 3, 4, 1, 5, 2});
  return {call.reshape(turned, Shape{x[0], channels, x[2] * block, x[3] * block})};
}

Outputs space_to_depth(const Call& call) {
  const Shape x = call.shape(call[0]);
  const int64_t block = block_of(call);
  if (x[2] % block || x[3] % block) refuse("blocks of {} in {}", block, call.type(call[0]));
  const Shape apart{x[0], x[1], x[2] / block, block, x[3] / block, block};
  const NodeId turned = call.transpose(call.reshape(call[0], apart), {0, 3, 5, 1, 2, 4});
  return {call.reshape(turned, Shape{x[0], x[1] * block * block, x[2] / block, x[3] / block})};
}

}  // namespace rung::onnx::operators
