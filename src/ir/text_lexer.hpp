// Tokens of the graph's text form.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "ir/shape.hpp"

namespace rung {

// A cursor over text; every error names the line.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Skips blanks and comments (# to the end of the line); a newline or ';' ends a statement and is not skipped.
  void skip_blanks();
  // Skips blanks and ends of statements; false at the end of the text.
  bool next_statement();
  bool at_end_of_statement();
  bool accept(char c);  // skips blanks first
  Status expect(char c);
  bool peek(char c);
  Result<std::string> word();  // letters, digits, '_', '.', '-', '/', ':' only inside quotes
  Result<std::string> quoted();
  bool at_quote() { return peek('"'); }
  Result<double> number();
  Result<int64_t> integer();
  Result<Dims> dims();        // [1,2,3]
  Result<Columns> columns();  // the same, as many as there are
  Result<Type> type();        // f32[1,2]
  Result<DType> dtype();
  // Returns the comment at the end of this line, without '#' and blanks; empty if there is none.
  std::string trailing_comment();

  template <class... Args>
  tl::unexpected<Error> error(fmt::format_string<Args...> format, Args&&... args) const {
    return fail("line {}: {}", line_, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::string_view rest() const { return text_.substr(position_); }
  std::string shown() const;  // the text at the cursor, for errors
  std::string_view text_;
  size_t position_ = 0;
  int line_ = 1;
};

}  // namespace rung
