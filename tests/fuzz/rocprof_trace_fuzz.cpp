// Any text as the JSON of rocprof's first version: refused, or a recording that holds together.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/reader.hpp"
#include "trace_checks.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string rows =
      R"--({"traceEvents":[{},{"args":{"name":"CPU HIP API"},"ph":"M","pid":2,"name":"process_name"},
 {"args":{"name":"COPY"},"ph":"M","pid":1,"name":"process_name"},{"args":{"name":"Markers and Ranges"},"ph":"M","pid":0,
 "name":"process_name"},{"args":{"name":"GPU0"},"ph":"M","pid":6,"name":"process_name"},)--";
  rung::write_seeds(
      *argc, *argv,
      {rows + R"--({"ph":"X","name":"hipLaunchKernel","pid":"2","tid":"7","ts":"1","dur":"5","args":{"BeginNs":"1000",
 "EndNs":"6000","pid":"77"}},{"ph":"X","name":"k","pid":"6","tid":"0","ts":"9","dur":"4","args":{"BeginNs":"9000","EndNs":
 "13000","dev-id":"0","queue-id":"1","stream-id":"2"}},{"ts":6,"ph":"s","cat":"DataFlow","id":1,"pid":2,"tid":7,"name":"dep"},
 {"ts":9,"ph":"t","cat":"DataFlow","id":1,"pid":6,"tid":0,"name":"dep"}]})--",
       rows + R"--({"ph":"X","name":"CopyHostToDevice","pid":"1","tid":"0","ts":"1","dur":"5","args":{"BeginNs":"1000",
 "EndNs":"6000"}},{"ph":"X","name":"step","pid":"0","tid":"7","args":{"BeginNs":"1","EndNs":"9"}}],"otherData":{}})--"});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rung::check_reader(rung::trace::rocprof_trace_reader, "results.json", {reinterpret_cast<const char*>(data), size});
  return 0;
}
