// Any text as rocprofv3's JSON: refused, or a recording that holds together.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/reader.hpp"
#include "trace_checks.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string tables = R"--({"rocprofiler-sdk-tool":[{"metadata":{"pid":7},
 "agents":[{"id":{"handle":10},"type":1,"logical_node_id":0},{"id":{"handle":20},"type":2,"node_id":1,"name":"gfx942"}],
 "strings":{"buffer_records":[{"kind":"KERNEL_DISPATCH","operations":["NONE"]},{"kind":"HIP_RUNTIME_API","operations":
  ["hipLaunchKernel"]},{"kind":"HSA_CORE_API","operations":["hsa_init"]},{"kind":"MARKER_CORE_API","operations":["r"]},
  {"kind":"MEMORY_COPY","operations":["MEMORY_COPY_HOST_TO_DEVICE"]}],"marker_api":[{"key":5,"value":"step"}]},
 "kernel_symbols":[{"kernel_id":1,"kernel_name":"k.kd","demangled_kernel_name":"k() [clone .kd]","arch_vgpr_count":8}],
 "callback_records":{"counter_collection":[{}]},"buffer_records":{)--";
  rung::write_seeds(
      *argc, *argv,
      {tables + R"("kernel_dispatch":[{"kind":0,"operation":0,"thread_id":70,"correlation_id":{"internal":9},
 "start_timestamp":100,"end_timestamp":150,"stream_id":{"handle":2},"dispatch_info":{"agent_id":{"handle":20},"kernel_id":1,
 "queue_id":{"handle":3},"group_segment_size":64,"workgroup_size":{"x":64,"y":1,"z":1},"grid_size":{"x":99,"y":1,"z":1}}}],
 "hip_api":[{"kind":1,"operation":0,"correlation_id":{"internal":8},"start_timestamp":90,"end_timestamp":99,"thread_id":7}],
 "hsa_api":[{"kind":2,"operation":0,"correlation_id":{"internal":9},"start_timestamp":91,"end_timestamp":92,"thread_id":7}]
 }}]})",
       tables +
           R"("marker_api":[{"kind":3,"operation":0,"correlation_id":{"internal":5},"start_timestamp":1,"end_timestamp":9}],
 "memory_copy":[{"kind":4,"operation":0,"correlation_id":{"internal":6},"start_timestamp":2,"end_timestamp":3,"bytes":4096,
 "dst_agent_id":{"handle":20},"src_agent_id":{"handle":10}}],"memory_allocation":[{}],"kfd":[[]]}},{"buffer_records":{}}]})"});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rung::check_reader(rung::trace::rocprof_json_reader, "trace.json", {reinterpret_cast<const char*>(data), size});
  return 0;
}
