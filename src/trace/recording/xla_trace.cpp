// Reads the trace.json.gz that JAX's profiler writes beside its xplane.pb: Chrome's JSON with named rows.
// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "trace/recording/chrome_document.hpp"
#include "trace/recording/json_numbers.hpp"
#include "trace/recording/reader.hpp"
#include "trace/recording/xla_events.hpp"

namespace rung::trace {
namespace {

constexpr size_t kMostRows = 65'535;

std::string text_of(std::string_view json) {
  return json.find('\\') == json.npos ? std::string(inner(json)) : unescaped(json);
}

int64_t number_of(std::string_view json) { return integer_of(json).value_or(0); }

// Rows are named before events.
class XlaTrace {
 public:
  void expect(size_t events) { events_.builder().expect(events); }
  void take_devices(std::string_view) {}

  void take(const ChromeEvent& event) {
    const std::string_view phase = inner(event[Field::phase]);
    if (phase.empty()) return;  // the list ends with an empty event
    if (phase == "M") return take_name(event);
    if (phase == "X") return take_whole(event);
    events_.builder().skip(phase == "C" ? "counters" : "events of phases that are not known");
  }

  Result<Recording> finish() {
    if (events_.taken() == 0 && !events_.builder().recording().skipped.empty())
      return bad_file("got no event on a stream of a GPU or on a thread of the host");
    return events_.builder().finish();
  }

 private:
  using Row = std::pair<int64_t, int64_t>;  // process and thread
  struct Hash {
    size_t operator()(const Row& row) const { return std::hash<int64_t>()(row.first * 1'000'003 + row.second); }
  };

  void take_name(const ChromeEvent& event) {
    const std::string_view what = inner(event[Field::name]);
    const int64_t process = number_of(event[Field::process]);
    if (processes_.size() + streams_.size() >= kMostRows) return;
    if (what == "process_name") processes_[process] = inner(event[Argument::name]);
    if (what != "thread_name") return;
    if (const auto stream = XlaEvents::stream_of(inner(event[Argument::name])))
      streams_[{process, number_of(event[Field::thread])}] = *stream;
  }

  void take_whole(const ChromeEvent& event) {
    const int64_t row = number_of(event[Field::process]), thread = number_of(event[Field::thread]);
    const auto process = processes_.find(row);
    const std::string_view plane = process == processes_.end() ? std::string_view() : process->second;
    const std::string name = text_of(event[Field::name]);
    const XlaEvents::Piece piece{name, ns_of_us(event[Field::start]), ns_of_us(event[Field::duration]),
                                 number_of(event[Argument::xla_correlation])};
    if (XlaEvents::is_host(plane)) return events_.take_host(piece, row, thread, !event[Argument::step].empty());
    const auto device = XlaEvents::gpu_of(plane);
    if (!device) return events_.builder().skip("events of planes that are not known");
    const auto stream = streams_.find({row, thread});
    if (stream == streams_.end()) return events_.skip_derived();
    events_.take_work(piece, *device, stream->second,
                      {inner(event[Argument::kernel_details]), inner(event[Argument::copy_details]),
                       inner(event[Argument::fill_details])});
  }

  XlaEvents events_;
  std::unordered_map<int64_t, std::string> processes_;
  std::unordered_map<Row, int64_t, Hash> streams_;
};

bool looks_like_xla_trace(const TraceFile& file) {
  const std::string_view text = chrome_text(file.head);
  return text.find("\"/host:CPU") != text.npos || text.find("\"/device:GPU:") != text.npos;
}

}  // namespace

const TraceReader xla_trace_reader{"JAX's trace.json", looks_like_xla_trace, read_chrome_document<XlaTrace>};

}  // namespace rung::trace
