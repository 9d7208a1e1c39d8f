// Writes what depends on the places of tokens.
// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/decoders/token_history.hpp"

#include <cmath>

#include "import/huggingface/input_rules.hpp"

namespace rung::huggingface {
namespace {

// Returns f(angle) of all tokens, f32[tokens,1,columns]: each pair of columns has one angle, in both halves.
template <class Function>
Tensor table_of(const RotaryFrequencies& frequencies, int64_t tokens, Function f) {
  const std::vector<float>& inverse = frequencies.of(tokens);
  Tensor table({DType::f32, {tokens, 1, frequencies.columns()}});
  auto values = table.as<float>();
  for (size_t token = 0, at = 0; token < static_cast<size_t>(tokens); ++token)
    for (size_t half = 0; half < 2; ++half)
      for (const float radians : inverse)
        values[at++] =
            static_cast<float>(f(static_cast<double>(static_cast<float>(token) * radians))) * frequencies.amplitude;
  return table;
}

}  // namespace

TokenHistory::TokenHistory(ModelFrame& frame, const DecoderConfig& config, const Shape& tokens)
    : frame_(frame), w_(frame.builder), c_(config), chunk_(tokens[1]) {
  tokens_ = add_token_input(frame.model, "input_ids", tokens, config.vocabulary);
}

NodeId TokenHistory::rows_of(NodeId table, const std::string& label) {
  return w_.op(Slice{.axis = 0, .begin = 0, .end = chunk_}, {table}, label);
}

const RotaryTables& TokenHistory::tables(const RotaryFrequencies& frequencies, const std::string& label) {
  const auto [found, added] = tables_.try_emplace(label);
  if (!added) return found->second;
  const auto literal = [&](const char* name, double (*f)(double)) {
    return w_.graph.literal(label + name, table_of(frequencies, chunk_, f));
  };
  return found->second = {literal(".cos", std::cos), literal(".sin", std::sin)};
}

NodeId TokenHistory::attend(size_t layer, const Projections& heads, const std::string& label) {
  Attention op{.scale = c_.attention_scale, .softcap = c_.attention_cap};
  op.span.after = 0;
  if (const int64_t window = c_.layers[layer].window; window > 0 && window < chunk_) op.span.before = window - 1;
  return w_.op(op, {heads.q, heads.k, heads.v}, label);
}

}  // namespace rung::huggingface
