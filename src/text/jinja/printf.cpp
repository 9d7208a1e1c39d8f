// Fills in formats as the language's operator % does.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "text/jinja/operators.hpp"
#include "text/jinja/python_text.hpp"
#include "text/unicode.hpp"

namespace rung::jinja {
namespace {

constexpr size_t kMostWidth = 10'000;

struct Conversion {
  std::string key;
  bool is_left = false, is_signed = false, is_blank_signed = false, is_zero = false;
  size_t width = 0;
  std::optional<size_t> precision;
  char kind = 's';
};

class Formatter {
 public:
  Formatter(Run& run, const std::string& format, const Value& given) : run_(run), format_(format), given_(given) {}

  Result<std::string> make() {
    const Sequence* all = given_.sequence();
    const bool is_tuple = all && all->kind == Sequence::Kind::tuple;
    for (size_t at = 0; at < format_.size();) {
      if (format_[at] != '%') {
        out_ += format_[at++];
        continue;
      }
      RUNG_TRY(const Conversion conversion, read(++at));
      if (conversion.kind == '%') {
        out_ += '%';
        continue;
      }
      RUNG_TRY(const Value value, value_for(conversion, is_tuple));
      RUNG_CHECK(add(conversion, value));
    }
    const size_t count = is_tuple ? all->of.size() : 1;
    const bool is_plain = is_tuple || given_.text() || (!all && !given_.dictionary() && !given_.is_undefined());
    if (taken_ < count && is_plain)
      return mismatch("got {} values for the format '{}', wanted {}", count, format_.substr(0, 60), taken_);
    return std::move(out_);
  }

 private:
  Result<size_t> number(size_t& at) {
    size_t value = 0;
    for (; at < format_.size() && format_[at] >= '0' && format_[at] <= '9'; ++at) {
      value = value * 10 + static_cast<size_t>(format_[at] - '0');
      if (value > kMostWidth) return mismatch("got a format with a width beyond {}", kMostWidth);
    }
    return value;
  }

  Result<Conversion> read(size_t& at) {
    Conversion conversion;
    if (at < format_.size() && format_[at] == '(') {
      const size_t end = format_.find(')', at);
      if (end == format_.npos) return mismatch("got a format with '(' and no ')'");
      conversion.key = format_.substr(at + 1, end - at - 1);
      at = end + 1;
    }
    for (; at < format_.size() && std::string_view("-+ 0#").find(format_[at]) != std::string_view::npos; ++at) {
      conversion.is_left |= format_[at] == '-';
      conversion.is_signed |= format_[at] == '+';
      conversion.is_blank_signed |= format_[at] == ' ';
      conversion.is_zero |= format_[at] == '0';
    }
    RUNG_TRY(conversion.width, number(at));
    if (at < format_.size() && format_[at] == '.') {
      RUNG_TRY(conversion.precision, number(++at));
    }
    if (at == format_.size())
      return mismatch("got the format '{}', which ends within a conversion", format_.substr(0, 60));
    conversion.kind = format_[at++];
    return conversion;
  }

  Result<Value> value_for(const Conversion& conversion, bool is_tuple) {
    if (!conversion.key.empty()) {
      const Value* value = given_.dictionary() ? given_.dictionary()->find_text(conversion.key) : nullptr;
      if (!value) return mismatch("got no value '{}' for a format, wanted a dictionary that has it", conversion.key);
      return *value;
    }
    const size_t place = taken_++;
    if (!is_tuple && place == 0) return given_;
    if (!is_tuple || place >= given_.sequence()->of.size())
      return mismatch("got {} values for the format '{}', wanted more", place, format_.substr(0, 60));
    return given_.sequence()->of[place];
  }

  Status add(const Conversion& conversion, const Value& value) {
    std::string text;
    if (conversion.kind == 's') {
      RUNG_TRY(text, text_of(run_, value));
    } else if (conversion.kind == 'r') {
      RUNG_TRY(text, written(run_, value));
    } else {
      RUNG_TRY(text, number_text(conversion, value));
      return pad(conversion, std::move(text), /*is_number=*/true);
    }
    if (conversion.precision) {
      size_t end = 0;
      for (size_t i = 0; i < *conversion.precision && end < text.size(); ++i)
        end += text::bytes_of_character(text[end]);
      text.resize(end);
    }
    return pad(conversion, std::move(text), /*is_number=*/false);
  }

  Result<std::string> number_text(const Conversion& conversion, const Value& value) const {
    double room = 0;
    const double* real = as_real(value, room);
    int64_t whole_room = 0;
    const int64_t* whole = as_integer(value, whole_room);
    const char kind = conversion.kind;
    if (!real) return mismatch("got {} for '%{}', wanted a number", kind_of(value), kind);
    std::string digits;
    if (kind == 'd' || kind == 'i' || kind == 'u') {
      if (!whole && !(std::abs(*real) < 9e18)) return mismatch("got {} for '%{}', wanted an integer", *real, kind);
      digits = std::to_string(whole ? *whole : static_cast<int64_t>(*real));
    } else if (kind == 'x' && whole) {
      digits = fmt::format("{:x}", *whole);
    } else if (kind == 'X' && whole) {
      digits = fmt::format("{:X}", *whole);
    } else if (std::string_view("fFeEgG").find(kind) != std::string_view::npos) {
      const auto precision = static_cast<int>(conversion.precision.value_or(6));
      digits = kind == 'f' || kind == 'F' ? fmt::format("{:.{}f}", *real, precision)
               : kind == 'e'              ? fmt::format("{:.{}e}", *real, precision)
               : kind == 'E'              ? fmt::format("{:.{}E}", *real, precision)
               : kind == 'g'              ? fmt::format("{:.{}g}", *real, precision)
                                          : fmt::format("{:.{}G}", *real, precision);
    } else {
      return mismatch("got '%{}' with {} in a format, wanted one of s, r, d, i, x, f, e and g", kind, kind_of(value));
    }
    const bool is_negative = digits.starts_with('-');
    if (!is_negative && conversion.is_signed) return '+' + digits;
    return !is_negative && conversion.is_blank_signed ? ' ' + digits : digits;
  }

  Status pad(const Conversion& conversion, std::string text, bool is_number) {
    const size_t length = text::count_characters(text);
    const size_t missing = conversion.width > length ? conversion.width - length : 0;
    RUNG_CHECK(run_.spend_bytes(text.size() + missing));
    if (conversion.is_left)
      text.append(missing, ' ');
    else if (is_number && conversion.is_zero)
      text.insert(text.find_first_of("+- ") == 0 ? 1 : 0, missing, '0');
    else
      text.insert(0, missing, ' ');
    out_ += text;
    return {};
  }

  Run& run_;
  const std::string& format_;
  const Value& given_;
  std::string out_;
  size_t taken_ = 0;
};

}  // namespace

Result<std::string> formatted(Run& run, const std::string& format, const Value& given) {
  RUNG_CHECK(run.spend_bytes(format.size()));
  return Formatter(run, format, given).make();
}

}  // namespace rung::jinja
