// Leads tokens through decoders, one after the other.
// SPDX-License-Identifier: Apache-2.0
#include "text/decoders/decoders.hpp"

namespace rung::text {
namespace {

// Waits for all parts of a token, for decoders that want it whole.
class Whole : public DecoderStage {
 public:
  Status add(std::string token, Tokens&) override {
    all_ += token;
    return {};
  }
  Status end(Tokens& out) override {
    out.push_back(std::move(all_));
    return {};
  }

 private:
  std::string all_;
};

std::string joined(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

}  // namespace

Status DecoderStage::end(Tokens&) { return {}; }

DecoderChain::DecoderChain(const std::vector<Decoder>& decoders) {
  bool in_parts = false;
  for (const Decoder& decoder : decoders) {
    if (in_parts && !decoder.takes_parts) stages_.push_back(std::make_unique<Whole>());
    stages_.push_back(decoder.begin(in_parts && decoder.takes_parts));
    in_parts = decoder.joins || (in_parts && decoder.takes_parts);
  }
}

Result<std::string> DecoderChain::add(std::string token) {
  Tokens tokens{std::move(token)};
  for (const auto& stage : stages_) {
    Tokens out;
    for (std::string& one : tokens) RUNG_CHECK(stage->add(std::move(one), out));
    tokens = std::move(out);
  }
  return joined(tokens);
}

Result<std::string> DecoderChain::end() {
  Tokens tokens;
  for (const auto& stage : stages_) {
    Tokens out;
    for (std::string& one : tokens) RUNG_CHECK(stage->add(std::move(one), out));
    RUNG_CHECK(stage->end(out));
    tokens = std::move(out);
  }
  return joined(tokens);
}

}  // namespace rung::text
