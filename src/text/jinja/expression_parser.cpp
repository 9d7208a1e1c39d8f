// Reads operators, from those that bind least to values.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/expression_parser.hpp"

#include <algorithm>

#include "text/jinja/run.hpp"

namespace rung::jinja {
namespace {

using Kind = Token::Kind;

ExpressionPtr boxed(Expression expression) { return std::make_unique<Expression>(std::move(expression)); }

}  // namespace

struct ExpressionParser::OperatorSign {
  std::string_view sign;
  Operator op;
};

bool ExpressionParser::skip_sign(std::string_view sign) {
  if (!here().is_sign(sign)) return false;
  take();
  return true;
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!here().is_name(name)) return false;
  take();
  return true;
}

Status ExpressionParser::expect_sign(std::string_view sign) {
  if (skip_sign(sign)) return {};
  return wanted(fmt::format("'{}'", sign));
}

Result<std::string> ExpressionParser::expect_any_name(std::string_view what) {
  if (here().kind != Kind::name) return wanted(what);
  return take().spelling;
}

tl::unexpected<Error> ExpressionParser::wanted(std::string_view what) const {
  return bad_file("line {}: got {}, wanted {}", here().line, describe(here()), what);
}

Status ExpressionParser::check_nesting() const {
  if (nesting_ <= kMostNesting) return {};
  return bad_file("line {}: got more than {} levels of brackets and statements", here().line, kMostNesting);
}

Result<Expression> ExpressionParser::read_expression(bool allows_if) {
  const Level level(nesting_);
  RUNG_CHECK(check_nesting());
  return allows_if ? read_conditional() : read_logic(/*is_and=*/false);
}

Result<Expression> ExpressionParser::read_tuple(Extent extent, bool may_be_empty) {
  const int line = here().line;
  const auto ends = [&] {
    return here().kind == Kind::tag_end || here().kind == Kind::print_end || here().is_sign(")") ||
           (!extent.ends_before.empty() && here().is_name(extent.ends_before));
  };
  Items items{.is_tuple = true};
  bool has_comma = false;
  while (!ends()) {
    RUNG_TRY(Expression item, read_expression(extent.allows_if));
    items.of.push_back(std::move(item));
    if (!skip_sign(",")) break;
    has_comma = true;
  }
  if (!has_comma && items.of.size() == 1) return std::move(items.of[0]);
  if (items.of.empty() && !may_be_empty) return wanted("an expression");
  return Expression{line, std::move(items)};
}

Result<Expression> ExpressionParser::read_conditional() {
  const int line = here().line;
  RUNG_TRY(Expression value, read_logic(/*is_and=*/false));
  for (int wraps = 0; skip_name("if"); ++wraps) {
    if (wraps == kMostNesting) return wanted(fmt::format("at most {} conditions in a row", kMostNesting));
    RUNG_TRY(Expression condition, read_logic(/*is_and=*/false));
    Conditional conditional{.condition = boxed(std::move(condition)), .then = boxed(std::move(value))};
    if (skip_name("else")) {
      RUNG_TRY(Expression otherwise, read_expression());
      conditional.otherwise = boxed(std::move(otherwise));
    }
    value = Expression{line, std::move(conditional)};
  }
  return value;
}

Result<Expression> ExpressionParser::read_logic(bool is_and) {
  Logic logic{.is_and = is_and};
  const int line = here().line;
  do {
    RUNG_TRY(Expression part, is_and ? read_not() : read_logic(/*is_and=*/true));
    logic.of.push_back(std::move(part));
  } while (skip_name(is_and ? "and" : "or"));
  if (logic.of.size() == 1) return std::move(logic.of[0]);
  return Expression{line, std::move(logic)};
}

Result<Expression> ExpressionParser::read_not() {
  const int line = here().line;
  if (!skip_name("not")) return read_comparison();
  const Level level(nesting_);
  RUNG_CHECK(check_nesting());
  RUNG_TRY(Expression of, read_not());
  return Expression{line, Not{boxed(std::move(of))}};
}

// Returns the operator that stands here, and moves behind it; null for none.
const ExpressionParser::OperatorSign* ExpressionParser::operator_here(const std::vector<OperatorSign>& signs) {
  for (const OperatorSign& sign : signs) {
    const bool stands = sign.op == Operator::not_in ? here().is_name("not") && next().is_name("in")
                        : sign.op == Operator::in   ? here().is_name("in")
                                                    : here().is_sign(sign.sign);
    if (!stands) continue;
    if (sign.op == Operator::not_in) take();
    take();
    return &sign;
  }
  return nullptr;
}

Result<Expression> ExpressionParser::read_operations(const std::vector<OperatorSign>& signs,
                                                     Result<Expression> (ExpressionParser::*read)(), bool compares) {
  const int line = here().line;
  RUNG_TRY(Expression first, (this->*read)());
  Operations operations{.compares = compares};
  while (const OperatorSign* sign = operator_here(signs)) {
    RUNG_TRY(Expression value, (this->*read)());
    operations.then.push_back({sign->op, std::move(value)});
  }
  if (operations.then.empty()) return first;
  operations.first = boxed(std::move(first));
  return Expression{line, std::move(operations)};
}

Result<Expression> ExpressionParser::read_comparison() {
  static const std::vector<OperatorSign> signs{
      {"==", Operator::equal},  {"!=", Operator::not_equal},     {"<", Operator::less}, {"<=", Operator::less_equal},
      {">", Operator::greater}, {">=", Operator::greater_equal}, {"in", Operator::in},  {"not in", Operator::not_in}};
  return read_operations(signs, &ExpressionParser::read_sum, /*compares=*/true);
}

Result<Expression> ExpressionParser::read_sum() {
  static const std::vector<OperatorSign> signs{{"+", Operator::add}, {"-", Operator::subtract}};
  return read_operations(signs, &ExpressionParser::read_joined);
}

Result<Expression> ExpressionParser::read_joined() {
  Joined joined;
  const int line = here().line;
  do {
    RUNG_TRY(Expression part, read_product());
    joined.of.push_back(std::move(part));
  } while (skip_sign("~"));
  if (joined.of.size() == 1) return std::move(joined.of[0]);
  return Expression{line, std::move(joined)};
}

Result<Expression> ExpressionParser::read_product() {
  static const std::vector<OperatorSign> signs{
      {"*", Operator::multiply}, {"/", Operator::divide}, {"//", Operator::floor_divide}, {"%", Operator::remainder}};
  return read_operations(signs, &ExpressionParser::read_power);
}

// Powers are taken from the left, too.
Result<Expression> ExpressionParser::read_power() {
  static const std::vector<OperatorSign> signs{{"**", Operator::power}};
  return read_operations(signs, &ExpressionParser::read_operand);
}

// Filters bind to a number with its sign; attributes and calls do, too.
Result<Expression> ExpressionParser::read_unary(bool takes_filters) {
  const Level level(nesting_);
  RUNG_CHECK(check_nesting());
  const int line = here().line;
  const bool is_negative = here().is_sign("-");
  Chain chain;
  if (skip_sign("-") || skip_sign("+")) {
    RUNG_TRY(Expression of, read_unary(/*takes_filters=*/false));
    chain.first = boxed({line, Signed{is_negative, boxed(std::move(of))}});
  } else {
    RUNG_TRY(Expression primary, read_primary());
    chain.first = boxed(std::move(primary));
  }
  RUNG_CHECK(add_links(takes_filters, chain.links));
  if (chain.links.empty()) return std::move(*chain.first);
  return Expression{line, std::move(chain)};
}

Result<Expression> ExpressionParser::read_primary() {
  const Token& token = here();
  if (token.kind == Kind::name) return read_named();
  if (token.kind == Kind::number) return Expression{token.line, Literal{take().number}};
  if (token.kind == Kind::text) {
    std::string text;
    while (here().kind == Kind::text) text += take().spelling;
    return Expression{token.line, Literal{Value(std::move(text))}};
  }
  if (token.is_sign("[")) return read_list();
  if (token.is_sign("{")) return read_dictionary();
  if (!skip_sign("(")) return wanted("an expression");
  RUNG_TRY(Expression inner, read_tuple({}, /*may_be_empty=*/true));
  RUNG_CHECK(expect_sign(")"));
  return inner;
}

Result<Expression> ExpressionParser::read_named() {
  const Token& token = take();
  const std::string& name = token.spelling;
  if (name == "true" || name == "True") return Expression{token.line, Literal{true}};
  if (name == "false" || name == "False") return Expression{token.line, Literal{false}};
  if (name == "none" || name == "None") return Expression{token.line, Literal{None{}}};
  names_.push_back(name);
  return Expression{token.line, Name{name}};
}

Result<Expression> ExpressionParser::read_list() {
  const int line = take().line;
  Items items;
  while (!here().is_sign("]")) {
    RUNG_TRY(Expression item, read_expression());
    items.of.push_back(std::move(item));
    if (!skip_sign(",")) break;
  }
  RUNG_CHECK(expect_sign("]"));
  return Expression{line, std::move(items)};
}

Result<Expression> ExpressionParser::read_dictionary() {
  const int line = take().line;
  Pairs pairs;
  while (!here().is_sign("}")) {
    RUNG_TRY(Expression key, read_expression());
    RUNG_CHECK(expect_sign(":"));
    RUNG_TRY(Expression value, read_expression());
    pairs.of.push_back({std::move(key), std::move(value)});
    if (!skip_sign(",")) break;
  }
  RUNG_CHECK(expect_sign("}"));
  return Expression{line, std::move(pairs)};
}

}  // namespace rung::jinja
