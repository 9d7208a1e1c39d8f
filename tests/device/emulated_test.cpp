// The emulated GPU behind its runtime table: memory, order, recorded graphs, launches, and faults that end a device.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/emulated.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <thread>

#include "device/gpu/current_context.hpp"
#include "device/gpu/gpu.hpp"
#include "device/gpu/load_watch.hpp"
#include "device/gpu/peaks.hpp"
#include "device/gpu/pinned.hpp"
#include "device/gpu/timed_graph.hpp"
#include "support/made_code_object.hpp"

namespace rung::gpu {
namespace {

using amdgpu::Isa;
using ::testing::HasSubstr;
using testing::MadeCodeObject;
using testing::MadeKernel;

// *to = value, by one lane of each group:
//   s_load_dwordx2 s[4:5], s[0:1], 0x0; s_load_dword s6, s[0:1], 0x8; s_waitcnt lgkmcnt(0)
//   v_mov_b32 v0, 0; v_mov_b32 v1, s6; global_store_dword v0, v1, s[4:5]; s_endpgm
MadeKernel store_kernel() {
  return {.name = "store",
          .code = {0xc0060100, 0x00000000, 0xc0020180, 0x00000008, 0xbf8cc07f, 0x7e000280, 0x7e020206, 0xdc708000,
                   0x00040100, 0xbf810000},
          .arguments = {{"global_buffer", 0, 8}, {"by_value", 8, 4}},
          .argument_bytes = 12,
          .lds_bytes = 0,
          .most_threads = 64};
}
constexpr uint64_t kStoreInstructions = 7;

// from[1] = from[0], by one lane of each group:
//   s_load_dwordx2 s[4:5], s[0:1], 0x0; s_waitcnt lgkmcnt(0); v_mov_b32 v0, 0; global_load_dword v1, v0, s[4:5]
//   s_waitcnt vmcnt(0); global_store_dword v0, v1, s[4:5] offset:4; s_endpgm
MadeKernel load_kernel() {
  return {.name = "load",
          .code = {0xc0060100, 0x00000000, 0xbf8cc07f, 0x7e000280, 0xdc508000, 0x01040000, 0xbf8c0f70, 0xdc708004,
                   0x00040100, 0xbf810000},
          .arguments = {{"global_buffer", 0, 8}},
          .argument_bytes = 8,
          .lds_bytes = 0,
          .most_threads = 64};
}

class EmulatedDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    gpu = *Gpu::open(emulated_runtime(Isa::gfx942), 0);
    current = std::make_unique<CurrentContext>(*gpu);
    queue = *Queue::make(*gpu);
  }
  const Runtime& runtime() const { return gpu->runtime(); }
  Status check(int code) const { return gpu->check(code, "test"); }
  Function function(const char* name = "store") {
    const MadeCodeObject object({store_kernel()});
    EXPECT_TRUE(check(runtime().module_load(&module, object.bytes().data())));
    Function found = nullptr;
    EXPECT_TRUE(check(runtime().module_function(&found, module, name)));
    return found;
  }
  Status store(Function function, Address to, uint32_t value, Launch shape = {.block = {64}}) {
    void* parameters[] = {&to, &value};
    return check(runtime().launch(function, shape, parameters, queue->stream()));
  }
  // Runs load_kernel() on the word at `from`, on a device that is current.
  Status load(Gpu& device, Queue& on, Address from) {
    const MadeCodeObject object({load_kernel()});
    Module loaded = nullptr;
    Function kernel = nullptr;
    RUNG_CHECK(device.check(runtime().module_load(&loaded, object.bytes().data()), "load"));
    RUNG_CHECK(device.check(runtime().module_function(&kernel, loaded, "load"), "load"));
    void* parameters[] = {&from};
    Status done = device.check(runtime().launch(kernel, {.block = {64}}, parameters, on.stream()), "load");
    runtime().module_unload(loaded);
    return done;
  }
  uint32_t word_at(Address address) {
    uint32_t word = 0;
    const Status done = queue->download(&word, address, sizeof word);
    EXPECT_TRUE(done) << done.error().message;
    return word;
  }
  void TearDown() override {
    if (module) runtime().module_unload(module);
    queue.reset(), current.reset();
  }

  std::shared_ptr<Gpu> gpu;
  std::unique_ptr<CurrentContext> current;
  std::unique_ptr<Queue> queue;
  Module module = nullptr;
};

TEST_F(EmulatedDevices, SayWhatTheyAre) {
  const GpuInfo& info = gpu->info();
  EXPECT_EQ(info.name, "emulated gfx942");
  EXPECT_EQ(info.runtime, "emu");
  EXPECT_EQ(info.architecture, 0x942);
  EXPECT_EQ(info.lanes, 64);
  EXPECT_EQ(info.shared_bytes_per_block, 64u << 10);
  EXPECT_EQ(info.multiprocessors, 304);
  EXPECT_TRUE(info.counts_instructions);
  EXPECT_FALSE(info.cooperative || info.clusters || info.dependent_launch || info.preferred_library());
  EXPECT_EQ((*Gpu::open(emulated_runtime(Isa::gfx950), 0))->info().shared_bytes_per_block, 160u << 10);
  EXPECT_FALSE(Gpu::open(emulated_runtime(Isa::gfx942), 1));
}

TEST_F(EmulatedDevices, HaveNoSensorsAndNoPeaks) {
  LoadWatch watch(*gpu);
  EXPECT_FALSE(watch.sees());
  EXPECT_EQ(watch.stop(1).unknown, "emu does not report clocks and power");
  auto peaks = measure_peaks(*gpu, nullptr);
  ASSERT_TRUE(peaks);
  EXPECT_EQ(peaks->read_gbps, 0);
}

TEST_F(EmulatedDevices, CopyAndFillMemory) {
  auto block = *gpu->allocate(64);
  std::array<uint32_t, 4> sent{1, 2, 3, 4}, got{};
  ASSERT_TRUE(queue->fill(block->address(), 0xab, 64));
  ASSERT_TRUE(queue->upload(block->address(), sent.data(), sizeof sent));
  ASSERT_TRUE(queue->copy(block->address() + 32, block->address(), sizeof sent));
  ASSERT_TRUE(queue->download(got.data(), block->address() + 32, sizeof got));
  EXPECT_EQ(got, sent);
  EXPECT_EQ(word_at(block->address() + 16), 0xababababu);
}

TEST_F(EmulatedDevices, LaunchAKernelWithItsArguments) {
  auto block = *gpu->allocate(8);
  ASSERT_TRUE(queue->fill(block->address(), 0, 8));
  const Function kernel = function();
  Status done = store(kernel, block->address() + 4, 42);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(word_at(block->address()), 0u);
  EXPECT_EQ(word_at(block->address() + 4), 42u);
  const amdgpu::Counts counts = take_emulated_counts(gpu->context());
  EXPECT_EQ(counts.instructions, kStoreInstructions);
  EXPECT_EQ(counts.global_stores, 1u);
  EXPECT_EQ(counts.global_bytes_written, 4u * 64);
  EXPECT_EQ(take_emulated_counts(gpu->context()).instructions, 0u);
}

TEST_F(EmulatedDevices, KeepAGraphsArgumentsUntilItIsLaunched) {
  auto block = *gpu->allocate(8);
  ASSERT_TRUE(queue->fill(block->address(), 0, 8));
  const Function kernel = function();
  auto graph = TimedGraph::record(*queue, [&]() -> Status {
    RUNG_CHECK(store(kernel, block->address(), 7));
    return check(runtime().copy(block->address() + 4, block->address(), 4, queue->stream()));
  });
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ((*graph)->nodes(), 2u);
  EXPECT_EQ(word_at(block->address()), 0u);
  for (int time = 0; time < 3; ++time) {
    ASSERT_TRUE(queue->fill(block->address(), 0, 8));
    ASSERT_TRUE((*graph)->replay());
    EXPECT_EQ(word_at(block->address()), 7u);
    EXPECT_EQ(word_at(block->address() + 4), 7u);
  }
}

// 1 ms is kInstructionsPerMs wave instructions, of the stream's launches alone.
TEST_F(EmulatedDevices, EventsTellInstructionsNotTime) {
  auto block = *gpu->allocate(4);
  const Function kernel = function();
  auto graph = TimedGraph::record(*queue, [&]() -> Status {
    for (uint32_t i = 0; i < 5; ++i) RUNG_CHECK(store(kernel, block->address(), i));
    return {};
  });
  ASSERT_TRUE(graph) << graph.error().message;
  auto other = *Queue::make(*gpu);
  ASSERT_TRUE((*graph)->start());
  ASSERT_TRUE((*graph)->launch(other->stream()));
  ASSERT_TRUE((*graph)->take_time());
  EXPECT_FLOAT_EQ(static_cast<float>((*graph)->ms() * kInstructionsPerMs), 5.0f * kStoreInstructions);
}

TEST_F(EmulatedDevices, ADefectEndsTheDeviceAndIsTold) {
  const Function kernel = function();
  auto block = *gpu->allocate(4);
  Status done = store(kernel, block->address() + 4, 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::device_fault);
  EXPECT_THAT(done.error().message, HasSubstr("out of bounds"));
  EXPECT_THAT(done.error().message, HasSubstr("store"));
  EXPECT_THAT(done.error().message, HasSubstr("global_store_dword"));
  Status later = queue->fill(block->address(), 0, 4);
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().kind, ErrorKind::device_fault);
  auto another = *Gpu::open(emulated_runtime(Isa::gfx942), 0);  // a device of its own
  EXPECT_TRUE((*Queue::make(*another))->fill((*another->allocate(4))->address(), 0, 4));
}

TEST_F(EmulatedDevices, FaultWhereGroupsWriteTheSameByte) {
  auto block = *gpu->allocate(4);
  const Status done = store(function(), block->address(), 1, {.grid = {5}, .block = {64}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::device_fault);
  EXPECT_THAT(done.error().message, HasSubstr("global race"));
}

TEST_F(EmulatedDevices, ACopyBeyondAnAllocationIsAFault) {
  auto block = *gpu->allocate(4);
  uint64_t word = 0;
  const Status done = queue->download(&word, block->address(), 8);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::device_fault);
  EXPECT_THAT(done.error().message, HasSubstr("a copy from 8 bytes at"));
}

TEST_F(EmulatedDevices, TakeACopyOfUnwrittenMemoryAsUnwritten) {
  auto block = *gpu->allocate(32);
  ASSERT_TRUE(queue->fill(block->address(), 1, 2));
  ASSERT_TRUE(queue->copy(block->address() + 16, block->address(), 4));
  uint32_t word = 0;
  ASSERT_TRUE(queue->download(&word, block->address() + 16, 4));
}

// A copy brings what nobody wrote along, also over what somebody wrote.
TEST_F(EmulatedDevices, TellOfReadsOfCopiedUnwrittenMemory) {
  for (const bool written : {true, false}) {
    auto device = *Gpu::open(emulated_runtime(Isa::gfx942), 0);
    const CurrentContext its(*device);
    auto on_it = *Queue::make(*device);
    auto block = *device->allocate(32);
    ASSERT_TRUE(on_it->fill(block->address(), 1, written ? 32 : 16));
    ASSERT_TRUE(on_it->copy(block->address(), block->address() + 16, 4));
    const Status done = load(*device, *on_it, block->address());
    EXPECT_THAT(done ? "" : done.error().message, HasSubstr(written ? "" : "uninitialised"));
    EXPECT_EQ(done.has_value(), written);
  }
}

// Each byte that an upload, a fill or a copy brings is written, and no other.
TEST_F(EmulatedDevices, TrackWhatIsWrittenByteByByte) {
  const std::array<std::byte, 8> values{};
  for (const int way : {0, 1, 2})
    for (size_t begin = 0; begin < 5; ++begin)
      for (size_t end = begin + 1; end <= 8; ++end) {
        auto device = *Gpu::open(emulated_runtime(Isa::gfx942), 0);
        const CurrentContext its(*device);
        auto on_it = *Queue::make(*device);
        auto block = *device->allocate(8), from = *device->allocate(8);
        ASSERT_TRUE(on_it->fill(from->address(), 1, 8));
        const Address to = block->address() + begin;
        const size_t bytes = end - begin;
        ASSERT_TRUE(way == 0   ? on_it->upload(to, values.data(), bytes)
                    : way == 1 ? on_it->fill(to, 7, bytes)
                               : on_it->copy(to, from->address(), bytes));
        const Status done = load(*device, *on_it, block->address());
        EXPECT_EQ(done.has_value(), begin == 0 && end >= 4) << way << ": bytes " << begin << " to " << end;
      }
}

TEST_F(EmulatedDevices, NothingIsCopiedToAndFromAnywhere) {
  for (const Address wild : {Address{0}, Address{1}, ~Address{0}}) {
    EXPECT_TRUE(queue->fill(wild, 1, 0));
    EXPECT_TRUE(queue->upload(wild, nullptr, 0));
    EXPECT_TRUE(queue->download(nullptr, wild, 0));
    EXPECT_TRUE(queue->copy(wild, wild, 0));
  }
}

// A copy or a fill that is partly outside moves nothing.
TEST_F(EmulatedDevices, WorkBeyondAnAllocationMovesNothing) {
  const std::array<uint32_t, 4> wrong{9, 9, 9, 9};
  for (const int way : {0, 1, 2, 3, 4}) {
    auto device = *Gpu::open(emulated_runtime(Isa::gfx942), 0);
    const CurrentContext its(*device);
    auto on_it = *Queue::make(*device);
    auto small = *device->allocate(8), large = *device->allocate(16);
    ASSERT_TRUE(on_it->fill(small->address(), 1, 8));
    ASSERT_TRUE(on_it->fill(large->address(), 2, 16));
    std::array<uint32_t, 4> got{5, 5, 5, 5};
    const Address s = small->address(), l = large->address();
    const Status done = way == 0   ? on_it->upload(s, wrong.data(), 9)
                        : way == 1 ? on_it->download(got.data(), s, 9)
                        : way == 2 ? on_it->copy(s, l, 9)
                        : way == 3 ? on_it->copy(l, s, 9)
                                   : on_it->fill(s, 9, 9);
    ASSERT_FALSE(done) << way;
    EXPECT_EQ(done.error().kind, ErrorKind::device_fault);
    EXPECT_THAT(done.error().message, HasSubstr("9 bytes at"));
    EXPECT_EQ(*static_cast<const uint8_t*>(device_pointer(s)), 1) << way;
    EXPECT_EQ(*static_cast<const uint8_t*>(device_pointer(l)), 2) << way;
    EXPECT_EQ(got[0], 5u);
  }
}

TEST_F(EmulatedDevices, TakeTheArgumentsBetweenHiddenOnes) {
  MadeKernel kernel = store_kernel();
  kernel.argument_bytes = 32;
  kernel.arguments = {{"hidden_block_count_x", 12, 4},
                      {"global_buffer", 0, 8},
                      {"hidden_grid_dims", 16, 2},
                      {"by_value", 8, 4},
                      {"hidden_none", 24, 8}};
  const MadeCodeObject object({kernel});
  Function found = nullptr;
  ASSERT_TRUE(check(runtime().module_load(&module, object.bytes().data())));
  ASSERT_TRUE(check(runtime().module_function(&found, module, "store")));
  auto block = *gpu->allocate(4);
  const Status done = store(found, block->address(), 1234);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(word_at(block->address()), 1234u);
}

// Kernels of one module, whichever is asked for first.
TEST_F(EmulatedDevices, FindEachKernelOfAModule) {
  MadeKernel nothing{.name = "nothing", .most_threads = 64};
  const MadeCodeObject object({nothing, store_kernel(), load_kernel()});
  ASSERT_TRUE(check(runtime().module_load(&module, object.bytes().data())));
  Function store_it = nullptr, load_it = nullptr, nothing_of_it = nullptr;
  ASSERT_TRUE(check(runtime().module_function(&load_it, module, "load")));
  ASSERT_TRUE(check(runtime().module_function(&nothing_of_it, module, "nothing")));
  ASSERT_TRUE(check(runtime().module_function(&store_it, module, "store")));
  auto block = *gpu->allocate(8);
  ASSERT_TRUE(store(store_it, block->address(), 5));
  ASSERT_TRUE(check(runtime().launch(nothing_of_it, {.block = {64}}, nullptr, queue->stream())));
  Address place = block->address();
  void* parameters[] = {&place};
  ASSERT_TRUE(check(runtime().launch(load_it, {.block = {64}}, parameters, queue->stream())));
  EXPECT_EQ(word_at(block->address() + 4), 5u);
}

TEST_F(EmulatedDevices, RefuseWhatARecordedStreamCannotTake) {
  auto block = *gpu->allocate(4);
  const Stream stream = queue->stream();
  Graph graph = nullptr;
  EXPECT_THAT(check(runtime().capture_end(stream, &graph)).error().message, HasSubstr("is not recording it"));
  ASSERT_TRUE(check(runtime().capture_begin(stream)));
  EXPECT_THAT(check(runtime().capture_begin(stream)).error().message, HasSubstr("being recorded already"));
  EXPECT_THAT(check(runtime().stream_synchronize(stream)).error().message, HasSubstr("the stream is being recorded"));
  std::thread([&] {
    const CurrentContext its(*gpu);
    EXPECT_THAT(check(runtime().fill(block->address(), 1, 4, stream)).error().message, HasSubstr("another thread"));
    EXPECT_THAT(check(runtime().capture_end(stream, &graph)).error().message, HasSubstr("is not recording it"));
  }).join();
  ASSERT_TRUE(check(runtime().fill(block->address(), 2, 4, stream)));
  ASSERT_TRUE(check(runtime().capture_end(stream, &graph)));
  size_t nodes = 0;
  ASSERT_TRUE(check(runtime().graph_nodes(graph, &nodes)));
  EXPECT_EQ(nodes, 1u);
  ASSERT_TRUE(check(runtime().stream_synchronize(stream)));
  ASSERT_TRUE(queue->fill(block->address(), 3, 4));
  EXPECT_EQ(word_at(block->address()), 0x03030303u) << "what is put behind the recording is done at once";
  EXPECT_TRUE(check(runtime().graph_destroy(graph)));
}

// The first wrong piece of work ends the device: what stands behind it in the graph is not done.
TEST_F(EmulatedDevices, AGraphEndsAtItsFault) {
  auto block = *gpu->allocate(8);
  ASSERT_TRUE(queue->fill(block->address(), 1, 8));
  auto graph = TimedGraph::record(*queue, [&]() -> Status {
    RUNG_CHECK(queue->fill(block->address(), 2, 4));
    RUNG_CHECK(queue->fill(block->address() + 4, 3, 5));
    return queue->fill(block->address() + 4, 4, 4);
  });
  ASSERT_TRUE(graph) << graph.error().message;
  const Status done = (*graph)->replay();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("a fill of 5 bytes"));
  uint32_t words[2];
  std::memcpy(words, device_pointer(block->address()), sizeof words);
  EXPECT_EQ(words[0], 0x02020202u);
  EXPECT_EQ(words[1], 0x01010101u);
  // The first fault is told for good.
  EXPECT_THAT(queue->fill(0, 1, 7).error().message, HasSubstr("a fill of 5 bytes"));
}

TEST_F(EmulatedDevices, ReachNoMemoryOfAnother) {
  auto another = *Gpu::open(emulated_runtime(Isa::gfx942), 0);
  auto block = *another->allocate(4);
  const Status done = queue->fill(block->address(), 1, 4);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::device_fault);
  EXPECT_TRUE((*Queue::make(*another))->fill(block->address(), 1, 4));
}

TEST_F(EmulatedDevices, FreeWhatBeginsThereAndOnce) {
  Address block = 0;
  void* pinned = nullptr;
  ASSERT_TRUE(check(runtime().allocate(&block, 64)));
  ASSERT_TRUE(check(runtime().allocate_pinned(&pinned, 64)));
  EXPECT_THAT(check(runtime().release(block + 1)).error().message, HasSubstr("no allocation begins at"));
  EXPECT_THAT(check(runtime().release(address_of(pinned))).error().message, HasSubstr("no allocation begins at"));
  EXPECT_THAT(check(runtime().release_pinned(device_pointer(block))).error().message, HasSubstr("no pinned memory"));
  EXPECT_TRUE(check(runtime().release(block)));
  EXPECT_TRUE(check(runtime().release_pinned(pinned)));
  EXPECT_FALSE(check(runtime().release(block)));
  EXPECT_FALSE(check(runtime().release_pinned(pinned)));
}

TEST_F(EmulatedDevices, EventsOfTwoStreamsHaveNoTimeBetween) {
  Event first = nullptr, last = nullptr;
  ASSERT_TRUE(check(runtime().event_create(&first)));
  ASSERT_TRUE(check(runtime().event_create(&last)));
  auto other = *Queue::make(*gpu);
  float ms = -1;
  EXPECT_FALSE(check(runtime().event_elapsed_ms(&ms, first, last))) << "nobody recorded them";
  ASSERT_TRUE(check(runtime().event_record(first, queue->stream())));
  EXPECT_FALSE(check(runtime().event_elapsed_ms(&ms, first, last)));
  ASSERT_TRUE(check(runtime().event_record(last, other->stream())));
  EXPECT_FALSE(check(runtime().event_elapsed_ms(&ms, first, last)));
  ASSERT_TRUE(check(runtime().event_record(last, queue->stream())));
  EXPECT_TRUE(check(runtime().event_elapsed_ms(&ms, first, last)));
  EXPECT_EQ(ms, 0);
  runtime().event_destroy(first), runtime().event_destroy(last);
}

TEST_F(EmulatedDevices, LookAtWhatTheyAreAskedTo) {
  amdgpu::Checks checks;
  checks.races = false;
  set_emulated_checks(gpu->context(), checks);
  auto block = *gpu->allocate(4);
  const Function kernel = function();
  EXPECT_TRUE(store(kernel, block->address(), 1, {.grid = {5}, .block = {64}}));
  EXPECT_FALSE(store(kernel, block->address() + 1, 1)) << "bounds are always looked at";
}

TEST_F(EmulatedDevices, DoNothingForAThreadWithoutTheirContext) {
  auto block = *gpu->allocate(4);
  std::thread([&] {
    Address address = 0;
    Stream stream = nullptr;
    void* pinned = nullptr;
    for (const int code : {runtime().allocate(&address, 4), runtime().fill(block->address(), 1, 4, queue->stream()),
                           runtime().stream_create(&stream), runtime().allocate_pinned(&pinned, 4),
                           runtime().release(block->address()), runtime().stream_synchronize(queue->stream())}) {
      EXPECT_EQ(code, 201);
      EXPECT_STREQ(runtime().error_text(code), "no device's context is current");
    }
  }).join();
  EXPECT_TRUE(queue->fill(block->address(), 1, 4));
}

TEST_F(EmulatedDevices, RefuseWhatTheyCannotDo) {
  const Function kernel = function();
  auto block = *gpu->allocate(4);
  EXPECT_THAT(store(kernel, block->address(), 1, {.block = {64}, .cooperative = true}).error().message,
              HasSubstr("not emulated"));
  EXPECT_THAT(store(kernel, block->address(), 1, {.block = {64}, .cluster = {2}}).error().message,
              HasSubstr("no clusters"));
  EXPECT_THAT(store(kernel, block->address(), 1, {.block = {128}}).error().message, HasSubstr("128"));
  Function none = nullptr;
  EXPECT_THAT(check(runtime().module_function(&none, module, "other")).error().message,
              HasSubstr("no kernel 'other' in this module"));
  Module other = nullptr;
  const MadeCodeObject gfx950({store_kernel()}, Isa::gfx950);
  EXPECT_THAT(check(runtime().module_load(&other, gfx950.bytes().data())).error().message,
              HasSubstr("a code object for gfx950, this device is gfx942"));
  EXPECT_TRUE(check(runtime().allow_shared_bytes(kernel, 64 << 10)));
  EXPECT_FALSE(check(runtime().allow_shared_bytes(kernel, (64 << 10) + 1)));
  TileMap tile;
  EXPECT_FALSE(check(runtime().tile_map(&tile, {})));
  EXPECT_TRUE(store(kernel, block->address(), 1));  // none of it was a fault
}

TEST_F(EmulatedDevices, ReachPinnedMemoryAndFreeWhatTheyAllocate) {
  const size_t free = gpu->memory()->free;
  {
    auto pinned = *Pinned::make(*gpu, 4);
    auto block = *gpu->allocate(1 << 20);
    EXPECT_EQ(gpu->memory()->free, free - (1 << 20));
    ASSERT_TRUE(store(function(), reinterpret_cast<Address>(pinned->data()), 9));
    uint32_t word = 0;
    std::memcpy(&word, pinned->data(), sizeof word);
    EXPECT_EQ(word, 9u);
  }
  EXPECT_EQ(gpu->memory()->free, free);
  EXPECT_FALSE(gpu->allocate(free + 1));
}

}  // namespace
}  // namespace rung::gpu
