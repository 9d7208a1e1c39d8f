// Decodes ids as they come, and looks for stop strings.
// SPDX-License-Identifier: Apache-2.0
#include "text/text_stream.hpp"

#include <algorithm>
#include <utility>

#include "text/parts.hpp"
#include "text/replacer.hpp"

namespace rung {

Result<TextStream> TextStream::begin(std::shared_ptr<const Tokenizer::Parts> parts, DecodeOptions options) {
  if (!parts->decoders) return tl::unexpected(parts->decoders.error());
  return TextStream(std::move(parts), options);
}

TextStream::TextStream(std::shared_ptr<const Tokenizer::Parts> parts, DecodeOptions options)
    : parts_(std::move(parts)), keeps_special_(options.keeps_special), decoders_(*parts_->decoders) {
  if (options.cleans_up.value_or(parts_->cleans_up) && !parts_->model->joins_letters()) clean_up_.emplace();
}

Result<std::string> TextStream::add(int64_t id) {
  const auto* name = parts_->names.find(id);
  if (!name) return mismatch("got id {}, which no token of the vocabulary has", id);
  if (name->special && !keeps_special_) return std::string();
  RUNG_TRY(std::string text, decoders_.add(name->token));
  return clean_up_ ? clean_up_->add(std::move(text)) : text;
}

Result<std::string> TextStream::end() {
  RUNG_TRY(std::string text, decoders_.end());
  if (!clean_up_) return text;
  text = clean_up_->add(std::move(text));
  return text + clean_up_->end();
}

// Longer strings go first, so that the longest of those that end at one place is found.
Result<StopStrings> StopStrings::make(std::vector<std::string> strings) {
  for (const std::string& string : strings)
    if (string.empty()) return wrong_usage("stop strings: got an empty string, wanted text");
  std::stable_sort(strings.begin(), strings.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return StopStrings(std::move(strings));
}

std::string StopStrings::add(std::string_view part) {
  if (found_) return {};
  held_ += part;
  size_t first_end = held_.npos, begun = 0;
  for (const std::string& string : strings_) {
    const size_t at = held_.find(string);
    if (at != held_.npos && at + string.size() < first_end) {
      first_end = at + string.size();
      found_ = string;
    }
    begun = std::max(begun, text::begun_at_end(held_, string));
  }
  std::string out = held_.substr(0, found_ ? first_end - found_->size() : held_.size() - begun);
  held_.erase(0, found_ ? held_.npos : out.size());
  return out;
}

std::string StopStrings::end() { return std::exchange(held_, std::string()); }

}  // namespace rung
