// Until then the highest bit says that the rest is a place, not a text of the pool.
// SPDX-License-Identifier: Apache-2.0
#include "advise/trace/nsys_names.hpp"

#include <array>

#include "advise/trace/cuda_names.hpp"

namespace rung::advise {
namespace {

constexpr uint32_t kLater = uint32_t{1} << 31;
constexpr size_t kMostNames = 1'000'000;
constexpr std::string_view kNoName = "(no name)";

}  // namespace

uint32_t NsysNames::later(std::optional<int64_t> string, EventKind kind) {
  if (!string) return kLater;
  const auto known = places_.find(*string);
  if (known != places_.end()) return kLater | known->second;
  if (names_.size() == kMostNames) return kLater;
  const auto place = static_cast<uint32_t>(names_.size());
  names_.push_back({0, kind == EventKind::runtime_call});
  places_.emplace(*string, place);
  return kLater | place;
}

Status NsysNames::read(SqliteFile& file, RecordingBuilder& builder) {
  constexpr std::array<std::string_view, 2> kColumns{"id", "value"};
  RUNG_TRY(SqliteRows rows, file.read("StringIds", kColumns));
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

Status NsysNames::apply(SqliteFile& file, RecordingBuilder& builder) {
  if (!places_.empty()) RUNG_CHECK(read(file, builder));
  names_[0].text = builder.text(kNoName);
  for (Event& event : builder.events()) {
    if ((event.name & kLater) == 0) continue;
    const uint32_t text = names_[event.name & ~kLater].text;
    event.name = text != 0 ? text : names_[0].text;
  }
  return {};
}

}  // namespace rung::advise
