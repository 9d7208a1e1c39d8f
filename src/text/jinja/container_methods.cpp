// Methods of lists, tuples, dictionaries and loops.
// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/callable.hpp"

namespace rung::jinja {
namespace {

const Sequence& sequence_of(const Bound& a) { return *a[0].sequence(); }
const Dictionary& dictionary_of(const Bound& a) { return *a[0].dictionary(); }

Result<Value> count_items(Run& run, const Bound& a) {
  int64_t count = 0;
  for (const Value& item : sequence_of(a).of) {
    RUNG_TRY(const bool same, run.equal(item, a[1]));
    count += same ? 1 : 0;
  }
  return Value(count);
}

Result<Value> index_of_item(Run& run, const Bound& a) {
  for (size_t i = 0; i < sequence_of(a).of.size(); ++i) {
    RUNG_TRY(const bool same, run.equal(sequence_of(a).of[i], a[1]));
    if (same) return Value(static_cast<int64_t>(i));
  }
  return a.wrong(1, "an item that stands in it");
}

Result<Value> same_value(Run&, const Bound& a) { return a[0]; }

Result<Value> get_value(Run& run, const Bound& a) {
  RUNG_CHECK(run.spend_steps(1 + dictionary_of(a).of.size() / 64));
  RUNG_CHECK(check_key(a[1]));
  const Value* found = dictionary_of(a).find(a[1]);
  return found ? *found : a[2];
}

template <Sequence::Kind kind>
Result<Value> list_entries(Run& run, const Bound& a) {
  Values listed;
  for (const Entry& entry : dictionary_of(a).of) {
    RUNG_CHECK(run.spend_steps());
    if (kind == Sequence::Kind::items) {
      RUNG_TRY(Value pair, run.sequence({entry.key, entry.value}, Sequence::Kind::tuple));
      listed.push_back(std::move(pair));
    } else {
      listed.push_back(kind == Sequence::Kind::keys ? entry.key : entry.value);
    }
  }
  return run.sequence(std::move(listed), kind);
}

Result<Value> cycle(Run&, const Bound& a) {
  const Values& items = a.further().positional;
  if (items.empty()) return mismatch("'cycle': got no values, wanted at least one");
  return items[a[0].loop()->index % items.size()];
}

Result<Value> has_changed(Run& run, const Bound& a) {
  Values& last = *a[0].loop()->last_changed;
  const Values& now = a.further().positional;
  bool same = last.size() == now.size();
  for (size_t i = 0; same && i < now.size(); ++i) {
    RUNG_TRY(same, run.equal(last[i], now[i]));
  }
  RUNG_TRY(const Value checked, run.sequence(now));
  if (last.empty()) run.keep(a[0].loop()->last_changed);
  if (!same) last = now;
  return Value(!same);
}

constexpr Callable kOfSequences[] = {
    {"count", "self value", count_items},
    {"index", "self value", index_of_item},
    {"copy", "self", same_value},
};
constexpr Callable kOfDictionaries[] = {
    {"get", "self key default?", get_value},
    {"keys", "self", list_entries<Sequence::Kind::keys>},
    {"values", "self", list_entries<Sequence::Kind::values>},
    {"items", "self", list_entries<Sequence::Kind::items>},
    {"copy", "self", same_value},
};
constexpr Callable kOfLoops[] = {
    {"cycle", "self *", cycle},
    {"changed", "self *", has_changed},
};

}  // namespace

Callables methods_of_sequences() { return kOfSequences; }
Callables methods_of_dictionaries() { return kOfDictionaries; }
Callables methods_of_loops() { return kOfLoops; }

}  // namespace rung::jinja
