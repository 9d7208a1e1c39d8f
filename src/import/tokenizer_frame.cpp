// Reads templates, and the two older forms that put one token before and one after a text.
// SPDX-License-Identifier: Apache-2.0
#include "import/tokenizer_frame.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace rung {
namespace {

using Json = nlohmann::json;

constexpr IntRange kTokenIds{0, 1 << 24}, kTypeIds{0, 65535};

// Reads a token and its id: ["[SEP]", 102].
Result<FramePiece> read_pair(const Config& processor, const char* field) {
  RUNG_TRY(auto json, processor.get_value(field));
  const bool is_pair = json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_number_unsigned();
  if (!is_pair || json[1].get<uint64_t>() > static_cast<uint64_t>(kTokenIds.max))
    return bad_file("'{}': field '{}': got {}, wanted a token and its id", processor.what(), field, describe(json));
  return FramePiece{json[1].get<int64_t>(), 0};
}

Result<Frame> read_pairs(const Config& processor) {
  RUNG_TRY(FramePiece cls, read_pair(processor, "cls"));
  RUNG_TRY(FramePiece sep, read_pair(processor, "sep"));
  return Frame{.before = {cls}, .after = {sep}};
}

// Adds the ids of a special token that a template names.
Status add_special(const Config& processor, const Config& piece, std::vector<FramePiece>& to) {
  RUNG_TRY(std::string name, piece.get_text("id"));
  RUNG_TRY(int64_t type, piece.get_int("type_id", kTypeIds));
  RUNG_TRY(auto tokens, processor.get_object("special_tokens"));
  RUNG_TRY(auto token, tokens.get_object(name));
  RUNG_TRY(auto ids, token.get_value("ids"));
  if (!ids.is_array()) return bad_file("'{}': field 'ids': got {}, wanted an array", token.what(), describe(ids));
  RUNG_TRY(auto values, token.get_ints("ids", ids.size(), kTokenIds));
  for (int64_t id : values) to.push_back({id, type});
  return {};
}

Result<Frame> read_template(const Config& processor) {
  RUNG_TRY(auto list, processor.get_value("single"));
  if (!list.is_array())
    return bad_file("'{}': field 'single': got {}, wanted an array", processor.what(), describe(list));
  Frame frame;
  int texts = 0;
  for (const Json& item : list) {
    RUNG_TRY(auto piece, Config::of(item, fmt::format("{}: single", processor.what())));
    if (piece.contains("Sequence")) {
      RUNG_TRY(auto sequence, piece.get_object("Sequence"));
      RUNG_CHECK(sequence.get_word("id", {"A"}));
      RUNG_TRY(frame.type, sequence.get_int("type_id", kTypeIds));
      ++texts;
    } else {
      RUNG_TRY(auto special, piece.get_object("SpecialToken"));
      RUNG_CHECK(add_special(processor, special, texts == 0 ? frame.before : frame.after));
    }
  }
  if (texts != 1) return bad_file("'{}': field 'single': got the text {} times, wanted once", processor.what(), texts);
  return frame;
}

}  // namespace

Result<Frame> read_frame(const Config& tokenizer) {
  if (!tokenizer.contains("post_processor"))
    return bad_file(
        "'{}': no post_processor: versions of the published library disagree on whether [CLS] and [SEP] stand around a "
        "text then; wanted TemplateProcessing",
        tokenizer.what());
  RUNG_TRY(auto processor, tokenizer.get_object("post_processor"));
  RUNG_TRY(std::string type, processor.get_word("type", {"TemplateProcessing", "BertProcessing", "RobertaProcessing"}));
  return type == "TemplateProcessing" ? read_template(processor) : read_pairs(processor);
}

}  // namespace rung
