// Expressions out of tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/syntax.hpp"
#include "text/jinja/token.hpp"

namespace rung::jinja {

// Reads one thing after the other, in the order of how tightly operators bind: the loosest are read first.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  // How far an expression goes.
  struct Extent {
    bool allows_if = true;           // `a if b else c`
    std::string_view ends_before{};  // a name that ends a list without brackets, such as "in"
  };

  Result<Expression> read_expression(bool allows_if = true);
  // Reads an expression, or several with commas between them, which are a tuple.
  Result<Expression> read_tuple(Extent extent, bool may_be_empty = false);
  Result<std::vector<Link>> read_filters();
  Result<Link> read_filter();

  const Token& here() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool skip_sign(std::string_view sign);
  bool skip_name(std::string_view name);
  Status expect_sign(std::string_view sign);
  Result<std::string> expect_any_name(std::string_view what);
  tl::unexpected<Error> wanted(std::string_view what) const;

  // A level of brackets or of statements; errors: too many.
  struct Level {
    explicit Level(int& counter) : depth(counter) { ++depth; }
    ~Level() { --depth; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    int& depth;
  };
  Status check_nesting() const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  std::vector<std::string> names_;  // that the text used so far, in order

 private:
  Result<Expression> read_conditional();
  Result<Expression> read_logic(bool is_and);
  Result<Expression> read_not();
  Result<Expression> read_comparison();
  Result<Expression> read_sum();
  Result<Expression> read_joined();
  Result<Expression> read_product();
  Result<Expression> read_power();
  Result<Expression> read_operand() { return read_unary(/*takes_filters=*/true); }
  Result<Expression> read_unary(bool takes_filters);
  Result<Expression> read_primary();
  Result<Expression> read_named();
  Result<Expression> read_list();
  Result<Expression> read_dictionary();

  struct OperatorSign;
  Result<Expression> read_operations(const std::vector<OperatorSign>& signs,
                                     Result<Expression> (ExpressionParser::*read)(), bool compares = false);
  const OperatorSign* operator_here(const std::vector<OperatorSign>& signs);

  Status add_links(bool takes_filters, std::vector<Link>& links);
  Result<Link> read_attribute();
  Result<Link> read_subscript();
  Result<Link> read_test();
  Result<std::vector<Argument>> read_arguments();
  Result<Argument> read_argument();
  Result<ExpressionPtr> read_bound();
};

}  // namespace rung::jinja
