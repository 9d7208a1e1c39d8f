// Evaluates expressions.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "text/jinja/evaluator.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/python_text.hpp"
#include "text/jinja/subscripts.hpp"

namespace rung::jinja {

Result<Value> Evaluator::evaluate(const Expression& expression) {
  const Level level(level_);
  RUNG_CHECK(check_level());
  RUNG_CHECK(run_.spend_steps());
  line_ = expression.line;
  return std::visit([&](const auto& is) { return value_of(is); }, expression.is);
}

Result<Value> Evaluator::value_of(const Name& name) {
  for (const Variables* scope = variables_.get(); scope; scope = scope->outer.get()) {
    RUNG_CHECK(run_.spend_steps(scope->of.size() / 64));
    for (const auto& [known, value] : scope->of)
      if (known == name.name) return value;
  }
  if (const Callable* function = find(functions(), name.name)) return function_of(*function);
  return Value::undefined(fmt::format("'{}' is undefined", name.name));
}

Result<Value> Evaluator::value_of(const Items& items) {
  Values values;
  for (const Expression& item : items.of) {
    RUNG_TRY(Value value, evaluate(item));
    values.push_back(std::move(value));
  }
  return run_.sequence(std::move(values), items.is_tuple ? Sequence::Kind::tuple : Sequence::Kind::list);
}

Result<Value> Evaluator::value_of(const Pairs& pairs) {
  std::vector<Entry> entries;
  for (const Pair& pair : pairs.of) {
    RUNG_TRY(Value key, evaluate(pair.key));
    RUNG_CHECK(check_key(key));
    RUNG_TRY(Value value, evaluate(pair.value));
    entries.push_back({std::move(key), std::move(value)});
  }
  return run_.dictionary(std::move(entries));
}

Result<Value> Evaluator::value_of(const Conditional& conditional) {
  RUNG_TRY(const Value condition, evaluate(*conditional.condition));
  if (is_true(condition)) return evaluate(*conditional.then);
  if (conditional.otherwise) return evaluate(*conditional.otherwise);
  return Value::undefined("the condition of an expression without 'else' is false");
}

Result<Value> Evaluator::value_of(const Not& negation) {
  RUNG_TRY(const Value value, evaluate(*negation.of));
  return Value(!is_true(value));
}

Result<Value> Evaluator::value_of(const Signed& number) {
  RUNG_TRY(const Value value, evaluate(*number.of));
  RUNG_CHECK(check_defined(value));
  int64_t room = 0;
  if (as_integer(value, room))
    return compute(run_, number.is_negative ? Operator::subtract : Operator::add, int64_t{0}, value);
  if (!value.real()) return mismatch("got a sign before {}, wanted a number", kind_of(value));
  return Value(number.is_negative ? -*value.real() : *value.real());
}

// The value is that of the operand which decides.
Result<Value> Evaluator::value_of(const Logic& logic) {
  Value value;
  for (const Expression& operand : logic.of) {
    RUNG_TRY(value, evaluate(operand));
    if (is_true(value) != logic.is_and) break;
  }
  return value;
}

Result<Value> Evaluator::value_of(const Joined& joined) {
  std::string text;
  for (const Expression& part : joined.of) {
    RUNG_TRY(const Value value, evaluate(part));
    RUNG_TRY(const std::string more, text_of(run_, value));
    text += more;
  }
  return Value(std::move(text));
}

Result<Value> Evaluator::value_of(const Operations& operations) {
  RUNG_TRY(Value left, evaluate(*operations.first));
  for (const Operand& operand : operations.then) {
    const int line = line_;
    RUNG_TRY(Value right, evaluate(operand.value));
    line_ = line;
    if (!operations.compares) {
      RUNG_TRY(left, compute(run_, operand.op, left, right));
      continue;
    }
    RUNG_TRY(const bool holds, compare(run_, operand.op, left, right));
    if (!holds) return Value(false);
    left = std::move(right);
  }
  return operations.compares ? Value(true) : left;
}

Result<Value> Evaluator::value_of(const Chain& chain) {
  RUNG_TRY(Value value, evaluate(*chain.first));
  return follow_links(chain.links, std::move(value));
}

Result<Value> Evaluator::follow_links(const std::vector<Link>& links, Value value) {
  for (const Link& link : links) {
    RUNG_CHECK(run_.spend_steps());
    line_ = link.line;
    RUNG_TRY(value, std::visit([&](const auto& is) { return apply(is, value); }, link.is));
  }
  return value;
}

Result<Value> Evaluator::apply(const Attribute& attribute, const Value& value) {
  return attribute_of(run_, value, attribute.name);
}

Result<Value> Evaluator::apply(const Subscript& subscript, const Value& value) {
  RUNG_TRY(const Value key, evaluate(*subscript.key));
  return item_of(run_, value, key);
}

Result<std::optional<int64_t>> Evaluator::bound_of(const ExpressionPtr& bound) {
  if (!bound) return std::nullopt;
  RUNG_TRY(const Value value, evaluate(*bound));
  if (value.is_none()) return std::nullopt;
  RUNG_CHECK(check_defined(value));
  int64_t room = 0;
  const int64_t* integer = as_integer(value, room);
  if (!integer) return mismatch("got {} as a slice's bound, wanted an integer", kind_of(value));
  return *integer;
}

Result<Value> Evaluator::apply(const Slice& slice, const Value& value) {
  Bounds bounds;
  RUNG_TRY(bounds.begin, bound_of(slice.begin));
  RUNG_TRY(bounds.end, bound_of(slice.end));
  RUNG_TRY(bounds.step, bound_of(slice.step));
  return slice_of(run_, value, bounds);
}

Result<CallArguments> Evaluator::arguments_of(const std::vector<Argument>& arguments) {
  CallArguments out;
  for (const Argument& argument : arguments) {
    RUNG_TRY(Value value, evaluate(argument.value));
    if (argument.kind == Argument::Kind::positional) {
      out.positional.push_back(std::move(value));
    } else if (argument.kind == Argument::Kind::named) {
      out.named.emplace_back(argument.name, std::move(value));
    } else if (argument.kind == Argument::Kind::list) {
      RUNG_TRY(const auto items, run_.items_of(value));
      out.positional.insert(out.positional.end(), items->of.begin(), items->of.end());
    } else {
      if (!value.dictionary()) return mismatch("got {} behind '**', wanted a dictionary", kind_of(value));
      for (const Entry& entry : value.dictionary()->of) {
        if (!entry.key.text()) return mismatch("got {} as an argument's name, wanted a text", kind_of(entry.key));
        out.named.emplace_back(*entry.key.text(), entry.value);
      }
    }
  }
  RUNG_CHECK(run_.spend_steps(out.positional.size() + out.named.size()));
  return out;
}

Result<Value> Evaluator::call(const Value& function, CallArguments arguments) {
  RUNG_CHECK(check_defined(function));
  const Function* called = function.loop() ? function.loop()->again.get() : function.function();
  if (!called && function.loop()) return mismatch("got a call of 'loop', wanted a loop that is 'recursive'");
  if (!called) return mismatch("got {} to call, wanted a function, a macro or a method", kind_of(function));
  const Level level(level_);
  RUNG_CHECK(check_level());
  return called->call(run_, std::move(arguments));
}

Result<Value> Evaluator::apply(const Call& called, const Value& value) {
  const int line = line_;
  RUNG_TRY(CallArguments arguments, arguments_of(called.arguments));
  line_ = line;
  return call(value, std::move(arguments));
}

Result<Value> Evaluator::apply(const Filter& filter, const Value& value) {
  const int line = line_;
  RUNG_TRY(CallArguments arguments, arguments_of(filter.arguments));
  line_ = line;
  arguments.positional.insert(arguments.positional.begin(), value);
  return call_filter(run_, filter.name, std::move(arguments));
}

Result<Value> Evaluator::apply(const Test& test, const Value& value) {
  const int line = line_;
  RUNG_TRY(CallArguments arguments, arguments_of(test.arguments));
  line_ = line;
  arguments.positional.insert(arguments.positional.begin(), value);
  RUNG_TRY(const bool holds, call_test(run_, test.name, std::move(arguments)));
  return Value(holds != test.is_negated);
}

}  // namespace rung::jinja
