// Renders a template's tree.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/callable.hpp"
#include "text/jinja/run.hpp"
#include "text/jinja/syntax.hpp"

namespace rung::jinja {

class Evaluator {
 public:
  using Variables = Run::Variables;

  Evaluator(Run& run, std::shared_ptr<Variables> globals) : run_(run), variables_(std::move(globals)) {}

  // Renders a body. Errors name the line.
  Result<std::string> render(const Body& body);

 private:
  enum class Flow : uint8_t { next, stop_loop, next_item };

  Result<Value> evaluate(const Expression& expression);
  Result<Value> value_of(const Literal& literal) { return literal.value; }
  Result<Value> value_of(const Name& name);
  Result<Value> value_of(const Items& items);
  Result<Value> value_of(const Pairs& pairs);
  Result<Value> value_of(const Conditional& conditional);
  Result<Value> value_of(const Not& negation);
  Result<Value> value_of(const Signed& number);
  Result<Value> value_of(const Logic& logic);
  Result<Value> value_of(const Joined& joined);
  Result<Value> value_of(const Operations& operations);
  Result<Value> value_of(const Chain& chain);

  Result<Value> follow(const Link& link, const Value& value);
  Result<Value> follow_links(const std::vector<Link>& links, Value value);
  Result<Value> apply(const Attribute& attribute, const Value& value);
  Result<Value> apply(const Subscript& subscript, const Value& value);
  Result<Value> apply(const Slice& slice, const Value& value);
  Result<Value> apply(const Call& call, const Value& value);
  Result<Value> apply(const Filter& filter, const Value& value);
  Result<Value> apply(const Test& test, const Value& value);
  Result<std::optional<int64_t>> bound_of(const ExpressionPtr& bound);
  Result<CallArguments> arguments_of(const std::vector<Argument>& arguments);
  Result<Value> call(const Value& function, CallArguments arguments);

  Result<Flow> execute(const Body& body);
  Result<Flow> run_statement(const Data& data);
  Result<Flow> run_statement(const Print& print);
  Result<Flow> run_statement(const If& statement);
  Result<Flow> run_statement(const For& loop);
  Result<Flow> run_statement(const Set& set);
  Result<Flow> run_statement(const SetBlock& set);
  Result<Flow> run_statement(const Macro& macro);
  Result<Flow> run_statement(const CallBlock& block);
  Result<Flow> run_statement(const FilterBlock& block);
  Result<Flow> run_statement(const With& with);
  Result<Flow> run_statement(const Jump& jump);

  Status loop_over(const For& loop, const Value& items, int level);
  Result<Values> filtered(const For& loop, const Sequence& items);
  Result<Value> macro_value(const Macro& macro);
  Result<Value> call_macro(const Macro& macro, CallArguments arguments);
  Status bind_parameters(const Macro& macro, CallArguments arguments);

  // Renders a body within variables of its own.
  Result<std::string> captured(const Body& body);
  Status put(std::string_view text);
  Status assign(const Target& target, const Value& value);
  void set(std::string_view name, Value value);

  // Variables of their own until the end of a C++ block.
  class Scope {
   public:
    Scope(Evaluator& evaluator, std::shared_ptr<Variables> outer);
    explicit Scope(Evaluator& evaluator) : Scope(evaluator, evaluator.variables_) {}
    ~Scope() { evaluator_.variables_ = std::move(before_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Evaluator& evaluator_;
    std::shared_ptr<Variables> before_;
  };
  // A level of expressions, statements and calls.
  struct Level {
    explicit Level(int& counter) : depth(counter) { ++depth; }
    ~Level() { --depth; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    int& depth;
  };
  Status check_level() const;

  Run& run_;
  std::shared_ptr<Variables> variables_;
  std::string out_;
  int line_ = 1;
  int level_ = 0;
};

}  // namespace rung::jinja
