// Categories give an event's meaning; annotations give its link, lane and detail.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_recorder.hpp"

#include <limits>

#include "trace/recording/copy_name.hpp"
#include "trace/recording/launch_numbers.hpp"
#include "trace/recording/perfetto_fields.hpp"

namespace rung::trace {
namespace {

// Reads 256 or "(256,1,1)": rocprofv3 gives only the product.
std::array<uint32_t, 3> extents_of(const PerfettoEvent::Value& value) {
  std::array<uint32_t, 3> extents{};
  if (value.number) return {count_of(*value.number), 1, 1};
  const auto numbers = numbers_in(value.text);
  for (size_t i = 0; i < std::min<size_t>(numbers.size(), 3); ++i) extents[i] = count_of(numbers[i]);
  return extents;
}

}  // namespace

void PerfettoRecorder::take(const PerfettoEvent& event, const Stamp& stamp) {
  ++events_;
  if (event.type == kSliceBegin) return take_begin(event, stamp);
  if (event.type == kInstant) return builder_.skip("instants");
  if (event.type == kCounter) return builder_.skip("counters");
  if (event.type != kSliceEnd) return builder_.skip("events of types that are not known");
  --events_;  // its begin was counted
  if (!stamp.time_ns) return builder_.skip("a time that is missing or of a clock that is not known");
  PerfettoPairs::Slice slice;
  if (pairs_.end(stamp.sequence, event.track, *stamp.time_ns, slice)) keep(slice);
}

void PerfettoRecorder::take_begin(const PerfettoEvent& event, const Stamp& stamp) {
  if (!stamp.time_ns) return builder_.skip("a time that is missing or of a clock that is not known");
  PerfettoPairs::Slice slice = slice_of(event, stamp);
  slice.event.start_ns = *stamp.time_ns;
  if (!pairs_.begin(stamp.sequence, event.track, slice)) builder_.skip("begun, with too many begun before");
}

// Decides the meaning of a device event whose category leaves it open.
PerfettoMeaning PerfettoRecorder::meaning_of(const PerfettoEvent& event) const {
  if (!event.category) return PerfettoMeaning::left_out;
  if (event.category->meaning != PerfettoMeaning::device) return event.category->meaning;
  const std::string_view name = builder_.recording().strings[event.name];
  if (event.number(Annotation::kernel)) return PerfettoMeaning::kernel;
  if (name.starts_with("MEMORY_COPY") || name.starts_with("Copy")) return PerfettoMeaning::copy;
  return name.starts_with("SCRATCH_MEMORY") ? PerfettoMeaning::left_out : PerfettoMeaning::kernel;
}

PerfettoPairs::Slice PerfettoRecorder::slice_of(const PerfettoEvent& event, const Stamp& stamp) {
  PerfettoPairs::Slice slice{{}, event.category, meaning_of(event)};
  Event& made = slice.event;
  made.name = event.name;
  switch (slice.meaning) {
    case PerfettoMeaning::kernel:
    case PerfettoMeaning::device:
      made.kind = EventKind::kernel;
      made.lane = lanes_.device(event, false);
      made.detail = launch_of(event);
      break;
    case PerfettoMeaning::copy:
      made.kind = EventKind::copy;
      made.lane = lanes_.device(event, true);
      made.detail = builder_.copy(
          copy_shape(builder_.recording().strings[event.name], event.number(Annotation::bytes).value_or(-1)));
      break;
    case PerfettoMeaning::call:
    case PerfettoMeaning::hsa_call:
      made.kind = EventKind::runtime_call;
      made.lane = lanes_.host(event);
      break;
    case PerfettoMeaning::range:
    case PerfettoMeaning::operation:
      made.kind = slice.meaning == PerfettoMeaning::range ? EventKind::range : EventKind::host_op;
      made.lane = lanes_.host(event);
      return slice;
    case PerfettoMeaning::left_out:
      return slice;
  }
  made.link = link_of(event, stamp);
  return slice;
}

// Without annotations the first arrow connects calls and work: a writer combines the correlation's number with one that
// is constant throughout its process.
uint32_t PerfettoRecorder::link_of(const PerfettoEvent& event, const Stamp& stamp) {
  if (const auto correlation = event.number(Annotation::correlation)) return links_.of(stamp.process, *correlation);
  if (!event.flow) return 0;
  return links_.of(stamp.process, static_cast<int64_t>(*event.flow & std::numeric_limits<int64_t>::max()));
}

uint32_t PerfettoRecorder::launch_of(const PerfettoEvent& event) {
  const auto items = extents_of(event[Annotation::grid]);
  const auto block = extents_of(event[Annotation::block]);
  LaunchShape shape;
  for (size_t i = 0; i < 3; ++i) set_axis(shape, i, items[i], block[i]);
  shape.registers =
      registers_of(count_of(event.number(Annotation::registers)), count_of(event.number(Annotation::accumulators)));
  shape.shared_bytes = count_of(event.number(Annotation::shared_bytes));
  return builder_.launch(shape);
}

// Keeps a slice, or counts it as left out: those are begun too, so that their ends find them.
void PerfettoRecorder::keep(const PerfettoPairs::Slice& slice) {
  if (!slice.category) return builder_.skip("events of categories that are not known");
  ++of_tool_[static_cast<size_t>(slice.category->tool)];
  if (slice.meaning == PerfettoMeaning::hsa_call) inner_.take(slice.event);
  if (slice.meaning == PerfettoMeaning::hsa_call || slice.meaning == PerfettoMeaning::left_out) {
    const std::string_view reason = slice.category->left_out_as;
    return builder_.skip(reason.empty() ? "allocations that the device's driver made" : reason);
  }
  if (slice.meaning == PerfettoMeaning::range && slice.event.duration_ns == 0) return builder_.skip("instants");
  builder_.add(slice.event);
}

void PerfettoRecorder::lose(uint32_t sequence) {
  if (const size_t open = pairs_.drop(sequence))
    builder_.skip("begun before packets were lost", static_cast<int64_t>(open));
}

Result<Recording> PerfettoRecorder::finish() {
  const auto alone = pairs_.finish([&](const PerfettoPairs::Slice& slice) { keep(slice); });
  const auto& [of_rocprofv3, of_rocprof_sys] = of_tool_;
  if (of_rocprofv3 + of_rocprof_sys == 0) {
    std::string left_out;
    for (const auto& [reason, count] : builder_.recording().skipped) left_out += fmt::format("; {}: {}", reason, count);
    return bad_file("got {} track events, none of rocprofv3 or rocprof-sys{}", events_, left_out);
  }
  if (alone.begins > 0) builder_.skip("a begin without an end", alone.begins);
  if (alone.ends > 0) builder_.skip("an end without a begin", alone.ends);
  const bool sys = of_rocprof_sys > of_rocprofv3;
  inner_.link(builder_, 0);
  lanes_.finish(tracks_, sys ? PerfettoTool::rocprof_sys : PerfettoTool::rocprofv3);
  Recording recording = builder_.finish();
  if (sys) recording.format = "rocprof-sys";
  return recording;
}

}  // namespace rung::trace
