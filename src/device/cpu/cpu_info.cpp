// Reads CPUID, XCR0 and sysfs; asks the kernel for the AMX tile state.
// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_info.hpp"

#include <cpuid.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "base/cores.hpp"
#include "device/cpu/isa_cap.hpp"

namespace rung::cpu {
namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// Returns zeros if the processor has no such leaf.
Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx)) return {};
  return r;
}

bool bit(uint32_t word, int index) { return (word >> index) & 1u; }

// Returns the register state that the operating system saves; 0 without OSXSAVE.
uint64_t saved_state() {
  if (!bit(cpuid(1).ecx, 27)) return 0;
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

// Linux gives the 8 KiB tile state only to a process that asked for it.
bool request_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

std::string brand() {
  char text[49] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    Registers r = cpuid(0x80000002u + i);
    std::memcpy(text + 16 * i, &r, sizeof r);
  }
  std::string name(text);
  size_t first = name.find_first_not_of(' '), last = name.find_last_not_of(' ');
  return first == std::string::npos ? "unknown x86-64 processor" : name.substr(first, last - first + 1);
}

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// Sizes read "32K" or "16M"; a size that sysfs does not tell keeps its default.
void read_caches(CpuInfo& info) {
  for (int i = 0; i < 8; ++i) {
    std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    std::string level = first_word(folder + "level"), size = first_word(folder + "size");
    if (level.empty() || size.empty() || first_word(folder + "type") == "Instruction") continue;
    size_t bytes = std::strtoull(size.c_str(), nullptr, 10) << (size.back() == 'M' ? 20 : size.back() == 'K' ? 10 : 0);
    if (bytes == 0) continue;
    if (level == "1") info.l1_bytes = bytes;
    if (level == "2") info.l2_bytes = bytes;
    if (level == "3") info.l3_bytes = bytes;
  }
}

void read_instruction_sets(CpuInfo& info) {
  constexpr uint64_t kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000;
  uint64_t state = saved_state();
  Registers basic = cpuid(1), features = cpuid(7), more = cpuid(7, 1);
  info.avx2 = (state & kYmm) == kYmm && bit(features.ebx, 5) && bit(basic.ecx, 12) && bit(basic.ecx, 29);
  info.avx512 = info.avx2 && (state & kZmm) == kZmm && bit(features.ebx, 16) && bit(features.ebx, 17) &&
                bit(features.ebx, 30) && bit(features.ebx, 31);
  info.avx512_vnni = info.avx512 && bit(features.ecx, 11);
  info.avx512_bf16 = info.avx512 && bit(more.eax, 5);
  info.amx_bf16 = info.avx512_bf16 && (state & kTiles) == kTiles && bit(features.edx, 22) && bit(features.edx, 24) &&
                  request_tiles();
  info.amx_int8 = info.amx_bf16 && bit(features.edx, 25);
}

void cap(CpuInfo& info, size_t level) {
  bool* flags[] = {nullptr, &info.avx2, &info.avx512, &info.avx512_vnni, &info.avx512_bf16, &info.amx_bf16};
  static_assert(std::size(flags) == std::size(kIsaLevels));
  for (size_t i = level + 1; i < std::size(flags); ++i) *flags[i] = false;
  info.amx_int8 = info.amx_int8 && info.amx_bf16;
}

CpuInfo read() {
  CpuInfo info;
  info.name = brand();
  info.cores = usable_cores();
  read_caches(info);
  read_instruction_sets(info);
  if (const auto level = isa_cap()) cap(info, *level);  // who opens a target is told of a wrong word
  return info;
}

}  // namespace

std::string CpuInfo::isa_text() const {
  std::string text;
  for (auto [has, word] : {std::pair{avx2, "avx2"},
                           {avx512, "avx512"},
                           {avx512_vnni, "avx512_vnni"},
                           {avx512_bf16, "avx512_bf16"},
                           {amx_bf16, "amx_bf16"},
                           {amx_int8, "amx_int8"}})
    if (has) text += (text.empty() ? "" : " ") + std::string(word);
  return text.empty() ? "scalar" : text;
}

const CpuInfo& cpu_info() {
  static const CpuInfo info = read();
  return info;
}

}  // namespace rung::cpu
