// The tokens before a chunk: where the chunk stands, and the keys and values that its attentions read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "import/huggingface/decoders/decoder_config.hpp"
#include "import/huggingface/model_frame.hpp"

namespace rung::huggingface {

// The tokens of one run, and the memory between runs, if any.
struct DecoderChunk {
  Shape tokens;  // [B,S]; B is 1 with a cache
  DecoderCache cache;
  const char* input = "input_ids";  // the name of the tokens
};

struct RotaryTables {
  NodeId cos = kNoNode, sin = kNoNode;  // f32[S,1,head width]
};

// Queries T[B,S,H,D], keys and values T[B,S,G,D].
struct Projections {
  NodeId q = kNoNode, k = kNoNode, v = kNoNode;
};

class TokenHistory {
 public:
  // Declares the inputs and the position.
  TokenHistory(ModelFrame& frame, const DecoderConfig& config, const DecoderChunk& chunk);

  // i64[B,S]
  NodeId tokens() const { return tokens_; }
  // Returns rows of a table of positions for the chunk's tokens: T[positions,...] -> T[S,...]. The text's first token
  // has row `first`.
  NodeId rows_of(NodeId table, const std::string& label, int64_t first = 0);
  const RotaryTables& tables(const RotaryFrequencies& frequencies, const std::string& label);
  // The most tokens of a text that this run is a part of.
  int64_t most() const { return remembers() ? cache_.length : chunk_; }
  // i64[1], the place of the chunk's first token; with a cache alone
  NodeId position() const { return position_; }
  // Returns a layer's attention over the chunk and the tokens before it, T[B,S,H,D]. `bias`: added to the scores; with
  // a cache f32[1,H,S,slots], which is -inf where a query sees no key.
  NodeId attend(size_t layer, const Projections& heads, const std::string& label, NodeId bias = kNoNode);
  // Returns the hidden states whose scores are asked for: of all tokens T[B,S,width], or, with a cache, of the last
  // real one T[1,width]; of all tokens of a small chunk T[S,width]. A chunk of one token keeps T[1,1,width]: nothing
  // stands between its last layer and the norm, which becomes a part of both products beside it.
  NodeId asked(NodeId hidden);
  // Returns what was computed of asked() as the run's result: T[B,S,N], or, with a cache, T[tokens,N].
  NodeId by_token(NodeId result);
  // Adds the outputs that become the states, behind the model's own.
  void write_states();

 private:
  bool remembers() const { return cache_.length > 0; }
  NodeId declare_state(const std::string& name, const Type& type);
  NodeId places(int64_t slots);
  RotaryTables tables_of_one(const RotaryFrequencies& frequencies, const std::string& label);
  NodeId remembered(const std::string& name, NodeId chunk, int64_t slots);

  ModelFrame& frame_;
  ModuleBuilder& w_;
  const DecoderConfig& c_;
  DecoderCache cache_;
  int64_t chunk_ = 0;
  NodeId tokens_ = kNoNode;
  NodeId count_ = kNoNode, position_ = kNoNode;  // i64[1]: real tokens of the chunk, tokens before it
  NodeId length_ = kNoNode;                      // i64[1]: the position behind the chunk
  std::map<int64_t, NodeId> places_;             // by slots of the cache
  std::vector<Output> next_;                     // what the states become
  std::map<std::string, RotaryTables> tables_;
};

}  // namespace rung::huggingface
