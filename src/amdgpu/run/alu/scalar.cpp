// Executes scalar arithmetic, logic and comparisons, on SGPRs, SCC and EXEC.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <vector>

#include "amdgpu/run/alu/handlers.hpp"
#include "amdgpu/run/alu/scalar_operand.hpp"

namespace rung::amdgpu {
namespace {

using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

constexpr u64 kFirstOfQuads = 0x1111111111111111;
u64 any_of_quads(u64 x) { return (x | x >> 1 | x >> 2 | x >> 3) & kFirstOfQuads; }
u64 whole_quads(u64 x) { return any_of_quads(x) * 15; }
u64 quads(u64 x) {  // makes one bit of each four
  u64 result = 0;
  for (int q = 0; q < 16; ++q) result |= (any_of_quads(x) >> (4 * q) & 1) << q;
  return result;
}
u64 reversed(u64 x) {
  u64 result = 0;
  for (int n = 0; n < 64; ++n) result |= (x >> n & 1) << (63 - n);
  return result;
}
u64 doubled_bits(u32 x) {
  u64 result = 0;
  for (int n = 0; n < 32; ++n) result |= (x >> n & 1 ? u64{3} : 0) << (2 * n);
  return result;
}
// Returns how many of the top bits are like the sign; -1: all.
template <class T>
i32 sign_run(T x) {
  const T unlike = x >> (8 * sizeof(T) - 1) ? static_cast<T>(~x) : x;
  return unlike ? std::countl_zero(unlike) : -1;
}
u64 field_of(u64 x, u32 offset, u32 width) { return x >> offset & (width >= 64 ? ~u64{0} : (u64{1} << width) - 1); }
i64 signed_field_of(i64 x, u32 offset, u32 width, u32 bits) {
  const u32 there = bits - offset, wanted = width < there ? width : there;
  return wanted == 0 ? 0 : static_cast<i64>(static_cast<u64>(x >> offset) << (64 - wanted)) >> (64 - wanted);
}

template <class T>
T read(Wave& w, const Instruction& i, const InstructionOperand& operand) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(read_scalar64(w, i, operand));
  else
    return static_cast<T>(read_scalar32(w, i, operand));
}
template <class T>
void write(Wave& w, const Instruction& i, T value) {
  if constexpr (sizeof(T) == 8)
    write_scalar64(w, i, i.destination, static_cast<u64>(value));
  else
    write_scalar32(w, i, i.destination, static_cast<u32>(value));
}

// Computes F{}(scc, sources...) as the result, and SCC in place.
template <class F, class Signature = decltype(&F::operator())>
struct Compute;
template <class F, class R, class... A>
struct Compute<F, R (F::*)(bool&, A...) const> {
  template <size_t... n>
  static R call(Wave& w, const Instruction& i, bool& scc, std::index_sequence<n...>) {
    return F{}(scc, read<A>(w, i, i.sources[n])...);
  }
  static void run(Wave& w, const Instruction& i) {
    bool scc = w.scc;
    const R result = call(w, i, scc, std::index_sequence_for<A...>{});
    if (w.pause != Pause::none) return;
    w.scc = scc;
    write(w, i, result);
  }
};
template <class F, class... A>
struct Compute<F, void (F::*)(bool&, A...) const> {
  template <size_t... n>
  static void call(Wave& w, const Instruction& i, std::index_sequence<n...>) {
    F{}(w.scc, read<A>(w, i, i.sources[n])...);
  }
  static void run(Wave& w, const Instruction& i) { call(w, i, std::index_sequence_for<A...>{}); }
};
template <class F>
Handler compute(F) {
  return Compute<F>::run;
}

// A mask of lanes may be combined before lanes that are off have a bit in it, as the mask that an earlier turn would
// have left is in a loop's first turn. As single bits are not followed, one written source is enough. A mask that goes
// into EXEC decides something, so both must be written.
using Written = decltype(Wave::scalar_written);
bool is_unwritten(const Written& written, const InstructionOperand& o) {
  return o.kind == OperandKind::scalar && o.number < 128 && !(written[o.number] && written[o.number + 1]);
}
template <class F>
Handler combine(F) {
  return [](Wave& w, const Instruction& i) {
    const bool whole = !is_unwritten(w.scalar_written, i.sources[0]) && !is_unwritten(w.scalar_written, i.sources[1]);
    if (whole || i.destination.number == kExec) [[likely]]
      return Compute<F>::run(w, i);
    const auto before = w.scalar_written;
    for (const InstructionOperand& o : {i.sources[0], i.sources[1]})
      if (is_unwritten(w.scalar_written, o)) w.scalar_written[o.number] = w.scalar_written[o.number + 1] = true;
    Compute<F>::run(w, i);
    const bool has_value = !is_unwritten(before, i.sources[0]) || !is_unwritten(before, i.sources[1]);
    w.scalar_written = before;
    if (w.pause == Pause::none)
      w.scalar_written[i.destination.number] = w.scalar_written[i.destination.number + 1] = has_value;
  };
}

// Computes F{}(destination before, scc, source) for one source at most.
template <class F, class Signature = decltype(&F::operator())>
struct Update;
template <class F, class R, class A>
struct Update<F, R (F::*)(bool&, R, A) const> {
  static void run(Wave& w, const Instruction& i) {
    bool scc = w.scc;
    const R result = F{}(scc, read<R>(w, i, i.destination), read<A>(w, i, i.sources[0]));
    if (w.pause == Pause::none) w.scc = scc, write(w, i, result);
  }
};
template <class F>
Handler update(F) {
  return Update<F>::run;
}

// SOPK instructions name the register first, whether it is read or written.
const InstructionOperand& register_of(const Instruction& i) {
  return i.destination.kind == OperandKind::none ? i.sources[0] : i.destination;
}
template <class F>
Handler update_by_constant(F) {
  return [](Wave& w, const Instruction& i) {
    bool scc = w.scc;
    const u32 result = F{}(scc, read_scalar32(w, i, register_of(i)), static_cast<u32>(i.immediate));
    if (w.pause == Pause::none) w.scc = scc, write_scalar32(w, i, register_of(i), result);
  };
}
template <class T, class F>
Handler compare_with_constant(F) {
  return [](Wave& w, const Instruction& i) {
    using Value = std::conditional_t<std::is_signed_v<T>, i32, u32>;
    const auto d = static_cast<Value>(read_scalar32(w, i, register_of(i)));
    if (w.pause == Pause::none) w.scc = F{}(d, static_cast<Value>(static_cast<T>(i.immediate)));
  };
}

template <bool kSaves, class F>
Handler mask_exec(F) {
  return [](Wave& w, const Instruction& i) {
    const u64 a = read_scalar64(w, i, i.sources[0]), exec = w.exec(), made = F{}(a, exec);
    if (w.pause != Pause::none) return;
    w.set_exec(made);
    w.scc = made != 0;
    write_scalar64(w, i, i.destination, kSaves ? exec : made);
  };
}

// A register that was not written may be copied; it stays unwritten.
template <int kRegisters>
void move_scalar(Wave& w, const Instruction& i) {
  const InstructionOperand& from = i.sources[0];
  bool written[2] = {true, true};
  for (int r = 0; r < kRegisters; ++r)
    if (from.kind == OperandKind::scalar && from.number < 128 && !w.scalar_pending[from.number + r]) {
      written[r] = w.scalar_written[from.number + r];
      w.scalar_written[from.number + r] = true;
    }
  const u64 value = kRegisters == 2 ? read_scalar64(w, i, from) : read_scalar32(w, i, from);
  for (int r = 0; r < kRegisters; ++r)
    if (from.kind == OperandKind::scalar && from.number < 128)
      w.scalar_written[from.number + r] = w.scalar_written[from.number + r] && written[r];
  if (w.pause != Pause::none) return;
  kRegisters == 2 ? write(w, i, value) : write(w, i, static_cast<u32>(value));
  for (int r = 0; r < kRegisters; ++r) w.scalar_written[(i.destination.number & 127) + r] = written[r];
}
template <int kRegisters>
void move_if_scc(Wave& w, const Instruction& i) {
  if (w.scc) move_scalar<kRegisters>(w, i);
}
void move_constant(Wave& w, const Instruction& i) { write(w, i, static_cast<u32>(i.immediate)); }
void move_constant_if_scc(Wave& w, const Instruction& i) {
  if (w.scc) move_constant(w, i);
}

// Returns the operand of s_movrel*: the register's number plus M0.
InstructionOperand moved_by_m0(Wave& w, const Instruction& i, const InstructionOperand& operand) {
  InstructionOperand moved = operand;
  const u32 m0 = read_scalar32(w, i, {.kind = OperandKind::scalar, .number = kM0});
  const u32 number = operand.number + m0;
  if (number >= kFlatScratch && w.pause == Pause::none)
    w.fail(DefectKind::bad_instruction, i, -1, "M0 leads beyond the scalar registers");
  moved.number = static_cast<uint16_t>(number & 127);
  return moved;
}
template <int kRegisters, bool kSource>
void move_by_m0(Wave& w, const Instruction& i) {
  Instruction moved = i;
  InstructionOperand& operand = kSource ? moved.sources[0] : moved.destination;
  operand = moved_by_m0(w, i, operand);
  if (w.pause == Pause::none) move_scalar<kRegisters>(w, moved);
}

struct Entry {
  Opcode opcode;
  Handler handler;
};

#define RUNG_SCALAR(name, R, condition, value, ...)        \
  {Opcode::name, compute([](bool& scc, __VA_ARGS__) -> R { \
     const R r = static_cast<R>(value);                    \
     scc = static_cast<bool>(condition);                   \
     return r;                                             \
   })},
#define RUNG_SCALAR_MASK(name, value)                         \
  {Opcode::name, combine([](bool& scc, u64 a, u64 b) -> u64 { \
     const u64 r = value;                                     \
     scc = r != 0;                                            \
     return r;                                                \
   })},
#define RUNG_SCALAR_COMPARE(name, condition, ...) \
  {Opcode::name, compute([](bool& scc, __VA_ARGS__) -> void { scc = static_cast<bool>(condition); })},
#define RUNG_SCALAR_UPDATE(name, R, condition, value, ...) \
  {Opcode::name, update([](bool& scc, R d, __VA_ARGS__) -> R { return scc = condition, static_cast<R>(value); })},
#define RUNG_SAVEEXEC(name, value) {Opcode::name, mask_exec<true>([](u64 a, u64 exec) -> u64 { return value; })},
#define RUNG_WRITEEXEC(name, value) {Opcode::name, mask_exec<false>([](u64 a, u64 exec) -> u64 { return value; })},
#define RUNG_SOPK_UPDATE(name, condition, value)                         \
  {Opcode::name, update_by_constant([](bool& scc, u32 d, u32 k) -> u32 { \
     const u32 r = value;                                                \
     scc = static_cast<bool>(condition);                                 \
     return r;                                                           \
   })},
#define RUNG_SOPK_COMPARE(name, T, condition) \
  {Opcode::name, compare_with_constant<T>([](auto d, auto k) { return condition; })},

const Entry kEntries[] = {
#include "amdgpu/run/alu/scalar.inc"
    {Opcode::s_mov_b32, move_scalar<1>},           {Opcode::s_mov_b64, move_scalar<2>},
    {Opcode::s_cmov_b32, move_if_scc<1>},          {Opcode::s_cmov_b64, move_if_scc<2>},
    {Opcode::s_movk_i32, move_constant},           {Opcode::s_cmovk_i32, move_constant_if_scc},
    {Opcode::s_movrels_b32, move_by_m0<1, true>},  {Opcode::s_movrels_b64, move_by_m0<2, true>},
    {Opcode::s_movreld_b32, move_by_m0<1, false>}, {Opcode::s_movreld_b64, move_by_m0<2, false>},
};

}  // namespace

Handler scalar_handler(const Instruction& instruction) {
  static const auto kByOpcode = [] {
    std::vector<Handler> handlers(std::size(kEntries));
    for (const Entry& entry : kEntries) {
      const auto opcode = static_cast<size_t>(entry.opcode);
      handlers.resize(std::max(handlers.size(), opcode + 1));
      handlers[opcode] = entry.handler;
    }
    return handlers;
  }();
  const auto opcode = static_cast<size_t>(instruction.opcode);
  return opcode < kByOpcode.size() ? kByOpcode[opcode] : nullptr;
}

}  // namespace rung::amdgpu
