// Until names are applied, the highest bit marks a place, not the number of a text in the pool.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/database_names.hpp"

#include "trace/recording/cuda_names.hpp"

namespace rung::trace {
namespace {

constexpr uint32_t kLater = uint32_t{1} << 31;
constexpr size_t kMostNames = 1'000'000;
constexpr std::string_view kNoName = "(no name)";

}  // namespace

uint32_t DatabaseNames::later(std::optional<int64_t> string, EventKind kind) {
  if (!string) return kLater;
  const auto known = places_.find(*string);
  if (known != places_.end()) return kLater | known->second;
  if (names_.size() == kMostNames) return kLater;
  const auto place = static_cast<uint32_t>(names_.size());
  names_.push_back({0, kind == EventKind::runtime_call});
  places_.emplace(*string, place);
  return kLater | place;
}

Status DatabaseNames::read(SqliteRows& rows, RecordingBuilder& builder) {
  for (;;) {
    RUNG_TRY(const bool more, rows.next());
    if (!more) return {};
    const auto id = rows.integer(0);
    const auto place = id ? places_.find(*id) : places_.end();
    if (place == places_.end()) continue;
    Name& name = names_[place->second];
    name.text = builder.text(name.of_call ? call_name(rows.text(1)) : rows.text(1));
  }
}

void DatabaseNames::apply(RecordingBuilder& builder, size_t first) const {
  auto& events = builder.events();
  const uint32_t none = builder.text(kNoName);
  for (size_t i = first; i < events.size(); ++i) {
    if ((events[i].name & kLater) == 0) continue;
    const uint32_t text = names_[events[i].name & ~kLater].text;
    events[i].name = text != 0 ? text : none;
  }
}

}  // namespace rung::trace
