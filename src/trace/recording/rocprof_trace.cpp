// Events do not link calls to work: arrows go from a call's end to its work's start, in whole microseconds.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/rocprof_trace.hpp"

#include <algorithm>

#include "trace/recording/json_numbers.hpp"

namespace rung::trace {
namespace {

constexpr size_t kMostProcesses = 4096;
constexpr int64_t kRounded = 1;   // microseconds
constexpr int kMostAtOnce = 256;  // pieces of work that begin in one microsecond

int64_t us_of(std::string_view json) {
  const auto ns = ns_of_us(json);
  return ns ? *ns / 1000 : -1;
}

int64_t number_of(std::string_view json) { return integer_of(json).value_or(0); }

std::string text_of(std::string_view json) {
  return json.find('\\') == json.npos ? std::string(inner(json)) : unescaped(json);
}

}  // namespace

RocprofTrace::Process RocprofTrace::process_of(std::string_view name) {
  if (name.starts_with("GPU")) return {Row::kernels, integer_of(name.substr(3)).value_or(0)};
  if (name == "COPY") return {Row::copies};
  if (name == "CPU HIP API") return {Row::calls};
  if (name == "CPU HSA API") return {Row::hsa};
  return {name == "Markers and Ranges" ? Row::ranges : Row::other};
}

void RocprofTrace::take(const ChromeEvent& event) {
  const std::string_view phase = inner(event[Field::phase]);
  if (phase.empty()) return;  // the list begins with an empty event
  ++taken_;
  if (phase == "M") return take_name(event);
  if (phase == "X") return take_whole(event);
  if (phase == "s" || phase == "t" || phase == "f") return take_arrow(event, phase == "s");
  events_.builder().skip("events of phases that are not known");
}

void RocprofTrace::take_name(const ChromeEvent& event) {
  if (inner(event[Field::name]) != "process_name" || processes_.size() == kMostProcesses) return;
  processes_[number_of(event[Field::process])] = process_of(inner(event[Argument::name]));
}

void RocprofTrace::take_whole(const ChromeEvent& event) {
  const int64_t row = number_of(event[Field::process]);
  const auto known = processes_.find(row);
  const Process process = known == processes_.end() ? Process{} : known->second;
  known_ += process.row != Row::other;
  if (!keep(event, process) || process.row == Row::ranges) return;
  const int64_t us = us_of(event[Field::start]);
  const Point point{row, number_of(event[Field::thread]), us, us + us_of(event[Field::duration]),
                    events_.builder().size() - 1};
  (process.row == Row::calls ? calls_ : work_).push_back(point);
}

bool RocprofTrace::keep(const ChromeEvent& event, const Process& process) {
  const RocprofEvents::Times times{integer_of(event[Argument::begin_ns]), integer_of(event[Argument::end_ns])};
  const auto device = integer_of(event[Argument::gpu]);
  const RocprofEvents::Place place{device ? device : process.device, integer_of(event[Argument::queue]),
                                   integer_of(event[Argument::hip_stream])};
  const RocprofEvents::Thread thread{number_of(event[Argument::hip_process]), number_of(event[Field::thread])};
  const std::string name = text_of(event[Field::name]);
  switch (process.row) {
    case Row::kernels:
      return events_.take_kernel(times, place, name);
    case Row::copies:
      return events_.take_copy(times, place, name);
    case Row::calls:
      return events_.take_call(times, thread, name);
    case Row::ranges:
      return events_.take_range(times, thread, name);
    case Row::hsa:
      return events_.builder().skip("calls of HSA: HIP's, above them, are kept"), false;
    case Row::other:
      return events_.builder().skip("calls of domains that are not known"), false;
  }
  return false;
}

void RocprofTrace::take_arrow(const ChromeEvent& event, bool begins) {
  const auto id = integer_of(event[Field::id]);
  if (!id || (arrows_.size() == kMostEvents && !arrows_.contains(*id)))
    return events_.builder().skip("arrows without a number");
  Arrow& arrow = arrows_[*id];
  (begins ? arrow.begun : arrow.ended) = true;
  (begins ? arrow.from : arrow.to) = {number_of(event[Field::process]), number_of(event[Field::thread]),
                                      us_of(event[Field::start])};
}

RocprofTrace::Points RocprofTrace::in_order(const std::vector<Point>& points, bool by_thread) {
  Points rows;
  for (const Point& point : points) rows[{point.row, by_thread ? point.thread : 0}].push_back(point);
  for (auto& [row, of_row] : rows) std::ranges::stable_sort(of_row, {}, &Point::us);
  return rows;
}

// Returns the first work to which no arrow has led yet; null: none.
const RocprofTrace::Point* RocprofTrace::work_at(const std::vector<Point>& row, int64_t us) {
  auto work = std::ranges::lower_bound(row, us - kRounded, {}, &Point::us);
  for (int i = 0; i < kMostAtOnce && work != row.end() && work->us <= us + kRounded; ++i, ++work)
    if (events_.builder().events()[work->event].link == 0) return &*work;
  return nullptr;
}

// A call may start several pieces of work. An arrow may begin within its call, as it cannot end before it begins.
void RocprofTrace::link() {
  const Points threads = in_order(calls_, true), rows = in_order(work_, false);
  std::vector<Event>& events = events_.builder().events();
  uint32_t next = 0;
  for (const auto& [id, arrow] : arrows_) {
    const auto calls = threads.find({arrow.from.row, arrow.from.thread});
    const auto row = rows.find({arrow.to.row, 0});
    if (!arrow.begun || !arrow.ended || calls == threads.end() || row == rows.end()) continue;
    auto call = std::ranges::upper_bound(calls->second, arrow.from.us, {}, &Point::us);
    const Point* work = work_at(row->second, arrow.to.us);
    if (!work || call == calls->second.begin() || (--call)->until_us + kRounded < arrow.from.us) continue;
    uint32_t& of_call = events[call->event].link;
    if (of_call == 0) of_call = ++next;
    events[work->event].link = of_call;
  }
}

Result<Recording> RocprofTrace::finish() {
  if (taken_ > 0 && known_ == 0)
    return bad_file("got {} events, none of which is in a list of rocprof's: kernels, copies, calls of HIP", taken_);
  link();
  return events_.builder().finish();
}

}  // namespace rung::trace
