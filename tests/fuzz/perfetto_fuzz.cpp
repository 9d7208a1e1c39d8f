// Any bytes as a Perfetto trace: refused, or a recording that holds together.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_messages.hpp"
#include "trace/recording/reader.hpp"
#include "trace_checks.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace rung;
  using namespace rung::trace;
  const MadeEvent kernel{
      .category = "kernel_dispatch",
      .name = "k",
      .numbers = {{"corr_id", 5}, {"grid_size", 100}, {"workgroup_size", 64}, {"stream_ID", 2}, {"VGPR_Count", 8}},
      .texts = {{"agent", "Agent-1"}}};
  const MadeEvent copy{.category = "rocm_hip_stream",
                       .name = "MEMORY_COPY_HOST_TO_DEVICE",
                       .texts = {{"src_agent", "0"}, {"dst_agent", "1"}, {"grid_size", "(1,2,3)"}}};
  const MadeEvent hsa{.category = "hsa_api", .name = "hsa_init", .track = 7, .numbers = {{"corr_id", 5}}};
  const MadeEvent call{.category = "hip_api", .name = "hipLaunchKernel", .track = 7};
  const std::string names = MadePacket{
      .flags = 1, .more = [](protozero::pbf_writer& w) {
        intern(w, {{1, 1, "marker_api"}, {2, 1, "step"}, {3, 1, "tid"}});
        w.add_message(59, message([](protozero::pbf_writer& d) { d.add_uint32(58, 64); }));
      }}.bytes();
  const MadeEvent numbered{.more = [](protozero::pbf_writer& w) {
    w.add_uint64(3, 1);
    w.add_uint64(10, 1);
    w.add_fixed64(47, 9);
  }};
  const auto thread = [](protozero::pbf_writer& t) {
    t.add_uint64(5, 1);
    t.add_message(4, message([](protozero::pbf_writer& d) { d.add_int32(2, 71); }));
  };
  write_seeds(*argc, *argv,
              {track(5, "STREAM [ 1 ]") + slice(5, 10, kernel) + deflated(slice(20, 30, copy)),
               snapshot(1, {{6, 100}, {3, 90}, {64, 100, true, 2}}) + names + slice(5, 10, numbered, {.flags = 2}) +
                   track(5, "THREAD 1 (7)", thread),
               slice(2, 3, hsa) + slice(1, 4, call) + slice(5, 9, kernel) + at(9, {.type = 3}) + at(9, {.type = 4}),
               at(1, kernel) + at(5, {.type = 2}, {.sequence = 2}) +
                   MadePacket{.more = [](protozero::pbf_writer& w) { w.add_uint32(42, 1); }}.bytes()});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rung::check_reader(rung::trace::perfetto_reader, "trace.pftrace", {reinterpret_cast<const char*>(data), size});
  return 0;
}
