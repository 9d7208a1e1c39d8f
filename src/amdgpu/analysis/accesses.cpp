// The accesses of a listing, and the reasons that keep some of them narrow.
// SPDX-License-Identifier: Apache-2.0
#include "amdgpu/analysis/accesses.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "amdgpu/isa/decode.hpp"
#include "amdgpu/run/lane_pattern.hpp"
#include "amdgpu/run/wave.hpp"

namespace rung::amdgpu {
namespace {

bool has_part(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return name.ends_with(part); });
}

// The name of an access smaller than a register ends with its size, before a suffix that says which half it takes.
uint32_t bytes_of_small(std::string_view name) {
  for (const std::string_view suffix : {"_hi", "_d16"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  if (name.find("_tr_") != std::string_view::npos || name.find("_rtn_") != std::string_view::npos) return 0;
  if (has_part(name, {"byte", "_b8", "_u8", "_i8"})) return 1;
  return has_part(name, {"short", "_b16", "_u16", "_i16"}) ? 2 : 0;
}

uint32_t bytes_of_load_to_lds(std::string_view name) {
  return name.ends_with("dwordx4") ? 16 : name.ends_with("dwordx3") ? 12 : 4;
}

// Returns the bytes that a lane moves; of an instruction with two places, the sum.
uint32_t bytes_of(const Instruction& made) {
  const std::string_view name = name_of(made.opcode);
  if (const uint32_t small = bytes_of_small(name)) return small;
  if (has_part(name, {"permute_b32", "swizzle_b32", "ds_nop"}) || name.starts_with("ds_gws")) return 0;
  if (made.memory.lds) return bytes_of_load_to_lds(name);
  if (made.destination.kind != OperandKind::none) return 4u * made.destination.registers;
  uint32_t registers = 0;
  for (size_t s = 1; s < made.source_count; ++s)
    if (is_vector(made.sources[s])) registers += made.sources[s].registers;
  const bool compares = name.starts_with("ds_cmpst") || name.starts_with("ds_mskor");  // half is a comparand or a mask
  return compares ? 2 * registers : 4 * registers;
}

// Returns whether two places of LDS make two accesses, whose offsets count in their width, or in 64 times it.
bool has_two_offsets(const Instruction& made) {
  const std::string_view name = name_of(made.opcode);
  return name.starts_with("ds_read2") || name.starts_with("ds_write2") || name.starts_with("ds_wrxchg2");
}
// Returns the number of places; equal offsets are one place.
uint32_t places_of(const Instruction& made) {
  return has_two_offsets(made) && (made.memory.offset & 0xff) != (made.memory.offset >> 8 & 0xff) ? 2 : 1;
}

int64_t offset_of(const Instruction& made, uint32_t place, uint32_t bytes) {
  if (!has_two_offsets(made)) return made.memory.offset;
  const bool strided = name_of(made.opcode).find("st64") != std::string_view::npos;
  return int64_t{made.memory.offset >> (8 * place) & 0xff} * bytes * (strided ? 64 : 1);
}

// Counts how often each register was written so far.
class Versions {
 public:
  void written(const InstructionOperand& operand) {
    for (uint32_t r = 0; r < operand.registers; ++r) ++count(operand, r);
  }
  uint32_t& count(const InstructionOperand& operand, uint32_t word = 0) {
    static constexpr size_t kScalarPlace = 512;
    const size_t place = operand.kind == OperandKind::scalar ? kScalarPlace + operand.number
                         : is_vector(operand)                ? Wave::place_of(operand)
                                                             : counts_.size() - 1;
    return counts_[std::min(place + word, counts_.size() - 1)];
  }

 private:
  std::array<uint32_t, 512 + 256 + 32> counts_{};
};

// Returns the scalar base that global and buffer accesses have behind their first source.
const InstructionOperand& scalar_base(const Instruction& made) {
  static const InstructionOperand none;
  for (size_t s = 1; s < made.source_count; ++s)
    if (made.sources[s].kind == OperandKind::scalar) return made.sources[s];
  return none;
}

Access access_of(const Instruction& made, Versions& versions) {
  const std::string_view name = name_of(made.opcode);
  Access access{.lds = made.encoding == Encoding::ds};
  access.load = name.find("_load") != name.npos || name.starts_with("ds_read");
  access.store = name.find("_store") != name.npos || name.starts_with("ds_write");
  const InstructionOperand &address = made.sources[0], &base = scalar_base(made);
  access.base = {Wave::place_of(address), versions.count(address), base.number, versions.count(base)};
  return access;
}

// Returns the bytes between neighbouring lanes; nothing if the distance is not the same between all.
std::optional<uint32_t> lane_stride(const Access& access) {
  if (!access.address) return std::nullopt;
  const auto& at = access.address->at;
  for (size_t l = 2; l < kWaveLanes; ++l)
    if (at[l] - at[l - 1] != at[1] - at[0]) return std::nullopt;
  return at[1] - at[0];
}

}  // namespace

bool is_memory_access(const Instruction& made) {
  return made.encoding == Encoding::flat || made.encoding == Encoding::global || made.encoding == Encoding::mubuf;
}

std::vector<Access> accesses_of(const Listing& listing, const std::vector<Block>& blocks) {
  const std::vector<LaneValuePtr> addresses = lane_addresses(listing, blocks);
  std::vector<Access> all;
  Versions versions;
  for (size_t i = 0; i < listing.instructions.size(); ++i) {
    const Instruction& made = listing.instructions[i].instruction;
    if (is_memory_access(made) || made.encoding == Encoding::ds) {
      Access access = access_of(made, versions);
      access.index = i, access.address = addresses[i];
      access.bytes = bytes_of(made) / (has_two_offsets(made) ? 2 : 1);
      for (uint32_t place = 0; place < places_of(made) && access.bytes; ++place) {
        access.offset = offset_of(made, place, access.bytes);
        all.push_back(access);
      }
    }
    versions.written(made.destination), versions.written(made.carry_out);
  }
  return all;
}

std::vector<Narrow> narrow_reasons(const std::vector<Access>& accesses) {
  using Key = std::tuple<std::array<uint32_t, 4>, bool, bool, uint32_t, int64_t>;
  const auto key = [](const Access& access, int64_t offset) {
    return Key{access.base, access.lds, access.load, access.bytes, offset};
  };
  std::set<Key> there;
  for (const Access& access : accesses) there.insert(key(access, access.offset));
  std::vector<Narrow> reasons;
  for (const Access& access : accesses) {
    const auto stride = lane_stride(access);
    const bool neighbour = there.contains(key(access, access.offset + access.bytes)) ||
                           there.contains(key(access, access.offset - access.bytes));
    if (neighbour && stride != access.bytes)
      reasons.push_back(Narrow::alignment);
    else if (stride)
      reasons.push_back(*stride == access.bytes ? Narrow::type : Narrow::stride);
    else
      reasons.push_back(access.address ? Narrow::stride : Narrow::unknown);
  }
  return reasons;
}

uint64_t conflict_cycles(const Access& access) {
  Addresses addresses;
  addresses.lanes = ~uint64_t{0};
  for (size_t l = 0; l < kWaveLanes; ++l)
    addresses.at[l] = access.address->at[l] + static_cast<uint64_t>(access.offset);
  addresses.close();
  return bank_conflicts(addresses, access.bytes);
}

}  // namespace rung::amdgpu
