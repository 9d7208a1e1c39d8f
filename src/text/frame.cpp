// Reads templates, and the two older forms that put one token before and one after a text.
// SPDX-License-Identifier: Apache-2.0
#include "text/frame.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace rung::text {
namespace {

using Json = nlohmann::json;

constexpr IntRange kTypeIds{0, 65535};

class FrameReader {
 public:
  explicit FrameReader(const IsToken& is_token) : is_token_(is_token) {}

  Status read(const Config& processor) {
    RUNG_TRY(const std::string type, processor.get_word("type", {"TemplateProcessing", "BertProcessing",
                                                                 "RobertaProcessing", "ByteLevel", "Sequence"}));
    if (type == "ByteLevel") return {};  // changes offsets alone
    if (type == "Sequence") {
      RUNG_TRY(const auto list, processor.get_objects("processors"));
      for (const Config& item : list) RUNG_CHECK(read(item));
      return {};
    }
    if (adds_) return bad_file("'{}': got a second part that adds tokens, wanted one", processor.what());
    adds_ = true;
    return type == "TemplateProcessing" ? read_templates(processor) : read_ends(processor, type == "BertProcessing");
  }

  Frame frame;

 private:
  Status check(const Config& processor, const std::string& token, int64_t id) const {
    if (is_token_(id)) return {};
    return bad_file("'{}': token '{}': got id {}, which no token of the vocabulary has", processor.what(), token, id);
  }

  // Reads a token and its id: ["[SEP]", 102].
  Result<int64_t> read_end(const Config& processor, const char* field) const {
    RUNG_TRY(const Json json, processor.get_value(field));
    const bool is_pair = json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_number_unsigned();
    if (!is_pair || json[1].get<uint64_t>() > static_cast<uint64_t>(kTokenIds.max))
      return bad_file("'{}': field '{}': got {}, wanted a token and its id", processor.what(), field, describe(json));
    RUNG_CHECK(check(processor, json[0].get<std::string>(), json[1].get<int64_t>()));
    return json[1].get<int64_t>();
  }

  // BERT's pair is [CLS] A [SEP] B [SEP], with another type for B; RoBERTa's is <s> A </s></s> B </s>.
  Status read_ends(const Config& processor, bool is_bert) {
    RUNG_TRY(const int64_t cls, read_end(processor, "cls"));
    RUNG_TRY(const int64_t sep, read_end(processor, "sep"));
    frame.single = {{.id = cls}, {.text = 0}, {.id = sep}};
    frame.pair = frame.single;
    const int64_t type = is_bert ? 1 : 0;
    if (!is_bert) frame.pair.push_back({.id = sep});
    frame.pair.push_back({.text = 1, .type = type});
    frame.pair.push_back({.id = sep, .type = type});
    return {};
  }

  Status read_templates(const Config& processor) {
    RUNG_TRY(frame.single, read_template(processor, "single", {1, 0}));
    frame.pair.clear();
    const bool has_pair = processor.contains("pair") && !processor.json().at("pair").empty();
    if (has_pair) {
      RUNG_TRY(frame.pair, read_template(processor, "pair", {1, 1}));
    }
    return {};
  }

  // Reads a template, in which the texts A and B must stand that often.
  Result<FramePieces> read_template(const Config& processor, const char* field, std::array<int, 2> wanted) const {
    RUNG_TRY(const auto list, processor.get_objects(field));
    FramePieces pieces;
    std::array<int, 2> texts{};
    for (const Config& item : list) {
      if (item.contains("Sequence")) {
        RUNG_TRY(const Config sequence, item.get_object("Sequence"));
        RUNG_TRY(const std::string name, sequence.get_word("id", {"A", "B"}));
        RUNG_TRY(const int64_t type, sequence.get_int("type_id", kTypeIds));
        const int text = name == "A" ? 0 : 1;
        ++texts[static_cast<size_t>(text)];
        pieces.push_back({.text = text, .type = type});
      } else {
        RUNG_TRY(const Config special, item.get_object("SpecialToken"));
        RUNG_CHECK(add_special(processor, special, pieces));
      }
    }
    if (texts != wanted)
      return bad_file("'{}': field '{}': got text A {} times and B {} times, wanted {} and {}", processor.what(), field,
                      texts[0], texts[1], wanted[0], wanted[1]);
    return pieces;
  }

  // Adds the ids of a special token that a template names.
  Status add_special(const Config& processor, const Config& piece, FramePieces& pieces) const {
    RUNG_TRY(const std::string name, piece.get_text("id"));
    RUNG_TRY(const int64_t type, piece.get_int("type_id", kTypeIds));
    RUNG_TRY(const Config tokens, processor.get_object("special_tokens"));
    RUNG_TRY(const Config token, tokens.get_object(name));
    RUNG_TRY(const Json ids, token.get_value("ids"));
    if (!ids.is_array()) return bad_file("'{}': field 'ids': got {}, wanted an array", token.what(), describe(ids));
    RUNG_TRY(const auto values, token.get_ints("ids", ids.size(), kTokenIds));
    for (const int64_t id : values) {
      RUNG_CHECK(check(processor, name, id));
      pieces.push_back({.id = id, .type = type});
    }
    return {};
  }

  const IsToken& is_token_;
  bool adds_ = false;  // whether a part that adds tokens was read
};

}  // namespace

Result<Frame> read_frame(const Config& tokenizer, const IsToken& is_token) {
  FrameReader reader(is_token);
  if (tokenizer.contains("post_processor")) {
    RUNG_TRY(const Config processor, tokenizer.get_object("post_processor"));
    RUNG_CHECK(reader.read(processor));
  }
  return std::move(reader.frame);
}

}  // namespace rung::text
