// Reads statements.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <initializer_list>

#include "text/jinja/expression_parser.hpp"
#include "text/jinja/run.hpp"

namespace rung::jinja {
namespace {

using Kind = Token::Kind;

class Parser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Result<Body> read_template() { return read_body({}); }

 private:
  using Ends = std::initializer_list<std::string_view>;

  // Reads statements up to a tag whose name ends them, which is left with its name here. `ends` is empty for the whole
  // template.
  Result<Body> read_body(Ends ends) {
    const Level level(nesting_);
    RUNG_CHECK(check_nesting());
    Body body;
    for (;;) {
      const Token& token = here();
      if (token.kind == Kind::end) {
        if (ends.size() == 0) return body;
        return wanted(fmt::format("'{}'", fmt::join(ends, "' or '")));
      }
      take();
      if (token.kind == Kind::data) {
        body.push_back({token.line, Data{token.spelling}});
      } else if (token.kind == Kind::print_begin) {
        RUNG_TRY(Expression value, read_tuple({}));
        if (take().kind != Kind::print_end) return wanted_before("the end '}}' of the tag");
        body.push_back({token.line, Print{std::move(value)}});
      } else {
        if (std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return here().is_name(end); }))
          return body;
        RUNG_TRY(Statement statement, read_statement());
        body.push_back(std::move(statement));
        RUNG_CHECK(expect_tag_end());
      }
    }
  }

  tl::unexpected<Error> wanted_before(std::string_view what) {
    if (at_ > 0 && here().kind != Kind::end) --at_;
    return wanted(what);
  }
  Status expect_tag_end() {
    if (here().kind != Kind::tag_end) return wanted("the end '%}' of the tag");
    take();
    return {};
  }

  // Reads the body of a statement, with the end of its first tag, and the name that ends it.
  Result<Body> read_block(std::string_view end) {
    skip_sign(":");
    RUNG_CHECK(expect_tag_end());
    RUNG_TRY(Body body, read_body({end}));
    take();
    return body;
  }

  Result<Statement> read_statement() {
    const int line = here().line;
    RUNG_TRY(const std::string name, expect_any_name("a statement's name"));
    for (const Row& row : kStatements) {
      if (row.name != name) continue;
      RUNG_TRY(Statement statement, (this->*row.read)());
      statement.line = line;
      return statement;
    }
    if (at_ > 0) --at_;
    std::vector<std::string_view> known;
    for (const Row& row : kStatements) known.push_back(row.name);
    return wanted(fmt::format("a statement: {}", fmt::join(known, ", ")));
  }

  Result<Statement> read_if() {
    If statement;
    for (;;) {
      RUNG_TRY(Expression condition, read_tuple({.allows_if = false}));
      skip_sign(":");
      RUNG_CHECK(expect_tag_end());
      RUNG_TRY(Body body, read_body({"elif", "else", "endif"}));
      statement.branches.push_back({std::move(condition), std::move(body)});
      const std::string& end = take().spelling;
      if (end == "endif") break;
      if (end == "elif") continue;
      RUNG_TRY(Body otherwise, read_block("endif"));
      statement.branches.push_back({std::nullopt, std::move(otherwise)});
      break;
    }
    return Statement{0, std::move(statement)};
  }

  Result<Statement> read_for() {
    For loop;
    RUNG_TRY(loop.target, read_target(/*allows_field=*/false, "in"));
    if (!skip_name("in")) return wanted("'in'");
    RUNG_TRY(loop.items, read_tuple({.allows_if = false, .ends_before = "recursive"}));
    if (skip_name("if")) {
      RUNG_TRY(loop.filter, read_expression());
    }
    loop.is_recursive = skip_name("recursive");
    skip_sign(":");
    RUNG_CHECK(expect_tag_end());
    ++loops_;
    auto body = read_body({"endfor", "else"});
    --loops_;
    if (!body) return tl::unexpected(body.error());
    loop.body = std::move(*body);
    if (take().spelling == "else") {
      RUNG_TRY(loop.otherwise, read_block("endfor"));
    }
    return Statement{0, std::move(loop)};
  }

  Result<Statement> read_set() {
    RUNG_TRY(Target target, read_target(/*allows_field=*/true, {}));
    if (skip_sign("=")) {
      RUNG_TRY(Expression value, read_tuple({}));
      return Statement{0, Set{std::move(target), std::move(value)}};
    }
    SetBlock set{.target = std::move(target)};
    RUNG_TRY(set.filters, read_filters());
    RUNG_TRY(set.body, read_block("endset"));
    return Statement{0, std::move(set)};
  }

  // Reads one name, or several with commas between them.
  Result<Target> read_target(bool allows_field, std::string_view ends_before) {
    RUNG_TRY(Target first, read_one_target(allows_field));
    if (!here().is_sign(",")) return first;
    Target all{.line = first.line};
    all.parts.push_back(std::move(first));
    while (skip_sign(",")) {
      if (here().is_sign("=") || here().is_sign(")") || here().kind == Kind::tag_end ||
          (!ends_before.empty() && here().is_name(ends_before)))
        break;
      RUNG_TRY(Target part, read_one_target(allows_field));
      all.parts.push_back(std::move(part));
    }
    return all;
  }

  Result<Target> read_one_target(bool allows_field) {
    const Level level(nesting_);
    RUNG_CHECK(check_nesting());
    const int line = here().line;
    if (skip_sign("(")) {
      RUNG_TRY(Target inner, read_target(allows_field, {}));
      RUNG_CHECK(expect_sign(")"));
      return inner;
    }
    Target target{.line = line};
    RUNG_TRY(target.name, expect_any_name("a name to set"));
    for (const char* constant : {"true", "True", "false", "False", "none", "None", "loop"})
      if (target.name == constant) return wanted_before("a name that may be set");
    if (allows_field && skip_sign(".")) {
      RUNG_TRY(target.field, expect_any_name("a field's name"));
    }
    return target;
  }

  Result<Statement> read_macro() {
    Macro macro;
    RUNG_TRY(macro.name, expect_any_name("a macro's name"));
    RUNG_TRY(macro.parameters, read_parameters());
    RUNG_CHECK(read_macro_body("endmacro", macro));
    return Statement{0, std::move(macro)};
  }

  // A loop around a macro is none of its own.
  Status read_macro_body(std::string_view end, Macro& macro) {
    const size_t first_name = names_.size();
    const int loops = std::exchange(loops_, 0);
    auto body = read_block(end);
    loops_ = loops;
    if (!body) return tl::unexpected(body.error());
    macro.body = std::move(*body);
    const auto names = [&](const char* name) {
      return std::find(names_.begin() + static_cast<std::ptrdiff_t>(first_name), names_.end(), name) != names_.end();
    };
    macro.takes_varargs = names("varargs");
    macro.takes_kwargs = names("kwargs");
    macro.takes_caller = names("caller");
    return {};
  }

  Result<std::vector<Parameter>> read_parameters() {
    RUNG_CHECK(expect_sign("("));
    std::vector<Parameter> parameters;
    while (!here().is_sign(")")) {
      Parameter parameter;
      RUNG_TRY(parameter.name, expect_any_name("a parameter's name"));
      if (skip_sign("=")) {
        RUNG_TRY(parameter.otherwise, read_expression());
      } else if (!parameters.empty() && parameters.back().otherwise) {
        return wanted("a default, as the parameters before have one");
      }
      parameters.push_back(std::move(parameter));
      if (!skip_sign(",")) break;
    }
    RUNG_CHECK(expect_sign(")"));
    return parameters;
  }

  Result<Statement> read_call_block() {
    CallBlock block{.caller = {.name = "caller"}};
    if (here().is_sign("(")) {
      RUNG_TRY(block.caller.parameters, read_parameters());
    }
    RUNG_TRY(block.call, read_expression());
    const auto* chain = std::get_if<Chain>(&block.call.is);
    if (!chain || !std::holds_alternative<Call>(chain->links.back().is)) return wanted("a call behind 'call'");
    RUNG_CHECK(read_macro_body("endcall", block.caller));
    return Statement{0, std::move(block)};
  }

  Result<Statement> read_filter_block() {
    FilterBlock block;
    RUNG_TRY(Link first, read_filter());
    RUNG_TRY(block.filters, read_filters());
    block.filters.insert(block.filters.begin(), std::move(first));
    RUNG_TRY(block.body, read_block("endfilter"));
    return Statement{0, std::move(block)};
  }

  Result<Statement> read_with() {
    With with;
    while (here().kind != Kind::tag_end) {
      if (!with.values.empty()) RUNG_CHECK(expect_sign(","));
      RUNG_TRY(Target target, read_one_target(/*allows_field=*/false));
      RUNG_CHECK(expect_sign("="));
      RUNG_TRY(Expression value, read_expression());
      with.values.emplace_back(std::move(target), std::move(value));
    }
    RUNG_TRY(with.body, read_block("endwith"));
    return Statement{0, std::move(with)};
  }

  // Training asks which text is the model's; a prompt only has it.
  Result<Statement> read_generation() {
    With with;
    RUNG_TRY(with.body, read_block("endgeneration"));
    return Statement{0, std::move(with)};
  }

  Result<Statement> read_jump() {
    if (loops_ == 0) return wanted_before("'break' and 'continue' within a loop");
    return Statement{0, Jump{.is_break = tokens_[at_ - 1].spelling == "break"}};
  }

  struct Row {
    std::string_view name;
    Result<Statement> (Parser::*read)();
  };
  static const std::array<Row, 10> kStatements;

  int loops_ = 0;  // around what is read
};

const std::array<Parser::Row, 10> Parser::kStatements{{
    {"if", &Parser::read_if},
    {"for", &Parser::read_for},
    {"set", &Parser::read_set},
    {"macro", &Parser::read_macro},
    {"call", &Parser::read_call_block},
    {"filter", &Parser::read_filter_block},
    {"with", &Parser::read_with},
    {"generation", &Parser::read_generation},
    {"break", &Parser::read_jump},
    {"continue", &Parser::read_jump},
}};

}  // namespace

Result<Body> parse(std::string_view text) {
  if (text.size() > kMostTemplateBytes)
    return bad_file("got a template of {} bytes, wanted at most {}", text.size(), kMostTemplateBytes);
  RUNG_TRY(std::vector<Token> tokens, read_tokens(text));
  return Parser(std::move(tokens)).read_template();
}

}  // namespace rung::jinja
