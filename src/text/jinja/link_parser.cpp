// Reads what stands behind a value: attributes, places, calls, filters and tests.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "text/jinja/expression_parser.hpp"

namespace rung::jinja {
namespace {

using Kind = Token::Kind;

ExpressionPtr pointer_to(Expression expression) { return std::make_unique<Expression>(std::move(expression)); }

// Returns whether the one argument of a test may begin here without a bracket, as in `is divisibleby 3`.
bool begins_argument(const Token& token) {
  constexpr std::array<std::string_view, 3> others{"else", "or", "and"};
  if (token.kind == Kind::name) return std::find(others.begin(), others.end(), token.spelling) == others.end();
  return token.kind == Kind::text || token.kind == Kind::number || token.is_sign("[") || token.is_sign("{");
}

}  // namespace

// Attributes, places and calls come first; after the first filter or test only these and calls may follow.
Status ExpressionParser::add_links(bool takes_filters, std::vector<Link>& links) {
  bool filters = false;
  for (;;) {
    const Token& token = here();
    const int line = token.line;
    Result<Link> link = Link{};
    if (token.is_sign("(")) {
      auto arguments = read_arguments();
      link = arguments.map([&](std::vector<Argument>& of) { return Link{line, Call{std::move(of)}}; });
    } else if (!filters && token.is_sign(".")) {
      link = read_attribute();
    } else if (!filters && token.is_sign("[")) {
      link = read_subscript();
    } else if (takes_filters && token.is_sign("|")) {
      filters = true;
      link = read_filter();
    } else if (takes_filters && token.is_name("is")) {
      filters = true;
      link = read_test();
    } else {
      return {};
    }
    if (!link) return tl::unexpected(link.error());
    links.push_back(std::move(*link));
  }
}

// A number behind the point is a place, as in `pair.0`.
Result<Link> ExpressionParser::read_attribute() {
  const int line = take().line;
  if (here().kind == Kind::number && here().number.integer())
    return Link{line, Subscript{pointer_to({line, Literal{take().number}})}};
  RUNG_TRY(std::string name, expect_any_name("an attribute's name"));
  return Link{line, Attribute{std::move(name)}};
}

// Returns null for a bound of a slice that is left out.
Result<ExpressionPtr> ExpressionParser::read_bound() {
  if (here().is_sign(":") || here().is_sign("]")) return ExpressionPtr();
  RUNG_TRY(Expression bound, read_expression());
  return pointer_to(std::move(bound));
}

Result<Link> ExpressionParser::read_subscript() {
  const int line = take().line;
  RUNG_TRY(ExpressionPtr first, read_bound());
  if (!here().is_sign(":")) {
    if (!first) return wanted("a place or a key");
    RUNG_CHECK(expect_sign("]"));
    return Link{line, Subscript{std::move(first)}};
  }
  take();
  Slice slice{.begin = std::move(first)};
  RUNG_TRY(slice.end, read_bound());
  if (skip_sign(":")) {
    RUNG_TRY(slice.step, read_bound());
  }
  RUNG_CHECK(expect_sign("]"));
  return Link{line, std::move(slice)};
}

Result<std::vector<Link>> ExpressionParser::read_filters() {
  std::vector<Link> filters;
  while (here().is_sign("|")) {
    RUNG_TRY(Link filter, read_filter());
    filters.push_back(std::move(filter));
  }
  return filters;
}

// The sign '|' is here, or left out in a filter block.
Result<Link> ExpressionParser::read_filter() {
  skip_sign("|");
  const int line = here().line;
  Filter filter;
  RUNG_TRY(filter.name, expect_any_name("a filter's name"));
  if (here().is_sign("(")) {
    RUNG_TRY(filter.arguments, read_arguments());
  }
  return Link{line, std::move(filter)};
}

Result<Link> ExpressionParser::read_test() {
  const int line = take().line;
  Test test{.is_negated = skip_name("not")};
  RUNG_TRY(test.name, expect_any_name("a test's name"));
  if (here().is_sign("(")) {
    RUNG_TRY(test.arguments, read_arguments());
  } else if (begins_argument(here())) {
    if (here().is_name("is")) return wanted("one test behind 'is'");
    RUNG_TRY(Expression argument, read_primary());
    Chain chain{.first = pointer_to(std::move(argument))};
    RUNG_CHECK(add_links(/*takes_filters=*/false, chain.links));
    test.arguments.push_back({.value = {line, std::move(chain)}});
  }
  return Link{line, std::move(test)};
}

Result<std::vector<Argument>> ExpressionParser::read_arguments() {
  take();
  std::vector<Argument> arguments;
  while (!here().is_sign(")")) {
    RUNG_TRY(Argument argument, read_argument());
    const Argument::Kind last = arguments.empty() ? Argument::Kind::positional : arguments.back().kind;
    if (last == Argument::Kind::dictionary || (argument.kind == Argument::Kind::positional && last != argument.kind) ||
        (argument.kind == Argument::Kind::list && last == argument.kind))
      return wanted("arguments in the order: values, names with values, one list, one dictionary");
    arguments.push_back(std::move(argument));
    if (!skip_sign(",")) break;
  }
  RUNG_CHECK(expect_sign(")"));
  return arguments;
}

Result<Argument> ExpressionParser::read_argument() {
  Argument argument;
  if (skip_sign("*")) {
    argument.kind = Argument::Kind::list;
  } else if (skip_sign("**")) {
    argument.kind = Argument::Kind::dictionary;
  } else if (here().kind == Kind::name && next().is_sign("=")) {
    argument.kind = Argument::Kind::named;
    argument.name = take().spelling;
    take();
  }
  RUNG_TRY(argument.value, read_expression());
  return argument;
}

}  // namespace rung::jinja
