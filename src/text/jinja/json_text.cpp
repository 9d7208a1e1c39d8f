// Writes values as Python's JSON module does.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/jinja/python_text.hpp"
#include "text/unicode.hpp"

namespace rung::jinja {
namespace {

std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return written(value);
}

const char* short_escape(text::CodePoint c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '\f':
      return "\\f";
    case '\b':
      return "\\b";
    default:
      return nullptr;
  }
}

// A character beyond 16 bits becomes a pair of surrogates.
std::string long_escape(text::CodePoint c) {
  if (c < 0x10000) return fmt::format("\\u{:04x}", c);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
}

std::string json_text(std::string_view text, bool escapes) {
  std::string out(1, '"');
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const text::CodePoint c = text::next_character(text, at);
    if (const char* escape = short_escape(c))
      out += escape;
    else if (c < 0x20 || (escapes && c >= 0x7f))
      out += long_escape(c);
    else
      out += text.substr(begin, at - begin);
  }
  return out + '"';
}

// Returns the JSON of a value that is no container, if it has one.
std::optional<std::string> plain(const Value& value, bool escapes) {
  if (value.text()) return json_text(*value.text(), escapes);
  if (value.is_none()) return "null";
  if (value.truth()) return *value.truth() ? "true" : "false";
  if (value.integer()) return std::to_string(*value.integer());
  if (value.real()) return json_number(*value.real());
  return std::nullopt;
}

class JsonWriter {
 public:
  JsonWriter(Run& run, const JsonStyle& style) : run_(run), style_(style) {}

  Status add(const Value& value) {
    RUNG_CHECK(run_.spend_steps());
    if (const auto text = plain(value, style_.escapes)) return put(*text);
    const Sequence* sequence = value.sequence();
    if (sequence && (sequence->kind == Sequence::Kind::list || sequence->kind == Sequence::Kind::tuple))
      return add_list(*sequence);
    if (value.dictionary()) return add_object(*value.dictionary());
    return mismatch("got {} for JSON, wanted a text, a number, a list or a dictionary", kind_of(value));
  }
  std::string take() { return std::move(out_); }

 private:
  Status put(std::string_view text) {
    RUNG_CHECK(run_.spend_bytes(text.size()));
    out_ += text;
    return {};
  }
  Status put_line() {
    if (!style_.indent) return {};
    RUNG_CHECK(put("\n"));
    for (int i = 0; i < level_; ++i) RUNG_CHECK(put(*style_.indent));
    return {};
  }

  Status add_list(const Sequence& list) {
    if (list.of.empty()) return put("[]");
    RUNG_CHECK(put("["));
    ++level_;
    for (size_t i = 0; i < list.of.size(); ++i) {
      if (i > 0) RUNG_CHECK(put(style_.between_items));
      RUNG_CHECK(put_line());
      RUNG_CHECK(add(list.of[i]));
    }
    --level_;
    RUNG_CHECK(put_line());
    return put("]");
  }

  Status add_object(const Dictionary& object) {
    if (object.of.empty()) return put("{}");
    RUNG_TRY(const std::vector<const Entry*> entries, ordered(object));
    RUNG_CHECK(put("{"));
    ++level_;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) RUNG_CHECK(put(style_.between_items));
      RUNG_CHECK(put_line());
      RUNG_TRY(const std::string key, key_of(entries[i]->key));
      RUNG_CHECK(put(key));
      RUNG_CHECK(put(style_.after_keys));
      RUNG_CHECK(add(entries[i]->value));
    }
    --level_;
    RUNG_CHECK(put_line());
    return put("}");
  }

  Result<std::string> key_of(const Value& key) {
    const auto text = plain(key, style_.escapes);
    if (!text) return mismatch("got {} as a key for JSON, wanted a text or a number", kind_of(key));
    return key.text() ? *text : '"' + *text + '"';
  }

  Result<std::vector<const Entry*>> ordered(const Dictionary& object) {
    std::vector<const Entry*> entries;
    for (const Entry& entry : object.of) {
      if (style_.sorts_keys && !entry.key.text())
        return mismatch("got {} as a key to sort by, wanted texts", kind_of(entry.key));
      entries.push_back(&entry);
    }
    RUNG_CHECK(run_.spend_steps(entries.size()));
    if (style_.sorts_keys)
      std::stable_sort(entries.begin(), entries.end(),
                       [](const Entry* a, const Entry* b) { return *a->key.text() < *b->key.text(); });
    return entries;
  }

  Run& run_;
  const JsonStyle& style_;
  std::string out_;
  int level_ = 0;
};

}  // namespace

Result<std::string> json_of(Run& run, const Value& value, const JsonStyle& style) {
  JsonWriter writer(run, style);
  RUNG_CHECK(writer.add(value));
  return writer.take();
}

}  // namespace rung::jinja
