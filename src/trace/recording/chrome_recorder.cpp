// Phases: "X" is a whole event, "B" and "E" are its two ends, "M" names threads; no others are kept.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/chrome_recorder.hpp"

#include "trace/recording/chrome_categories.hpp"
#include "trace/recording/chrome_collective.hpp"
#include "trace/recording/copy_name.hpp"
#include "trace/recording/json_numbers.hpp"
#include "trace/recording/launch_numbers.hpp"

namespace rung::trace {
namespace {

constexpr std::string_view kStepRange = "ProfilerStep#";  // a cpu_op in PyTorch before 2.0
constexpr size_t kMostBegun = 1'000'000;
constexpr size_t kMostThreadNames = 65'535;

bool has_escape(std::string_view text) { return text.find('\\') != std::string_view::npos; }

// Reads "[432, 1, 1]".
std::array<uint32_t, 3> extents_of(std::string_view json) {
  std::array<uint32_t, 3> extents{};
  JsonCursor cursor(json.data(), json.data() + json.size());
  if (json.empty() || !cursor.take('[')) return extents;
  for (uint32_t& extent : extents) {
    std::string_view text;
    if (cursor.value(text) != Scan::ok) return {};
    extent = count_of(integer_of(text));
    if (!cursor.take(',')) break;
  }
  return extents;
}

LaunchShape launch_of(const ChromeEvent& event) {
  return {.grid = extents_of(event[Argument::grid]),
          .block = extents_of(event[Argument::block]),
          .registers = count_of(integer_of(event[Argument::registers])),
          .shared_bytes = count_of(integer_of(event[Argument::shared_bytes]))};
}

}  // namespace

size_t ChromeRecorder::ThreadHash::operator()(const Thread& thread) const {
  return std::hash<int64_t>()(thread.first * 0x9e3779b97f4a7c15 ^ thread.second);
}

ChromeRecorder::Meaning ChromeRecorder::meaning_of(const ChromeEvent& event) {
  if (const CategoryRule* rule = rule_of_category(inner(event[Field::category]))) {
    const bool step = rule->kind == EventKind::host_op && inner(event[Field::name]).starts_with(kStepRange);
    return {step ? EventKind::range : rule->kind, rule->left_out_as};
  }
  if (is_string(event[Argument::kernel]) && is_string(event[Argument::problem])) return {EventKind::kernel, {}, true};
  return {{}, "events of categories that are not known"};
}

void ChromeRecorder::take(const ChromeEvent& event) {
  ++events_;
  const std::string_view phase = inner(event[Field::phase]);
  switch (phase.size() == 1 ? phase.front() : '\0') {
    case 'X':
      return take_whole(event);
    case 'B':
      return take_begin(event);
    case 'E':
      return take_end(event);
    case 'M':
      return take_thread_name(event);
    case 's':
    case 't':
    case 'f':
      return builder_.skip("flow arrows: correlation numbers tell the same");
    case 'i':
    case 'I':
    case 'R':
      return builder_.skip("instants");
    case 'C':
      return builder_.skip("counters");
    default:
      return builder_.skip("events of phases that are not known");
  }
}

// A profiler records the stack with each function, millions in all; only long ones show what occupied the host.
void ChromeRecorder::keep(const Event& event, const Meaning& meaning) {
  constexpr int64_t kShortestFunctionNs = 1'000'000;
  if (event.kind == EventKind::function && event.duration_ns < kShortestFunctionNs)
    return builder_.skip("functions of Python shorter than 1 ms");
  ++(meaning.of_rung ? of_rung_ : of_pytorch_);
  builder_.add(event);
}

void ChromeRecorder::take_whole(const ChromeEvent& event) {
  const Meaning meaning = meaning_of(event);
  if (!meaning.kind) return builder_.skip(meaning.left_out_as);
  const auto start = ns_of_us(event[Field::start]), duration = ns_of_us(event[Field::duration]);
  if (!start) return builder_.skip("a time that is missing or no number");
  if (!duration) return builder_.skip("a duration that is missing or no number");
  Event made = event_of(event, meaning);
  made.start_ns = *start;
  made.duration_ns = *duration;
  keep(made, meaning);
}

// Also begins events that are left out, so that their ends find them.
void ChromeRecorder::take_begin(const ChromeEvent& event) {
  Meaning meaning = meaning_of(event);
  const auto start = ns_of_us(event[Field::start]);
  if (!start) return builder_.skip("a time that is missing or no number");
  if (begun_count_ == kMostBegun) return builder_.skip("begun, with too many begun before");
  Begun begun{meaning.kind ? event_of(event, meaning) : Event{}, meaning};
  begun.event.start_ns = *start;
  begun_[thread_of(event)].push_back(begun);
  ++begun_count_;
}

void ChromeRecorder::take_end(const ChromeEvent& event) {
  const auto stack = begun_.find(thread_of(event));
  const auto end = ns_of_us(event[Field::start]);
  if (!end) return builder_.skip("a time that is missing or no number");
  if (stack == begun_.end()) return builder_.skip("an end without a begin");
  Begun begun = stack->second.back();
  stack->second.pop_back();
  if (stack->second.empty()) begun_.erase(stack);
  --begun_count_;
  if (!begun.meaning.kind) return builder_.skip(begun.meaning.left_out_as);
  begun.event.duration_ns = *end - begun.event.start_ns;
  keep(begun.event, begun.meaning);
}

Event ChromeRecorder::event_of(const ChromeEvent& event, const Meaning& meaning) {
  Event made;
  made.kind = *meaning.kind;
  made.name = text_of(meaning.of_rung ? event[Argument::kernel] : event[Field::name]);
  made.link = link_of(event);
  made.detail = meaning.of_rung ? 0 : detail_of(event, made.kind);
  made.lane = lane_of(event, meaning);
  return made;
}

// A thread or process that is not a number gets its own number below zero; a missing one is 0.
int64_t ChromeRecorder::number_of(std::string_view json) {
  if (json.empty()) return 0;
  if (const auto number = integer_of(json)) return *number;
  return -1 - int64_t{text_of(json)};
}

uint16_t ChromeRecorder::lane_of(const ChromeEvent& event, const Meaning& meaning) {
  if (meaning.of_rung) return builder_.device_lane(0, 0);
  if (!is_on_device(*meaning.kind))
    return builder_.host_lane(number_of(event[Field::process]), number_of(event[Field::thread]));
  const auto device = integer_of(event[Argument::device]), stream = integer_of(event[Argument::stream]);
  return builder_.device_lane(device ? *device : number_of(event[Field::process]),
                              stream ? *stream : number_of(event[Field::thread]));
}

uint32_t ChromeRecorder::link_of(const ChromeEvent& event) {
  const int64_t correlation = integer_of(event[Argument::correlation]).value_or(0);
  if (correlation <= INT32_MAX) return count_of(correlation);
  if (const auto known = far_links_.find(correlation); known != far_links_.end()) return known->second;
  if (far_links_.size() == kMostEvents) return 0;
  return far_links_[correlation] = UINT32_MAX - static_cast<uint32_t>(far_links_.size());
}

uint32_t ChromeRecorder::detail_of(const ChromeEvent& event, EventKind kind) {
  switch (kind) {
    case EventKind::kernel:
      return builder_.launch(launch_of(event));
    case EventKind::copy:
      return builder_.copy(copy_shape(event[Field::name], integer_of(event[Argument::bytes]).value_or(-1)));
    case EventKind::host_op:
      return builder_.operands(operands_of(event));
    default:
      return 0;
  }
}

OperandTexts ChromeRecorder::operands_of(const ChromeEvent& event) {
  OperandTexts texts{.shapes = builder_.text(event[Argument::shapes]),
                     .strides = builder_.text(event[Argument::strides]),
                     .types = builder_.text(event[Argument::types]),
                     .values = builder_.text(event[Argument::values])};
  note_collective(event, texts);
  return texts;
}

uint32_t ChromeRecorder::text_of(std::string_view json) {
  const bool escaped = has_escape(json) && json.size() <= kLongestText;
  return escaped ? builder_.text(unescaped(json)) : builder_.text(inner(json));
}

// Names of streams are kept apart ("stream 7" in Kineto), as a device's number may also be a process's.
void ChromeRecorder::take_thread_name(const ChromeEvent& event) {
  if (inner(event[Field::name]) != "thread_name") return;
  const std::string_view text = event[Argument::name];
  const std::string name = RecordingBuilder::short_name(has_escape(text) ? unescaped(text) : inner(text));
  auto& names = name.starts_with("stream") ? stream_names_ : thread_names_;
  if (names.size() < kMostThreadNames) names[thread_of(event)] = name;
}

void ChromeRecorder::take_devices(std::string_view json) {
  if (!devices_.take(json)) builder_.skip("device properties that are not understood");
}

void ChromeRecorder::name_lanes() {
  for (Lane& lane : builder_.lanes()) {
    const auto& names = lane.on_device ? stream_names_ : thread_names_;
    const auto known = names.find({lane.on_device ? lane.device : lane.process, lane.thread});
    if (known != names.end()) lane.name = known->second;
  }
}

Result<Recording> ChromeRecorder::finish() {
  if (events_ > 0 && of_pytorch_ + of_rung_ == 0) {
    std::string left_out;
    for (const auto& [reason, count] : builder_.recording().skipped) left_out += fmt::format("; {}: {}", reason, count);
    return bad_file("got {} events, none of PyTorch's profiler or of rung{}", events_, left_out);
  }
  if (begun_count_ > 0) builder_.skip("a begin without an end", static_cast<int64_t>(begun_count_));
  name_lanes();
  devices_.name(builder_);
  Recording recording = builder_.finish();
  if (of_rung_ > of_pytorch_) recording.format = "rung profile";
  return recording;
}

}  // namespace rung::trace
