// Makes arguments, hidden ones included, and initial registers, by the kernel's descriptor and metadata.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/run/dispatch.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "amdgpu/run/program.hpp"

namespace rung::amdgpu {
namespace {

// A larger number means a damaged file: no lane has more than 256 KiB of scratch, and kernels take a few KiB of
// arguments.
constexpr uint32_t kMostScratch = 256 * 1024, kMostArguments = 64 * 1024;

bool is_hidden(const KernelArgument& argument) { return argument.kind.starts_with("hidden_"); }

// Returns a hidden argument's value. Grids here are whole work-groups, so there are no remainders.
uint64_t hidden_value(std::string_view kind, const Dispatch& dispatch) {
  const Extents &groups = dispatch.groups, &threads = dispatch.threads;
  if (kind == "hidden_block_count_x") return groups.x;
  if (kind == "hidden_block_count_y") return groups.y;
  if (kind == "hidden_block_count_z") return groups.z;
  if (kind == "hidden_group_size_x") return threads.x;
  if (kind == "hidden_group_size_y") return threads.y;
  if (kind == "hidden_group_size_z") return threads.z;
  if (kind == "hidden_grid_dims") return groups.z * threads.z > 1 ? 3 : groups.y * threads.y > 1 ? 2 : 1;
  if (kind == "hidden_dynamic_lds_size") return dispatch.dynamic_lds_bytes;
  if (kind == "hidden_private_base") return kPrivateAperture >> 32;
  if (kind == "hidden_shared_base") return kSharedAperture >> 32;
  return 0;  // offsets, remainders, and services not offered: printf, host calls, heaps, queues
}

template <class T>
void put(std::vector<std::byte>& block, size_t offset, T value) {
  std::memcpy(block.data() + offset, &value, sizeof value);
}

void fill_packet(Launch& launch) {
  const Dispatch& d = launch.dispatch;
  const KernelInfo& kernel = d.program->kernel();
  put<uint16_t>(launch.block, 2, 3);  // dimensions
  put(launch.block, 4, static_cast<uint16_t>(d.threads.x));
  put(launch.block, 6, static_cast<uint16_t>(d.threads.y));
  put(launch.block, 8, static_cast<uint16_t>(d.threads.z));
  put(launch.block, 12, d.groups.x * d.threads.x);
  put(launch.block, 16, d.groups.y * d.threads.y);
  put(launch.block, 20, d.groups.z * d.threads.z);
  put(launch.block, 24, kernel.scratch_bytes);
  put(launch.block, 28, launch.lds_bytes);
  put(launch.block, 40, launch.arguments());
}

void fill_arguments(Launch& launch) {
  const Dispatch& dispatch = launch.dispatch;
  std::byte* arguments = launch.block.data() + Launch::kPacketBytes;
  if (!dispatch.arguments.empty()) std::memcpy(arguments, dispatch.arguments.data(), dispatch.arguments.size());
  for (const KernelArgument& argument : dispatch.program->kernel().arguments) {
    if (!is_hidden(argument)) continue;
    const uint64_t value = hidden_value(argument.kind, dispatch);
    std::memcpy(arguments + argument.offset, &value, std::min<size_t>(argument.size, sizeof value));
  }
}

// Writes scalar registers in the order of the descriptor's bits.
struct ScalarWriter {
  Wave& wave;
  uint32_t next = 0;
  void put(uint32_t value) {
    wave.s[next] = value;
    wave.scalar_written[next++] = true;
  }
  void put64(uint64_t value) { put(static_cast<uint32_t>(value)), put(static_cast<uint32_t>(value >> 32)); }
};

// Puts the registers that the descriptor asks for before the work-group's numbers. Preloaded arguments stay unwritten:
// the prologue before such a kernel's body loads them.
void put_user_registers(ScalarWriter& to, const KernelInfo& kernel, const Launch& launch) {
  const unsigned asked = kernel.properties;
  if (asked & 1) to.put64(0), to.put64(0);  // private segment buffer: not served
  if (asked & 2) to.put64(launch.packet());
  if (asked & 4) to.put64(0);  // queue
  if (asked & 8) to.put64(launch.arguments());
  if (asked & 16) to.put64(0);  // dispatch id
  if (asked & 32) to.put64(0);  // flat scratch: offsets are the wave's own
  if (asked & 64) to.put(kernel.scratch_bytes);
}

void begin_wave(Wave& wave, Group& group, const Launch& launch) {
  const Program& program = *group.program;
  const KernelInfo& kernel = program.kernel();
  const bool unasked = !group.checks.uninitialised;
  wave.written.fill(unasked ? ~uint64_t{0} : 0);
  wave.scalar_written.fill(unasked);
  wave.pending.fill(0), wave.scalar_pending.fill(0);
  wave.s.fill(0);
  wave.scc = false;
  wave.mode = kernel.rsrc1 >> 12 & 0xff;
  if (kernel.rsrc1 >> 21 & 1) wave.mode |= Mode::kDx10Clamp;
  if (kernel.rsrc1 >> 23 & 1) wave.mode |= Mode::kIeee;
  wave.next = program.entry();
  wave.pause = Pause::none;
  wave.isa = program.code().isa();
  wave.code = &program.code();
  wave.apertures = {kSharedAperture, kSharedAperture + 0xffffffff, kPrivateAperture, kPrivateAperture + 0xffffffff};
  wave.group = &group;
  wave.scratch.assign(size_t{kernel.scratch_bytes} * kWaveLanes, std::byte{0});

  ScalarWriter scalars{wave};
  put_user_registers(scalars, kernel, launch);
  scalars.next = kernel.rsrc2 >> 1 & 0x1f;
  for (int axis = 0; axis < 3; ++axis)
    if (kernel.rsrc2 >> (7 + axis) & 1) scalars.put(group.id[axis]);
  if (kernel.rsrc2 >> 10 & 1) scalars.put(0);                       // work-group info
  if (kernel.rsrc2 & 1 && wave.isa == Isa::gfx90a) scalars.put(0);  // offset of the wave's scratch

  const Extents& threads = launch.dispatch.threads;
  const uint32_t first = wave.number * kWaveLanes;
  uint64_t lanes = 0;
  for (uint32_t lane = 0; lane < kWaveLanes && first + lane < launch.threads; ++lane) {
    const uint32_t thread = first + lane;
    const uint32_t x = thread % threads.x, y = thread / threads.x % threads.y, z = thread / threads.x / threads.y;
    wave.v[0].at[lane] = x | y << 10 | z << 20;
    lanes |= uint64_t{1} << lane;
  }
  wave.written[0] |= lanes;
  wave.set_exec(lanes);
  for (const int number : {kFlatScratch + 0, kFlatScratch + 1, kExec + 0, kExec + 1})
    wave.scalar_written[number] = true;
}

Status check_extents(const Dispatch& dispatch, Launch& launch) {
  const KernelInfo& kernel = dispatch.program->kernel();
  const Extents &t = dispatch.threads, &g = dispatch.groups;
  const uint64_t threads = uint64_t{t.x} * t.y * t.z;
  const uint64_t most = kernel.most_threads ? std::min(kernel.most_threads, 1024u) : 1024;
  if (threads == 0 || t.x > 1024 || t.y > 1024 || t.z > 1024 || threads > most)
    return wrong_usage("kernel '{}': got a work-group of {} x {} x {} threads, wanted 1 to {}", kernel.name, t.x, t.y,
                       t.z, most);
  const uint64_t plane = uint64_t{g.x} * g.y;  // below 2^64
  if (plane == 0 || g.z == 0 || plane > (uint64_t{1} << 31) / g.z)
    return wrong_usage("kernel '{}': got {} x {} x {} work-groups, wanted 1 to 2^31", kernel.name, g.x, g.y, g.z);
  launch.groups = plane * g.z;
  launch.threads = static_cast<uint32_t>(threads);
  launch.waves = (launch.threads + kWaveLanes - 1) / kWaveLanes;
  return {};
}

}  // namespace

Result<Launch> prepare(const Dispatch& dispatch) {
  const KernelInfo& kernel = dispatch.program->kernel();
  Launch launch{.dispatch = dispatch};
  if (auto fits = check_extents(dispatch, launch); !fits) return tl::unexpected(fits.error());
  const IsaInfo& isa = info_of(dispatch.program->code().isa());
  const uint64_t lds = uint64_t{kernel.lds_bytes} + dispatch.dynamic_lds_bytes;
  if (lds > isa.lds_bytes)
    return wrong_usage("kernel '{}': got {} bytes of LDS, wanted at most {} on {}", kernel.name, lds, isa.lds_bytes,
                       isa.name);
  launch.lds_bytes = static_cast<uint32_t>(lds);
  size_t expected = 0, whole = kernel.argument_bytes;
  for (const KernelArgument& argument : kernel.arguments) {
    const size_t end = size_t{argument.offset} + argument.size;
    whole = std::max(whole, end);
    if (!is_hidden(argument)) expected = std::max(expected, end);
  }
  if (dispatch.arguments.size() != expected)
    return wrong_usage("kernel '{}': got {} bytes of arguments, wanted {}", kernel.name, dispatch.arguments.size(),
                       expected);
  if (kernel.scratch_bytes > kMostScratch || whole > kMostArguments)
    return bad_file("kernel '{}': got {} bytes of scratch a lane and {} of arguments, wanted at most {} and {}",
                    kernel.name, kernel.scratch_bytes, whole, kMostScratch, kMostArguments);
  launch.block.assign(Launch::kPacketBytes + whole, std::byte{0});
  fill_packet(launch);
  fill_arguments(launch);
  return launch;
}

void begin_group(Group& group, const Launch& launch, uint64_t number) {
  const Extents& groups = launch.dispatch.groups;
  group.number = static_cast<uint32_t>(number);
  group.id = {static_cast<uint32_t>(number % groups.x), static_cast<uint32_t>(number / groups.x % groups.y),
              static_cast<uint32_t>(number / groups.x / groups.y)};
  group.synchronised = false;
  group.lds.reset(launch.lds_bytes, group.checks);
  group.waves.resize(launch.waves);
  group.memory_of.resize(launch.waves);
  for (uint32_t n = 0; n < launch.waves; ++n) {
    group.waves[n].number = n;
    group.memory_of[n].in_flight.clear();
    group.memory_of[n].last = nullptr;
    begin_wave(group.waves[n], group, launch);
    group.memory_of[n].scratch_written.assign(group.waves[n].scratch.size(), !group.checks.uninitialised);
  }
}

}  // namespace rung::amdgpu
