// Any bytes as JAX's profile, in both its forms: refused, or a recording that holds together.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/reader.hpp"
#include "trace/recording/xplane_messages.hpp"
#include "trace_checks.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace rung::trace;
  MadePlane device("/device:GPU:0"), host("/host:CPU");
  device.line({1,
               "Stream #1",
               100,
               {{"k", 5, 5000, {{"correlation_id", "", 7}, {"kernel_details", "regs:8 grid:1,2,3 block:4,5,6"}}},
                {"MemcpyD2H", 9000, 1000, {{"memcpy_details", "kind_src:device kind_dst:pinned size:64", 0, true}}}}});
  device.stat({"core_count", "", 132}).stat({"memory_size", "", 1 << 30});
  host.line({2,
             "python",
             0,
             {{"step", 0, 90'000, {{"step_num", "", 1}}}, {"cuLaunchKernel", 1, 2000, {{"correlation_id", "", 7}}}}});
  rung::write_seeds(*argc, *argv,
                    {device.bytes() + host.bytes(0),
                     R"--({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
 {"ph":"M","pid":1,"tid":3,"name":"thread_name","args":{"name":"Stream #3(Compute)"}},{"ph":"X","pid":1,"tid":3,"ts":1.5,
 "dur":2,"name":"k","args":{"correlation_id":"7","kernel_details":"regs:8 grid:1,1,1"}},{}]})--"});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  rung::check_reader(rung::trace::xplane_reader, "host.xplane.pb", input);
  rung::check_reader(rung::trace::xla_trace_reader, "host.trace.json", input);
  return 0;
}
