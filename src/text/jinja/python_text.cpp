// Writes values as Python does.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/python_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "text/jinja/characters.hpp"
#include "text/unicode.hpp"

namespace rung::jinja {
namespace {

struct Brackets {
  const char *open, *close;
};

Brackets brackets_of(const Sequence& sequence) {
  switch (sequence.kind) {
    case Sequence::Kind::tuple:
      return {"(", sequence.of.size() == 1 ? ",)" : ")"};
    case Sequence::Kind::keys:
      return {"dict_keys([", "])"};
    case Sequence::Kind::values:
      return {"dict_values([", "])"};
    case Sequence::Kind::items:
      return {"dict_items([", "])"};
    default:
      return {"[", "]"};
  }
}

// Writes one value into a text, whose growth is counted.
class Writer {
 public:
  explicit Writer(Run& run) : run_(run) {}

  Status add(const Value& value) {
    RUNG_CHECK(run_.spend_steps());
    if (value.text()) return put(in_quotes(*value.text()));
    if (value.is_none()) return put("None");
    if (value.is_undefined()) return put("Undefined");
    if (value.truth()) return put(*value.truth() ? "True" : "False");
    if (value.integer()) return put(std::to_string(*value.integer()));
    if (value.real()) return put(written(*value.real()));
    if (value.sequence()) return add_sequence(*value.sequence());
    if (value.dictionary()) return add_dictionary(*value.dictionary());
    return mismatch("got {} to print, wanted a text, a number, a list or a dictionary", kind_of(value));
  }
  std::string take() { return std::move(out_); }

 private:
  Status put(std::string_view text) {
    RUNG_CHECK(run_.spend_bytes(text.size()));
    out_ += text;
    return {};
  }

  Status add_sequence(const Sequence& sequence) {
    if (sequence.kind == Sequence::Kind::lazy || sequence.kind == Sequence::Kind::range)
      return mismatch("got {} to print, wanted a list", kind_of(std::make_shared<const Sequence>(sequence)));
    const Brackets brackets = brackets_of(sequence);
    RUNG_CHECK(put(brackets.open));
    for (size_t i = 0; i < sequence.of.size(); ++i) {
      if (i > 0) RUNG_CHECK(put(", "));
      RUNG_CHECK(add(sequence.of[i]));
    }
    return put(brackets.close);
  }

  Status add_dictionary(const Dictionary& dictionary) {
    RUNG_CHECK(put("{"));
    for (size_t i = 0; i < dictionary.of.size(); ++i) {
      if (i > 0) RUNG_CHECK(put(", "));
      RUNG_CHECK(add(dictionary.of[i].key));
      RUNG_CHECK(put(": "));
      RUNG_CHECK(add(dictionary.of[i].value));
    }
    return put("}");
  }

  Run& run_;
  std::string out_;
};

void add_escaped(std::string& out, text::CodePoint c, std::string_view bytes) {
  if (c == '\n')
    out += "\\n";
  else if (c == '\r')
    out += "\\r";
  else if (c == '\t')
    out += "\\t";
  else if (is_printable(c))
    out += bytes;
  else if (c < 0x100)
    out += fmt::format("\\x{:02x}", c);
  else
    out += c < 0x10000 ? fmt::format("\\u{:04x}", c) : fmt::format("\\U{:08x}", c);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  const bool has_single = text.find('\'') != text.npos, has_double = text.find('"') != text.npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const text::CodePoint c = text::next_character(text, at);
    if (c == quote || c == '\\') out += '\\';
    add_escaped(out, c, text.substr(begin, at - begin));
  }
  return out + quote;
}

// {fmt} writes the shortest digits that give the same number, as Python does, but no point into whole numbers.
std::string written(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

Result<std::string> written(Run& run, const Value& value) {
  Writer writer(run);
  RUNG_CHECK(writer.add(value));
  return writer.take();
}

Result<std::string> text_of(Run& run, const Value& value) {
  if (value.is_undefined()) return std::string();
  if (!value.text()) return written(run, value);
  RUNG_CHECK(run.spend_bytes(value.text()->size()));
  return *value.text();
}

}  // namespace rung::jinja
