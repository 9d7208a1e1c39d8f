// Perfetto traces of rocprofv3 and rocprof-sys: slices, names, lanes, links and what is left out.
// SPDX-License-Identifier: Apache-2.0
#include "trace/recording/perfetto_messages.hpp"
#include "trace/recording/read_bytes.hpp"

namespace rung::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Recording read(const std::string& packets) {
  auto recording = read_bytes(packets);
  EXPECT_TRUE(recording) << recording.error().message;
  return recording ? std::move(*recording) : Recording();
}

MadeEvent kernel(const std::string& name = "k", std::vector<std::pair<std::string, int64_t>> numbers = {}) {
  return {.category = "kernel_dispatch", .name = name, .numbers = std::move(numbers)};
}
MadeEvent call(const std::string& name, std::vector<std::pair<std::string, int64_t>> numbers = {}) {
  return {.category = "hip_api", .name = name, .track = 7, .numbers = std::move(numbers)};
}

TEST(Perfetto, KernelHasNameTimesLaneLinkAndLaunch) {
  MadeEvent event = kernel("foo(int) [clone .kd]", {{"corr_id", 9},
                                                    {"queue", 2},
                                                    {"stream_ID", 3},
                                                    {"LDS_Block_Size", 512},
                                                    {"VGPR_Count", 40},
                                                    {"Accum_VGPR_Count", 8},
                                                    {"workgroup_size", 256},
                                                    {"grid_size", 1000}});
  event.texts = {{"agent", "Agent-4"}};
  const Recording r =
      read(slice(100, 150, event) + slice(90, 95, call("hipLaunchKernel", {{"corr_id", 9}, {"tid", 70}})));
  EXPECT_EQ(r.format, "rocprofv3");
  const Event k = event_named(r, "foo(int)"), launch = event_named(r, "hipLaunchKernel");
  EXPECT_EQ(k.kind, EventKind::kernel);
  EXPECT_EQ(k.start_ns, 100);
  EXPECT_EQ(k.duration_ns, 50);
  EXPECT_TRUE(r.lanes[k.lane].on_device);
  EXPECT_EQ(r.lanes[k.lane].device, 4);
  EXPECT_EQ(r.lanes[k.lane].thread, 3);
  EXPECT_EQ(r.launches[k.detail], (LaunchShape{{4, 1, 1}, {256, 1, 1}, 48, 512}));
  EXPECT_NE(k.link, 0u);
  EXPECT_EQ(launch.link, k.link);
  EXPECT_EQ(launch.kind, EventKind::runtime_call);
  EXPECT_EQ(r.lanes[launch.lane].thread, 70);
  EXPECT_THAT(r.skipped, IsEmpty());
}

TEST(Perfetto, RocprofSysTellsExtentsAsText) {
  MadeEvent event{.category = "rocm_kernel_dispatch", .name = "k", .numbers = {{"kernel_id", 1}, {"stack_id", 4}}};
  event.texts = {{"workgroup_size", "(64,2,1)"}, {"grid_size", "(640,3,1)"}};
  const Recording r = read(slice(1, 2, event));
  EXPECT_EQ(r.format, "rocprof-sys");
  EXPECT_EQ(r.launches[r.events[0].detail], (LaunchShape{{10, 2, 1}, {64, 2, 1}, 0, 0}));
}

TEST(Perfetto, TracksTellDevicesStreamsAndThreads) {
  const auto thread = [](protozero::pbf_writer& t) {
    t.add_message(4, message([](protozero::pbf_writer& d) {
                    d.add_int32(1, 70);
                    d.add_int32(2, 71);
                    d.add_string(5, "worker");
                  }));
  };
  const auto process = [](protozero::pbf_writer& t) {
    t.add_message(3, message([](protozero::pbf_writer& d) { d.add_int32(1, 70); }));
  };
  const auto under = [](uint64_t parent) { return [=](protozero::pbf_writer& t) { t.add_uint64(5, parent); }; };
  const auto on = [](MadeEvent event, int64_t uuid) {
    event.track = uuid;
    event.name = "on " + std::to_string(uuid);
    return slice(uuid, uuid + 1, event);
  };
  const MadeEvent sys{.category = "rocm_kernel_dispatch"}, stream{.category = "rocm_hip_stream"};
  // Descriptors come after the events, and in no order.
  const Recording r =
      read(on(kernel(), 11) + on(sys, 12) + on(stream, 13) + on(call(""), 14) + on(call(""), 15) + on(call(""), 16) +
           on(call(""), 17) + track(17, "THREAD 2 (73)", under(18)) + track(16, "part of a thread", under(14)) +
           track(15, "", under(15)) + track(14, "", thread) + track(11, "COMPUTE AGENT [4] QUEUE [1] (GPU)") +
           track(12, "GPU Kernel Dispatch [2] Queue 6") + track(13, "HIP Activity Stream 9") +
           track(18, "program", process));
  const auto lane = [&](int uuid) { return r.lanes[event_named(r, "on " + std::to_string(uuid)).lane]; };
  EXPECT_EQ(lane(11).device, 4);
  EXPECT_EQ(lane(11).thread, 1);
  EXPECT_EQ(lane(11).name, "COMPUTE AGENT [4] QUEUE [1] (GPU)");
  EXPECT_EQ(lane(12).device, 2);
  EXPECT_EQ(lane(12).thread, 6);
  EXPECT_EQ(lane(13).device, 0);
  EXPECT_EQ(lane(13).thread, 9);
  EXPECT_EQ(lane(14).process, 70);
  EXPECT_EQ(lane(14).thread, 71);
  EXPECT_EQ(lane(14).name, "worker");
  EXPECT_EQ(lane(15).process, 0);
  EXPECT_EQ(lane(16).thread, 71);
  EXPECT_EQ(lane(16).name, "part of a thread");
  EXPECT_EQ(lane(17).process, 70);
  EXPECT_EQ(lane(17).thread, 73);
}

TEST(Perfetto, CopiesLieOnTheGpuThatTheyConcern) {
  const auto copy = [](const std::string& name, const std::string& from, const std::string& to) {
    return MadeEvent{.category = "memory_copy",
                     .name = name,
                     .numbers = {{"copy_bytes", 64}},
                     .texts = {{"src_agent", from}, {"dst_agent", to}}};
  };
  const Recording r = read(slice(1, 2, copy("MEMORY_COPY_HOST_TO_DEVICE", "Agent-0", "Agent-4")) +
                           slice(3, 4, copy("MEMORY_COPY_DEVICE_TO_HOST", "Agent-5", "Agent-0")) +
                           slice(5, 6, copy("MEMORY_COPY_DEVICE_TO_DEVICE", "Agent-4", "Agent-5")));
  ASSERT_EQ(r.events.size(), 3u);
  const auto device = [&](size_t i) { return r.lanes[r.events[i].lane].device; };
  EXPECT_THAT((std::vector{device(0), device(1), device(2)}), ElementsAre(4, 5, 5));
  EXPECT_EQ(r.copies[r.events[0].detail], (CopyShape{64, MemoryKind::unknown, MemoryKind::unknown, true, false}));
  EXPECT_TRUE(r.copies[r.events[1].detail].device_to_host);
  EXPECT_EQ(r.events[0].kind, EventKind::copy);
}

// Its kernels are on GPU 0, which is agent 2 of the machine.
TEST(Perfetto, NumbersGpusOfCopiesLikeThoseOfKernels) {
  const MadeEvent work{.category = "rocm_kernel_dispatch", .name = "k", .numbers = {{"device", 0}}};
  const MadeEvent copy{.category = "rocm_memory_copy",
                       .name = "MEMORY_COPY_HOST_TO_DEVICE",
                       .track = 6,
                       .numbers = {{"src_agent", 0}, {"dst_agent", 2}}};
  const Recording r = read(slice(1, 2, work) + slice(3, 4, copy));
  EXPECT_EQ(r.lanes[r.events[0].lane].device, 0);
  EXPECT_EQ(r.lanes[r.events[1].lane].device, 0);
  EXPECT_EQ(r.copies[r.events[1].detail].bytes, -1);
}

TEST(Perfetto, FindsAllWorkInRocprofSysStreams) {
  const auto on_stream = [](const std::string& name, std::vector<std::pair<std::string, int64_t>> numbers = {}) {
    return MadeEvent{.category = "rocm_hip_stream", .name = name, .numbers = std::move(numbers)};
  };
  const Recording r =
      read(slice(1, 2, on_stream("CopyKernel", {{"kernel_id", 4}})) + slice(3, 4, on_stream("k")) +
           slice(5, 6, on_stream("MEMORY_COPY_DEVICE_TO_HOST")) + slice(7, 8, on_stream("SCRATCH_MEMORY_ALLOC")));
  EXPECT_EQ(event_named(r, "CopyKernel").kind, EventKind::kernel);
  EXPECT_EQ(event_named(r, "k").kind, EventKind::kernel);
  EXPECT_EQ(event_named(r, "MEMORY_COPY_DEVICE_TO_HOST").kind, EventKind::copy);
  EXPECT_THAT(r.skipped, ElementsAre(Pair("allocations that the device's driver made", 1)));
}

TEST(Perfetto, CategoriesTellKinds) {
  const auto of = [](const std::string& category, int64_t start) {
    return slice(start, start + 1, {.category = category, .name = category});
  };
  const Recording r = read(of("marker_api", 1) + of("rccl_api", 3) + of("hip_api", 5) + of("user", 7) +
                           of("rocm_roctx", 9) + of("host", 11) + of("python", 13) + of("mpi", 15) +
                           of("timer_sampling", 17) + of("nobody's", 19) + of("", 21));
  EXPECT_EQ(event_named(r, "marker_api").kind, EventKind::range);
  EXPECT_EQ(event_named(r, "rccl_api").kind, EventKind::host_op);
  EXPECT_EQ(event_named(r, "hip_api").kind, EventKind::runtime_call);
  EXPECT_EQ(event_named(r, "user").kind, EventKind::range);
  EXPECT_EQ(event_named(r, "rocm_roctx").kind, EventKind::range);
  EXPECT_EQ(r.events.size(), 5u);
  EXPECT_THAT(r.skipped, UnorderedElementsAre(Pair("functions of the program", 1), Pair("functions of Python", 1),
                                              Pair("calls of other libraries", 1), Pair("samples", 1),
                                              Pair("events of categories that are not known", 2)));
}

TEST(Perfetto, OtherEventsAreCounted) {
  const Recording r = read(slice(1, 2, kernel()) + at(3, {.type = 3}) + at(4, {.type = 4}) + at(5, {.type = 9}) +
                           at(6, {.type = 0}) + slice(7, 7, {.category = "marker_api", .name = "mark"}));
  EXPECT_EQ(r.events.size(), 1u);
  EXPECT_THAT(r.skipped, UnorderedElementsAre(Pair("instants", 2), Pair("counters", 1),
                                              Pair("events of types that are not known", 2)));
}

TEST(Perfetto, SlicesNestOnTheirTrack) {
  const Recording r = read(at(1, call("outer")) + at(2, kernel("other track")) + at(3, call("inner")) +
                           at(4, {.type = 2, .track = 7}) + at(5, {.type = 2}) + at(9, {.type = 2, .track = 7}));
  EXPECT_EQ(event_named(r, "outer").duration_ns, 8);
  EXPECT_EQ(event_named(r, "inner").duration_ns, 1);
  EXPECT_EQ(event_named(r, "other track").duration_ns, 3);
}

TEST(Perfetto, WhatOneWriterBeganAnotherMayEnd) {
  const MadePacket one{.sequence = 1}, other{.sequence = 2};
  const Recording r = read(at(9, {.type = 2}, other) + at(4, {.type = 2}, other) + at(1, kernel("a"), one) +
                           at(4, kernel("b"), one) + at(20, kernel("alone"), one) + at(0, {.type = 2}, other));
  EXPECT_EQ(event_named(r, "a").duration_ns, 3);
  EXPECT_EQ(event_named(r, "b").duration_ns, 5);
  EXPECT_THAT(r.skipped, UnorderedElementsAre(Pair("a begin without an end", 1), Pair("an end without a begin", 1)));
}

TEST(Perfetto, ArrowsLinkWhereNothingElseDoes) {
  const auto with_flow = [](MadeEvent event, uint64_t flow, uint32_t field) {
    event.more = [=](protozero::pbf_writer& w) {
      if (field == 36)
        w.add_uint64(field, flow);
      else
        w.add_fixed64(field, flow);
    };
    return event;
  };
  const uint64_t process = 0xfeed0000beef1234;
  const Recording r =
      read(slice(1, 2, with_flow(call("a"), 1 ^ process, 47)) + slice(3, 4, with_flow(call("b"), 2 ^ process, 47)) +
           slice(5, 6, with_flow(kernel("ka"), 1 ^ process, 48)) +
           slice(7, 8, with_flow(kernel("kb"), 2 ^ process, 36)) + slice(9, 10, kernel("none")));
  EXPECT_EQ(event_named(r, "ka").link, event_named(r, "a").link);
  EXPECT_EQ(event_named(r, "kb").link, event_named(r, "b").link);
  EXPECT_NE(event_named(r, "a").link, event_named(r, "b").link);
  EXPECT_EQ(event_named(r, "none").link, 0u);
}

TEST(Perfetto, ProcessesKeepTheirCorrelationsApart) {
  const auto by = [](int32_t process, const std::string& name) {
    MadePacket packet{.time = 1};
    packet.more = [=](protozero::pbf_writer& w) {
      w.add_int32(79, process);
      w.add_message(11, kernel(name, {{"corr_id", 5}}).bytes());
    };
    return packet.bytes() + at(2, {.type = 2});
  };
  const Recording r = read(by(70, "a") + by(71, "b") + by(70, "c"));
  EXPECT_NE(event_named(r, "a").link, event_named(r, "b").link);
  EXPECT_EQ(event_named(r, "a").link, event_named(r, "c").link);
}

// The kernel names HSA's call, which stands before HIP's in the file.
TEST(Perfetto, LinksHsasWorkToTheEnclosingHipCall) {
  MadeEvent hsa = call("hsa_signal_store_screlease", {{"corr_id", 8}});
  hsa.category = "hsa_api";
  const Recording r = read(slice(11, 12, hsa) + slice(10, 15, call("hipLaunchKernel", {{"corr_id", 7}})) +
                           slice(20, 30, kernel("k", {{"corr_id", 8}})));
  EXPECT_EQ(event_named(r, "k").link, event_named(r, "hipLaunchKernel").link);
  EXPECT_THAT(r.skipped, ElementsAre(Pair("calls of HSA: HIP's, above them, are kept", 1)));
}

TEST(Perfetto, HostileNamesAreValidText) {
  const Recording r = read(slice(1, 2, kernel("\xff<b>\x1b[0m")) + track(5, std::string(5000, '\xfe')));
  EXPECT_THAT(names_of(r), ElementsAre("\ufffd<b>\x1b[0m"));
  EXPECT_LE(r.lanes[0].name.size(), 3u * 256);
}

}  // namespace
}  // namespace rung::trace
