// The tokens before a chunk: where the chunk stands, and the keys and values that its attentions read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "import/huggingface/decoders/decoder_config.hpp"
#include "import/huggingface/model_frame.hpp"

namespace rung::huggingface {

struct RotaryTables {
  NodeId cos = kNoNode, sin = kNoNode;  // f32[S,1,columns]
};

// Queries T[B,S,H,D], keys and values T[B,S,G,D].
struct Projections {
  NodeId q = kNoNode, k = kNoNode, v = kNoNode;
};

class TokenHistory {
 public:
  // Declares the inputs. tokens: the shape [B,S] of a chunk.
  TokenHistory(ModelFrame& frame, const DecoderConfig& config, const Shape& tokens);

  // i64[B,S]
  NodeId tokens() const { return tokens_; }
  // Returns rows of a table of positions [positions,width] for the chunk's tokens: [S,width].
  NodeId rows_of(NodeId table, const std::string& label);
  const RotaryTables& tables(const RotaryFrequencies& frequencies, const std::string& label);
  // Returns a layer's attention over the chunk and the tokens before it, T[B,S,H,D].
  NodeId attend(size_t layer, const Projections& heads, const std::string& label);

 private:
  ModelFrame& frame_;
  ModuleBuilder& w_;
  const DecoderConfig& c_;
  NodeId tokens_ = kNoNode;
  int64_t chunk_ = 0;
  std::map<std::string, RotaryTables> tables_;
};

}  // namespace rung::huggingface
