// Arithmetic of numbers, texts and lists.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/operators.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace rung::jinja {
namespace {

constexpr std::array<const char*, 15> kOperatorSigns{
    "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "in", "not in"};

tl::unexpected<Error> no_operation(Operator op, const Value& a, const Value& b) {
  return mismatch("got {} {} {}, wanted values that this operator takes", kind_of(a),
                  kOperatorSigns[static_cast<size_t>(op)], kind_of(b));
}

tl::unexpected<Error> too_large(Operator op) {
  return mismatch("'{}': got a result beyond 64 bits", kOperatorSigns[static_cast<size_t>(op)]);
}

// Rounds down, as the language does.
int64_t floored(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

Result<Value> power(int64_t base, int64_t exponent) {
  if (exponent < 0) return Value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  int64_t value = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1 && __builtin_mul_overflow(value, base, &value)) return too_large(Operator::power);
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return too_large(Operator::power);
  }
  return Value(value);
}

Result<Value> compute_integers(Operator op, int64_t a, int64_t b) {
  int64_t value = 0;
  const bool divides = op == Operator::divide || op == Operator::floor_divide || op == Operator::remainder;
  if (divides && b == 0) return mismatch("got a division by zero");
  if (divides && b == -1 && a == std::numeric_limits<int64_t>::min()) return too_large(op);
  switch (op) {
    case Operator::add:
      if (__builtin_add_overflow(a, b, &value)) return too_large(op);
      return Value(value);
    case Operator::subtract:
      if (__builtin_sub_overflow(a, b, &value)) return too_large(op);
      return Value(value);
    case Operator::multiply:
      if (__builtin_mul_overflow(a, b, &value)) return too_large(op);
      return Value(value);
    case Operator::divide:
      return Value(static_cast<double>(a) / static_cast<double>(b));
    case Operator::floor_divide:
      return Value(floored(a, b));
    case Operator::remainder:
      return Value(a - floored(a, b) * b);
    default:
      if (a == 0 && b < 0) return mismatch("got a division by zero");
      return power(a, b);
  }
}

// The remainder has the sign of the divisor.
double remainder_of(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Result<Value> compute_reals(Operator op, double a, double b) {
  const bool divides = op == Operator::divide || op == Operator::floor_divide || op == Operator::remainder;
  if (b == 0 && divides) return mismatch("got a division by zero");
  switch (op) {
    case Operator::add:
      return Value(a + b);
    case Operator::subtract:
      return Value(a - b);
    case Operator::multiply:
      return Value(a * b);
    case Operator::divide:
      return Value(a / b);
    case Operator::floor_divide:
      return Value(std::floor((a - remainder_of(a, b)) / b + 0.5));
    case Operator::remainder:
      return Value(remainder_of(a, b));
    default:
      if (a == 0 && b < 0) return mismatch("got a division by zero");
      return Value(std::pow(a, b));
  }
}

Result<Value> joined_sequences(Run& run, const Sequence& a, const Sequence& b) {
  RUNG_CHECK(run.spend_steps(a.of.size() + b.of.size()));
  Values items = a.of;
  items.insert(items.end(), b.of.begin(), b.of.end());
  return run.sequence(std::move(items), a.kind);
}

bool is_repeatable(const Value& value) {
  const Sequence* sequence = value.sequence();
  return value.text() ||
         (sequence && (sequence->kind == Sequence::Kind::list || sequence->kind == Sequence::Kind::tuple));
}

// Counts what is made before it is made.
Result<Value> repeated(Run& run, const Value& value, int64_t times) {
  const size_t count = times > 0 ? static_cast<size_t>(times) : 0;
  const size_t size = value.text() ? value.text()->size() : value.sequence()->of.size();
  if (size > 0 && count > run.limits().bytes / size) return mismatch("got {} copies, wanted fewer", count);
  if (value.text()) {
    std::string text;
    RUNG_CHECK(run.spend_bytes(size * count));
    for (size_t i = 0; size > 0 && i < count; ++i) text += *value.text();
    return Value(std::move(text));
  }
  RUNG_CHECK(run.spend_steps(size * count));
  Values items;
  for (size_t i = 0; size > 0 && i < count; ++i)
    items.insert(items.end(), value.sequence()->of.begin(), value.sequence()->of.end());
  return run.sequence(std::move(items), value.sequence()->kind);
}

// Computes what texts and lists have; none where the kinds do not fit.
Result<std::optional<Value>> compute_containers(Run& run, Operator op, const Value& a, const Value& b) {
  int64_t room = 0;
  if (op == Operator::add && a.text() && b.text()) return run.text(*a.text() + *b.text());
  if (op == Operator::add && is_repeatable(a) && is_repeatable(b) && a.sequence() && b.sequence() &&
      a.sequence()->kind == b.sequence()->kind)
    return joined_sequences(run, *a.sequence(), *b.sequence());
  if (op == Operator::multiply && is_repeatable(a) && as_integer(b, room))
    return repeated(run, a, *as_integer(b, room));
  if (op == Operator::multiply && is_repeatable(b) && as_integer(a, room))
    return repeated(run, b, *as_integer(a, room));
  if (op == Operator::remainder && a.text()) {
    RUNG_TRY(std::string text, formatted(run, *a.text(), b));
    return run.text(std::move(text));
  }
  return std::optional<Value>();
}

Result<bool> is_within(Run& run, const Value& a, const Value& b) {
  if (b.text()) {
    if (!a.text()) return no_operation(Operator::in, a, b);
    RUNG_CHECK(run.spend_search(*b.text(), *a.text()));
    return b.text()->find(*a.text()) != std::string::npos;
  }
  if (b.dictionary()) RUNG_CHECK(check_key(a));
  RUNG_TRY(const auto items, run.items_of(b));
  for (const Value& item : items->of) {
    RUNG_TRY(const bool same, run.equal(item, a));
    if (same) return true;
  }
  return false;
}

Result<bool> is_less_sequence(Run& run, const Sequence& a, const Sequence& b) {
  for (size_t i = 0; i < a.of.size() && i < b.of.size(); ++i) {
    RUNG_TRY(const bool same, run.equal(a.of[i], b.of[i]));
    if (!same) return is_less(run, a.of[i], b.of[i]);
  }
  return a.of.size() < b.of.size();
}

}  // namespace

Status check_defined(const Value& value) {
  const auto* undefined = std::get_if<Undefined>(&value.is);
  if (!undefined) return {};
  return mismatch("{}", *undefined->why);
}

Result<Value> compute(Run& run, Operator op, const Value& a, const Value& b) {
  RUNG_CHECK(check_defined(a));
  int64_t whole_a = 0, whole_b = 0;
  const int64_t *ia = as_integer(a, whole_a), *ib = as_integer(b, whole_b);
  if (ia && ib) return compute_integers(op, *ia, *ib);
  double real_a = 0, real_b = 0;
  const double *ra = as_real(a, real_a), *rb = as_real(b, real_b);
  if (ra && rb) return compute_reals(op, *ra, *rb);
  RUNG_TRY(std::optional<Value> value, compute_containers(run, op, a, b));
  if (value) return std::move(*value);
  RUNG_CHECK(check_defined(b));
  return no_operation(op, a, b);
}

Result<bool> is_less(Run& run, const Value& a, const Value& b) {
  RUNG_CHECK(check_defined(a));
  RUNG_CHECK(check_defined(b));
  RUNG_CHECK(run.spend_steps());
  double real_a = 0, real_b = 0;
  const double *ra = as_real(a, real_a), *rb = as_real(b, real_b);
  if (ra && rb) return *ra < *rb;
  if (a.text() && b.text()) return *a.text() < *b.text();
  if (a.sequence() && b.sequence() && a.sequence()->kind == b.sequence()->kind && is_repeatable(a))
    return is_less_sequence(run, *a.sequence(), *b.sequence());
  return no_operation(Operator::less, a, b);
}

Result<bool> compare(Run& run, Operator op, const Value& a, const Value& b) {
  const auto negated = [](Result<bool> answer) { return answer.map([](bool truth) { return !truth; }); };
  switch (op) {
    case Operator::equal:
      return run.equal(a, b);
    case Operator::not_equal:
      return negated(run.equal(a, b));
    case Operator::less:
      return is_less(run, a, b);
    case Operator::greater:
      return is_less(run, b, a);
    case Operator::less_equal: {
      RUNG_TRY(const bool less, is_less(run, a, b));
      return less ? Result<bool>(true) : run.equal(a, b);
    }
    case Operator::greater_equal: {
      RUNG_TRY(const bool less, is_less(run, b, a));
      return less ? Result<bool>(true) : run.equal(a, b);
    }
    case Operator::in:
      return is_within(run, a, b);
    default:
      return negated(is_within(run, a, b));
  }
}

// Merges runs of twice the length each time. The library's own sort wants an order that cannot fail.
Status sort_by_key(Run& run, std::vector<Keyed>& items, bool reverses) {
  std::vector<Keyed> merged(items.size());
  for (size_t length = 1; length < items.size(); length *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * length) {
      const size_t middle = std::min(begin + length, items.size()), end = std::min(middle + length, items.size());
      size_t left = begin, right = middle;
      for (size_t i = begin; i < end; ++i) {
        bool takes_right = left == middle;
        if (left < middle && right < end) {
          RUNG_TRY(takes_right, reverses ? is_less(run, items[left].key, items[right].key)
                                         : is_less(run, items[right].key, items[left].key));
        }
        merged[i] = std::move(items[takes_right ? right++ : left++]);
      }
    }
    items.swap(merged);
  }
  return {};
}

}  // namespace rung::jinja
