// Executes statements.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/evaluator.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/python_text.hpp"

namespace rung::jinja {

Evaluator::Scope::Scope(Evaluator& evaluator, std::shared_ptr<Variables> outer)
    : evaluator_(evaluator), before_(std::move(evaluator.variables_)) {
  evaluator_.variables_ = std::make_shared<Variables>();
  evaluator_.variables_->outer = outer ? std::move(outer) : before_;
}

Result<std::string> Evaluator::render(const Body& body) {
  auto done = execute(body);
  if (!done) return fail_in(done.error(), "line {}", line_);
  return std::move(out_);
}

Status Evaluator::check_level() const {
  if (level_ <= kMostLevels) return {};
  return mismatch("got more than {} levels of statements, calls and brackets", kMostLevels);
}

Status Evaluator::put(std::string_view text) {
  if (out_.size() + text.size() > run_.limits().output)
    return mismatch("got a text of more than {} bytes", run_.limits().output);
  RUNG_CHECK(run_.spend_bytes(text.size()));
  out_ += text;
  return {};
}

void Evaluator::set(std::string_view name, Value value) {
  for (auto& [known, held] : variables_->of) {
    if (known != name) continue;
    held = std::move(value);
    return;
  }
  variables_->of.emplace_back(name, std::move(value));
}

Status Evaluator::assign(const Target& target, const Value& value) {
  if (!target.parts.empty()) {
    RUNG_TRY(const auto items, run_.items_of(value));
    if (items->of.size() != target.parts.size())
      return mismatch("got {} values for {} names", items->of.size(), target.parts.size());
    for (size_t i = 0; i < target.parts.size(); ++i) RUNG_CHECK(assign(target.parts[i], items->of[i]));
    return {};
  }
  if (target.field.empty()) {
    RUNG_CHECK(run_.spend_steps(variables_->of.size() / 64));
    set(target.name, value);
    return {};
  }
  RUNG_TRY(const Value holder, value_of(Name{target.name}));
  Namespace* fields = holder.name_space();
  if (!fields) return mismatch("got the field '{}' of {}, wanted a namespace", target.field, kind_of(holder));
  if (target.field.starts_with('_'))
    return mismatch("got the field '{}', wanted a name without '_' before it", target.field);
  RUNG_CHECK(run_.spend_steps(fields->fields.size() / 64));
  if (Value* known = fields->find(target.field))
    *known = value;
  else
    fields->fields.emplace_back(target.field, value);
  return {};
}

Result<Evaluator::Flow> Evaluator::execute(const Body& body) {
  const Level level(level_);
  RUNG_CHECK(check_level());
  for (const Statement& statement : body) {
    RUNG_CHECK(run_.spend_steps());
    line_ = statement.line;
    RUNG_TRY(const Flow flow, std::visit([&](const auto& is) { return run_statement(is); }, statement.is));
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Result<Evaluator::Flow> Evaluator::run_statement(const Data& data) {
  RUNG_CHECK(put(data.text));
  return Flow::next;
}

Result<Evaluator::Flow> Evaluator::run_statement(const Print& print) {
  RUNG_TRY(const Value value, evaluate(print.value));
  RUNG_TRY(const std::string text, text_of(run_, value));
  RUNG_CHECK(put(text));
  return Flow::next;
}

Result<Evaluator::Flow> Evaluator::run_statement(const If& statement) {
  for (const Branch& branch : statement.branches) {
    if (branch.condition) {
      RUNG_TRY(const Value condition, evaluate(*branch.condition));
      if (!is_true(condition)) continue;
    }
    return execute(branch.body);
  }
  return Flow::next;
}

// Returns the items that a loop's own condition keeps.
Result<Values> Evaluator::filtered(const For& loop, const Sequence& items) {
  if (!loop.filter) return items.of;
  Values kept;
  for (const Value& item : items.of) {
    const Scope scope(*this);
    RUNG_CHECK(assign(loop.target, item));
    RUNG_TRY(const Value keeps, evaluate(*loop.filter));
    if (is_true(keeps)) kept.push_back(item);
  }
  return kept;
}

// Each pass has variables of its own, so that what it sets is gone in the next one.
Status Evaluator::loop_over(const For& loop, const Value& over, int level) {
  RUNG_TRY(const auto all, run_.items_of(over));
  RUNG_TRY(Values kept, filtered(loop, *all));
  RUNG_TRY(const Value items, run_.sequence(std::move(kept)));
  Loop state{.items = std::get<std::shared_ptr<const Sequence>>(items.is), .level = level};
  state.last_changed = std::make_shared<Values>();
  if (loop.is_recursive) {
    auto again = std::make_shared<Function>(Function{.name = "loop"});
    again->call = [this, &loop, level](Run& run, CallArguments arguments) -> Result<Value> {
      if (arguments.positional.size() != 1)
        return mismatch("'loop': got {} arguments, wanted 1", arguments.positional.size());
      std::string before = std::exchange(out_, std::string());
      auto done = loop_over(loop, arguments.positional[0], level + 1);
      std::string text = std::exchange(out_, std::move(before));
      RUNG_CHECK(done);
      return run.text(std::move(text));
    };
    state.again = std::move(again);
  }
  bool has_ended = false;  // a pass got to its end, without a jump
  for (; state.index < state.items->of.size(); ++state.index) {
    RUNG_CHECK(run_.spend_steps());
    const Scope scope(*this);
    set("loop", Value(std::make_shared<const Loop>(state)));
    RUNG_CHECK(assign(loop.target, state.items->of[state.index]));
    RUNG_TRY(const Flow flow, execute(loop.body));
    if (flow == Flow::stop_loop) break;
    has_ended |= flow == Flow::next;
  }
  if (has_ended) return {};
  const Scope scope(*this);
  return execute(loop.otherwise).map([](Flow) {});
}

Result<Evaluator::Flow> Evaluator::run_statement(const For& loop) {
  RUNG_TRY(const Value items, evaluate(loop.items));
  RUNG_CHECK(loop_over(loop, items, 0));
  return Flow::next;
}

Result<Evaluator::Flow> Evaluator::run_statement(const Set& statement) {
  RUNG_TRY(const Value value, evaluate(statement.value));
  RUNG_CHECK(assign(statement.target, value));
  return Flow::next;
}

Result<std::string> Evaluator::captured(const Body& body) {
  std::string before = std::exchange(out_, std::string());
  const Scope scope(*this);
  auto flow = execute(body);
  std::string text = std::exchange(out_, std::move(before));
  RUNG_CHECK(flow);
  return text;
}

Result<Evaluator::Flow> Evaluator::run_statement(const SetBlock& statement) {
  RUNG_TRY(std::string text, captured(statement.body));
  RUNG_TRY(const Value value, follow_links(statement.filters, Value(std::move(text))));
  RUNG_CHECK(assign(statement.target, value));
  return Flow::next;
}

Result<Evaluator::Flow> Evaluator::run_statement(const FilterBlock& block) {
  RUNG_TRY(std::string text, captured(block.body));
  RUNG_TRY(const Value value, follow_links(block.filters, Value(std::move(text))));
  RUNG_TRY(const std::string filtered, text_of(run_, value));
  RUNG_CHECK(put(filtered));
  return Flow::next;
}

Result<Evaluator::Flow> Evaluator::run_statement(const With& with) {
  Values values;
  for (const auto& [target, expression] : with.values) {
    RUNG_TRY(Value value, evaluate(expression));
    values.push_back(std::move(value));
  }
  const Scope scope(*this);
  for (size_t i = 0; i < values.size(); ++i) RUNG_CHECK(assign(with.values[i].first, values[i]));
  return execute(with.body);
}

Result<Evaluator::Flow> Evaluator::run_statement(const Jump& jump) {
  return jump.is_break ? Flow::stop_loop : Flow::next_item;
}

// A macro sees the variables around it as they are when it is called.
Result<Value> Evaluator::macro_value(const Macro& macro) {
  RUNG_CHECK(run_.spend_bytes(sizeof(Function) + sizeof(Variables)));
  run_.keep(variables_);
  auto function = std::make_shared<Function>(Function{.name = macro.name});
  function->call = [this, &macro, outer = variables_](Run&, CallArguments arguments) {
    const Scope scope(*this, outer);
    return call_macro(macro, std::move(arguments));
  };
  return Value(std::shared_ptr<const Function>(std::move(function)));
}

Result<Evaluator::Flow> Evaluator::run_statement(const Macro& macro) {
  RUNG_TRY(Value value, macro_value(macro));
  set(macro.name, std::move(value));
  return Flow::next;
}

Result<Evaluator::Flow> Evaluator::run_statement(const CallBlock& block) {
  const auto& chain = std::get<Chain>(block.call.is);
  RUNG_TRY(Value function, evaluate(*chain.first));
  for (size_t i = 0; i + 1 < chain.links.size(); ++i) {
    line_ = chain.links[i].line;
    RUNG_TRY(function, std::visit([&](const auto& is) { return apply(is, function); }, chain.links[i].is));
  }
  RUNG_TRY(CallArguments arguments, arguments_of(std::get<Call>(chain.links.back().is).arguments));
  RUNG_TRY(Value caller, macro_value(block.caller));
  arguments.named.emplace_back("caller", std::move(caller));
  RUNG_TRY(const Value value, call(function, std::move(arguments)));
  RUNG_TRY(const std::string text, text_of(run_, value));
  RUNG_CHECK(put(text));
  return Flow::next;
}

// Sets the parameters, in order, so that a default may name those before it.
Status Evaluator::bind_parameters(const Macro& macro, CallArguments arguments) {
  Values& values = arguments.positional;
  const auto take_named = [&](std::string_view name) -> std::optional<Value> {
    const auto found = std::find_if(arguments.named.begin(), arguments.named.end(),
                                    [&](const auto& argument) { return argument.first == name; });
    if (found == arguments.named.end()) return std::nullopt;
    Value value = std::move(found->second);
    arguments.named.erase(found);
    return value;
  };
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    std::optional<Value> value = i < values.size() ? std::optional(values[i]) : take_named(parameter.name);
    if (!value && parameter.otherwise) {
      RUNG_TRY(value, evaluate(*parameter.otherwise));
    }
    set(parameter.name,
        value ? std::move(*value) : Value::undefined(fmt::format("the parameter '{}' was not given", parameter.name)));
  }
  if (macro.takes_caller) {
    auto caller = take_named("caller");
    set("caller", caller ? std::move(*caller) : Value::undefined("there is no caller"));
  }
  if (macro.takes_kwargs) {
    std::vector<Entry> entries;
    for (auto& [name, value] : arguments.named) entries.push_back({Value(name), std::move(value)});
    RUNG_TRY(Value kwargs, run_.dictionary(std::move(entries)));
    set("kwargs", std::move(kwargs));
  } else if (!arguments.named.empty()) {
    return mismatch("'{}': got the argument '{}', wanted one of its parameters", macro.name, arguments.named[0].first);
  }
  const size_t placed = std::min(values.size(), macro.parameters.size());
  if (!macro.takes_varargs && values.size() > placed)
    return mismatch("'{}': got {} arguments, wanted at most {}", macro.name, values.size(), placed);
  if (!macro.takes_varargs) return {};
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(placed));
  RUNG_TRY(Value varargs, run_.sequence(std::move(values), Sequence::Kind::tuple));
  set("varargs", std::move(varargs));
  return {};
}

Result<Value> Evaluator::call_macro(const Macro& macro, CallArguments arguments) {
  RUNG_CHECK(bind_parameters(macro, std::move(arguments)));
  std::string before = std::exchange(out_, std::string());
  auto flow = execute(macro.body);
  std::string text = std::exchange(out_, std::move(before));
  RUNG_CHECK(flow);
  return Value(std::move(text));
}

}  // namespace rung::jinja
