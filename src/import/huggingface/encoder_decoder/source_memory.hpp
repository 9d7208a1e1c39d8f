// The memory that a decoder has of its source: the keys and values that its cross attentions read, as states, which a
// run of the encoder writes and the runs of chunks only read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "import/huggingface/encoder_decoder/stack_writer.hpp"

namespace rung::huggingface {

class SourceMemory {
 public:
  // `places`: of the source, with those that pad it.
  SourceMemory(ModelFrame& frame, const EncoderDecoderConfig& config, int64_t places)
      : frame_(frame), c_(config.shared), places_(places) {}

  // Returns, in a chunk, a layer's keys and values, T[1,E,H,D].
  SourceHeads recall(size_t layer);
  // Returns, in a chunk, the mask of places that hold nothing, f32[1,1,1,E], by the number that the encoder kept.
  NodeId recalled_mask();
  // Keeps, in the encoder's graph, what it made.
  void keep(size_t layer, const SourceHeads& heads);
  void keep_count(NodeId count);
  // Adds the outputs that become the states, behind the model's own.
  void write_states();

  // Returns f32[1,1,1,places]: 0 for the first `count`, i64[1], of them, and -inf for the others.
  static NodeId mask_of(ModuleBuilder& w, NodeId count, int64_t places);

 private:
  NodeId declare(const std::string& name, const Type& type);
  Type type_of_heads() const;

  ModelFrame& frame_;
  const DecoderConfig& c_;
  int64_t places_;
  std::vector<Output> next_;  // what the states become
};

}  // namespace rung::huggingface
