// A strict parser for the one dictionary that numpy writes.
// SPDX-License-Identifier: Apache-2.0
#include "import/npy_header.hpp"

#include <charconv>
#include <set>

#include "ir/shape.hpp"

namespace rung {
namespace {

class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Result<NpyHeader> parse() {
    NpyHeader header;
    std::set<std::string> seen;
    RUNG_CHECK(expect('{'));
    while (!accept('}')) {
      RUNG_TRY(std::string key, quoted());
      if (!seen.insert(key).second) return fail("array header: key '{}' twice", key);
      RUNG_CHECK(expect(':'));
      RUNG_CHECK(value(key, header));
      if (!accept(',') && peek() != '}') return wrong("',' or '}'");
    }
    skip_space();
    if (at_ != text_.size()) return wrong("the end");
    if (seen.size() != 3) return fail("array header: got {} keys, wanted descr, fortran_order and shape", seen.size());
    return header;
  }

 private:
  Status value(const std::string& key, NpyHeader& header) {
    if (key == "descr") {
      RUNG_TRY(header.descr, quoted());
    } else if (key == "fortran_order") {
      RUNG_TRY(header.fortran_order, boolean());
    } else if (key == "shape") {
      RUNG_TRY(header.shape, tuple());
    } else {
      return fail("array header: got key '{}', wanted descr, fortran_order or shape", key);
    }
    return {};
  }

  Result<std::string> quoted() {
    char quote = peek();
    if (quote != '\'' && quote != '"') return wrong("a string");
    size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) return wrong("a closed string");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    if (value.find('\\') != value.npos) return wrong("a string without escapes");
    at_ = end + 1;
    return value;
  }
  Result<bool> boolean() {
    skip_space();
    for (auto [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    return wrong("True or False");
  }
  // Parses (), (3,) or (3, 4); one number needs its comma.
  Result<std::vector<uint64_t>> tuple() {
    std::vector<uint64_t> items;
    RUNG_CHECK(expect('('));
    while (!accept(')')) {
      RUNG_TRY(uint64_t item, integer());
      items.push_back(item);
      if (items.size() > Dims::kMaxRank) return fail("array header: wanted at most {} dimensions", Dims::kMaxRank);
      bool comma = accept(',');
      if (!comma && (peek() != ')' || items.size() == 1)) return wrong("','");
    }
    return items;
  }
  Result<uint64_t> integer() {
    skip_space();
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return wrong("a non-negative integer");
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (at_ >= text_.size() || peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  Status expect(char c) {
    if (accept(c)) return {};
    return wrong(std::string("'") + c + "'");
  }
  tl::unexpected<Error> wrong(std::string_view wanted) const {
    return fail("array header: got '{}' at byte {}, wanted {}", printable(text_.substr(at_, 20)), at_, wanted);
  }
  static std::string printable(std::string_view text) {
    std::string out(text);
    for (char& c : out)
      if (c < ' ' || c > '~') c = '?';
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text) { return HeaderParser(text).parse(); }

std::string make_npy_header(const NpyHeader& header) {
  std::string shape;
  for (uint64_t dim : header.shape) shape += fmt::format("{}, ", dim);
  if (header.shape.size() > 1) shape.resize(shape.size() - 2);
  if (header.shape.size() == 1) shape.resize(shape.size() - 1);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", header.descr,
                                 header.fortran_order ? "True" : "False", shape);
  constexpr size_t kPrefix = 10;  // magic, version, length
  text.append((64 - (kPrefix + text.size() + 1) % 64) % 64, ' ').push_back('\n');
  std::string out("\x93NUMPY\1\0", 8);
  out += static_cast<char>(text.size());
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

}  // namespace rung
