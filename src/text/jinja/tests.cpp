// Tests: what may stand behind 'is'.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "text/jinja/callable.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/python_text.hpp"
#include "text/jinja/syntax.hpp"
#include "text/jinja/text_work.hpp"

namespace rung::jinja {
namespace {

template <bool (*holds)(const Value&)>
Result<Value> test(Run&, const Bound& a) {
  return Value(holds(a[0]));
}

bool defined(const Value& value) { return !value.is_undefined(); }
bool undefined(const Value& value) { return value.is_undefined(); }
bool none(const Value& value) { return value.is_none(); }
bool boolean(const Value& value) { return value.truth() != nullptr; }
bool true_itself(const Value& value) { return value.truth() && *value.truth(); }
bool false_itself(const Value& value) { return value.truth() && !*value.truth(); }
bool integer(const Value& value) { return value.integer() != nullptr; }
bool real(const Value& value) { return value.real() != nullptr; }
bool number(const Value& value) { return value.truth() || value.integer() || value.real(); }
bool text(const Value& value) { return value.text() != nullptr; }
bool mapping(const Value& value) { return value.dictionary() != nullptr; }
bool nothing(const Value&) { return false; }

// An undefined value counts as an empty sequence.
bool sequence(const Value& value) {
  return value.text() || value.dictionary() || value.is_undefined() ||
         (value.sequence() && value.sequence()->kind <= Sequence::Kind::range);
}
bool iterable(const Value& value) {
  return value.text() || value.dictionary() || value.is_undefined() || value.sequence() || value.loop();
}
bool callable(const Value& value) { return value.function() || value.loop() || value.is_undefined(); }

// Returns whether the remainder of a division is as wanted.
Result<Value> leaves(Run& run, const Value& value, const Value& divisor, int64_t wanted) {
  RUNG_TRY(const Value rest, compute(run, Operator::remainder, value, divisor));
  return Value(is_equal(rest, wanted));
}

Result<Value> divisible(Run& run, const Bound& a) { return leaves(run, a[0], a[1], 0); }
Result<Value> even(Run& run, const Bound& a) { return leaves(run, a[0], int64_t{2}, 0); }
Result<Value> odd(Run& run, const Bound& a) { return leaves(run, a[0], int64_t{2}, 1); }

template <Operator op>
Result<Value> comparison(Run& run, const Bound& a) {
  RUNG_TRY(const bool holds, compare(run, op, a[0], a[1]));
  return Value(holds);
}

template <bool (*is_of_case)(CodePoint)>
Result<Value> cased(Run& run, const Bound& a) {
  RUNG_TRY(const std::string of, text_of(run, a[0]));
  return all_cased(run, of, is_of_case);
}

// Numbers and truths are the same if they are equal and of one kind; containers, if they are one and the same.
Result<Value> same(Run&, const Bound& a) {
  if (a[0].is.index() != a[1].is.index()) return Value(false);
  if (a[0].sequence()) return Value(a[0].sequence() == a[1].sequence());
  if (a[0].dictionary()) return Value(a[0].dictionary() == a[1].dictionary());
  return Value(is_equal(a[0], a[1]));
}

// Returns whether a value is a name of some table.
Result<Value> is_in(const Value& value, std::initializer_list<Callables> tables) {
  RUNG_CHECK(check_key(value));
  const auto has = [&](Callables table) { return value.text() && find(table, *value.text()); };
  return Value(std::any_of(tables.begin(), tables.end(), has));
}

Result<Value> is_filter(Run&, const Bound& a) { return is_in(a[0], {filters(), filters_of_sequences()}); }
Result<Value> is_test(Run&, const Bound& a) { return is_in(a[0], {tests()}); }

constexpr Callable kTests[] = {
    {"boolean", "value", test<boolean>},
    {"callable", "value", test<callable>},
    {"defined", "value", test<defined>},
    {"divisibleby", "value num", divisible},
    {"eq", "value other", comparison<Operator::equal>},
    {"==", "value other", comparison<Operator::equal>},
    {"equalto", "value other", comparison<Operator::equal>},
    {"escaped", "value", test<nothing>},
    {"even", "value", even},
    {"false", "value", test<false_itself>},
    {"filter", "value", is_filter},
    {"float", "value", test<real>},
    {"ge", "value other", comparison<Operator::greater_equal>},
    {">=", "value other", comparison<Operator::greater_equal>},
    {"gt", "value other", comparison<Operator::greater>},
    {">", "value other", comparison<Operator::greater>},
    {"greaterthan", "value other", comparison<Operator::greater>},
    {"in", "value seq", comparison<Operator::in>},
    {"integer", "value", test<integer>},
    {"iterable", "value", test<iterable>},
    {"le", "value other", comparison<Operator::less_equal>},
    {"<=", "value other", comparison<Operator::less_equal>},
    {"lessthan", "value other", comparison<Operator::less>},
    {"lt", "value other", comparison<Operator::less>},
    {"<", "value other", comparison<Operator::less>},
    {"lower", "value", cased<is_lower>},
    {"mapping", "value", test<mapping>},
    {"ne", "value other", comparison<Operator::not_equal>},
    {"!=", "value other", comparison<Operator::not_equal>},
    {"none", "value", test<none>},
    {"number", "value", test<number>},
    {"odd", "value", odd},
    {"sameas", "value other", same},
    {"sequence", "value", test<sequence>},
    {"string", "value", test<text>},
    {"test", "value", is_test},
    {"true", "value", test<true_itself>},
    {"undefined", "value", test<undefined>},
    {"upper", "value", cased<is_upper>},
};

}  // namespace

Callables tests() { return kTests; }

}  // namespace rung::jinja
