// A template as a tree. Things written in a row stand in a list, so that the tree is as deep as the
// template's brackets and blocks, and not deeper.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/value.hpp"

namespace rung::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;
using Expressions = std::vector<Expression>;

struct Literal {
  Value value;
};
struct Name {
  std::string name;
};
struct Items {
  bool is_tuple = false;
  Expressions of;
};
struct Pair;
struct Pairs {
  std::vector<Pair> of;
};
struct Conditional {
  ExpressionPtr condition, then, otherwise;  // `otherwise` may be null
};
struct Not {
  ExpressionPtr of;
};
struct Signed {
  bool is_negative = false;
  ExpressionPtr of;
};
struct Logic {
  bool is_and = false;
  Expressions of;
};
struct Joined {  // a ~ b
  Expressions of;
};
// first + second - third, from the left; or first < second <= third, of which each pair must hold.
struct Operand;
struct Operations {
  bool compares = false;
  ExpressionPtr first;
  std::vector<Operand> then;
};
// value.name[0]("x")|filter is test: what stands behind a value, in order.
struct Link;
struct Chain {
  ExpressionPtr first;
  std::vector<Link> links;
};

struct Expression {
  int line = 0;
  std::variant<Literal, Name, Items, Pairs, Conditional, Not, Signed, Logic, Joined, Operations, Chain> is;
};

struct Pair {
  Expression key, value;
};

enum class Operator : uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  remainder,
  power,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};
struct Operand {
  Operator op = Operator::add;
  Expression value;
};

struct Argument {
  enum class Kind : uint8_t { positional, named, list, dictionary };  // x, name=x, *x, **x
  Kind kind = Kind::positional;
  std::string name;
  Expression value;
};
struct Attribute {
  std::string name;
};
struct Subscript {
  ExpressionPtr key;
};
struct Slice {
  ExpressionPtr begin, end, step;  // each may be null
};
struct Call {
  std::vector<Argument> arguments;
};
struct Filter {
  std::string name;
  std::vector<Argument> arguments;
};
struct Test {
  bool is_negated = false;
  std::string name;
  std::vector<Argument> arguments;
};
struct Link {
  int line = 0;
  std::variant<Attribute, Subscript, Slice, Call, Filter, Test> is;
};

// A value is given to this: a name, a namespace's field, or several of them.
struct Target {
  int line = 0;
  std::string name, field;
  std::vector<Target> parts;
};

struct Statement;
using Body = std::vector<Statement>;

struct Data {
  std::string text;
};
struct Print {
  Expression value;
};
struct Branch {
  std::optional<Expression> condition;  // none: else
  Body body;
};
struct If {
  std::vector<Branch> branches;
};
struct For {
  Target target;
  Expression items;
  std::optional<Expression> filter;
  bool is_recursive = false;
  Body body, otherwise;
};
struct Set {
  Target target;
  Expression value;
};
struct SetBlock {
  Target target;
  std::vector<Link> filters;
  Body body;
};
struct Parameter {
  std::string name;
  std::optional<Expression> otherwise;
};
struct Macro {
  std::string name;
  std::vector<Parameter> parameters;
  Body body;
  bool takes_varargs = false, takes_kwargs = false, takes_caller = false;  // its body names them
};
struct CallBlock {
  Macro caller;
  Expression call;  // a chain that ends with a call
};
struct FilterBlock {
  std::vector<Link> filters;
  Body body;
};
struct With {
  std::vector<std::pair<Target, Expression>> values;
  Body body;
};
struct Jump {
  bool is_break = false;
};

struct Statement {
  int line = 0;
  std::variant<Data, Print, If, For, Set, SetBlock, Macro, CallBlock, FilterBlock, With, Jump> is;
};

// Reads a template. Errors name the line, what was got and what was wanted.
Result<Body> parse(std::string_view text);

}  // namespace rung::jinja
