// Emits what both instruction sets share: the frame, the loop, addresses, arithmetic, constants.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/emitter.hpp"

#include <algorithm>

namespace rung::generated {

using namespace Xbyak;
using Kind = Place::Kind;

namespace {

constexpr int kSavedRegisters = 5;
const Reg64 kSaved[kSavedRegisters] = {util::rbx, util::r12, util::r13, util::r14, util::r15};
constexpr int kAddressRegisters = 9;
const Reg64 kAddresses[kAddressRegisters] = {util::rcx, util::r8,  util::r9,  util::r10, util::r11,
                                             util::r12, util::r13, util::r14, util::r15};

}  // namespace

void Emitter::add_part(const Body& body, Schedule schedule) {
  slots_ = std::max(slots_, schedule.slots);
  parts_.push_back({&body, std::move(schedule), constants_, tables_});
  constants_ += static_cast<int>(parts_.back().schedule.constants.size());
  tables_ += static_cast<int>(body.tables.size());
}

std::vector<uint8_t> Emitter::emit(const Body& body, const std::vector<bool>& same) {
  same_ = same;
  operands_ = static_cast<int>(same.size());
  const auto results =
      std::ranges::count_if(body.steps, [](const Step& of) { return of.primitive == Primitive::store; });
  addresses_.resize(same.size() + static_cast<size_t>(results));
  add_part(body, generated::schedule(body, same, file_));
  setDefaultJmpNEAR(true);
  Label row;
  emit_prologue();
  enter(parts_.front());
  emit_addresses();
  L(row);
  emit_preamble();
  xor_(eax, eax);
  emit_main();
  emit_rest();
  emit_next_row(row);
  emit_epilogue();
  emit_pool();
  ready();
  return {getCode(), getCode() + getSize()};
}

void Emitter::emit_prologue() {
  push(rbp);
  mov(rbp, rsp);
  for (const Reg64& reg : kSaved) push(reg);
  sub(rsp, slots_ * lanes_of(set_) * 4 + 128);
  and_(rsp, -64);  // slots begin at whole vectors
  mov(ptr[rows_left()], rdx);
  mov(ptr[row_bytes()], rcx);
  lea(pool_, ptr[rip + pool_label_]);
}

void Emitter::enter(const Part& part) {
  part_ = &part;
  for (const Schedule::Kept& kept : schedule().kept) vbroadcastss(vector(kept.reg), constant(kept.constant, false));
}

void Emitter::emit_preamble() {
  for (const Placed& placed : schedule().preamble) {
    at_ = placed;
    emit_step();
  }
}

void Emitter::emit_addresses() {
  int next = 0;
  for (size_t i = 0; i < addresses_.size() && next < kAddressRegisters; ++i) {
    if (is_same(same_, static_cast<int>(i))) continue;
    addresses_[i] = kAddresses[next++];
    mov(*addresses_[i], ptr[rdi + 8 * static_cast<int>(i)]);
  }
}

void Emitter::emit_main() {
  Label again, done;
  L(again);
  lea(rdx, ptr[index_ + round_elements(schedule().copies)]);
  cmp(rdx, count_);
  ja(done);
  emit_round(schedule().copies, false);
  add(index_, static_cast<uint32_t>(round_elements(schedule().copies)));
  jmp(again);
  L(done);
}

void Emitter::emit_round(int copies, bool tail) {
  tail_ = tail;
  for (const Placed& placed : schedule().loop) {
    if (placed.copy >= copies) continue;
    at_ = placed;
    emit_step();
  }
}

// Moves all addresses on by the bytes of a row.
void Emitter::emit_next_row(const Label& row) {
  Label done;
  dec(qword[rows_left()]);
  jz(done);
  mov(rdx, ptr[row_bytes()]);
  for (int i = 0; i < static_cast<int>(addresses_.size()); ++i) {
    const auto& known = addresses_[static_cast<size_t>(i)];
    if (known) {
      add(*known, ptr[rdx + 8 * i]);
      continue;
    }
    mov(rax, ptr[rdx + 8 * i]);
    add(ptr[rdi + 8 * i], rax);
  }
  jmp(row);
  L(done);
}

void Emitter::emit_epilogue() {
  vzeroupper();
  lea(rsp, ptr[rbp - 8 * kSavedRegisters]);
  for (int i = kSavedRegisters; i-- > 0;) pop(kSaved[i]);
  pop(rbp);
  ret();
}

void Emitter::emit_pool() {
  align(64);
  L(pool_label_);
  const int repeats = constant_bytes() / 4;
  for (const Part& part : parts_)
    for (uint32_t bits : part.schedule.constants)
      for (int i = 0; i < repeats; ++i) dd(bits);
  align(64);
  for (const Part& part : parts_)
    for (const Table& of : part.body->tables)
      for (int half = 0; half < 2; ++half)
        for (uint32_t bits : of.words) dd(bits);
  for (uint32_t lane = 0; lane < 16; ++lane) dd(lane);
  for (int lane = 0; lane < 16; ++lane) dd(lane < tail_elements_ ? ~0u : 0);
}

Address Emitter::constant(int index, bool broadcast) const {
  const int at = (part_->constants + index) * constant_bytes();
  return (broadcast && set_ == VectorSet::avx512 ? ptr_b : ptr)[pool_ + at];
}

RegExp Emitter::block(int number) const { return pool_ + (constants_ * constant_bytes() + 63) / 64 * 64 + 64 * number; }

Address Emitter::slot(int index) const { return ptr[rsp + index * lanes_of(set_) * 4]; }

Emitter::Source Emitter::source(int operand) const {
  const Place& place = place_of(operand);
  if (place.kind == Kind::vector_register) return Source(vector(place.index));
  if (place.kind == Kind::slot) return Source(slot(place.index));
  return Source(constant(place.index, true));
}

Emitter::Vector Emitter::in_register(int operand, const Vector& temporary) {
  const Place& place = place_of(operand);
  if (place.kind == Kind::vector_register) return vector(place.index);
  if (place.kind == Kind::slot)
    vmovups(temporary, slot(place.index));
  else
    vbroadcastss(temporary, constant(place.index, false));
  return temporary;
}

Emitter::Vector Emitter::result() const {
  return result_place().kind == Kind::vector_register ? vector(result_place().index) : temporary(0);
}

void Emitter::finish(const Vector& result) {
  if (result_place().kind == Kind::slot) vmovups(slot(result_place().index), result);
}

void Emitter::emit_step() {
  switch (step().primitive) {
    case Primitive::constant:
      return;
    case Primitive::load:
      return emit_load();
    case Primitive::store:
      return emit_store();
    case Primitive::fma:
      return emit_fused(false);
    case Primitive::fnma:
      return emit_fused(true);
    case Primitive::begin_rare:
      return jump_if_none(rare_end_.emplace());
    case Primitive::end_rare:
      return L(*rare_end_);
    default:
      if (!emit_of_row() && !emit_arithmetic()) emit_special();
  }
}

#define RUNG_ONE(primitive, instruction)                          \
  case Primitive::primitive:                                      \
    one([&](const Vector& to, const Vector& a) { instruction; }); \
    return true;
#define RUNG_TWO(primitive, instruction, commutes)                                                     \
  case Primitive::primitive:                                                                           \
    two([&](const Vector& to, const Vector& a, const Source& b) { instruction(to, a, b); }, commutes); \
    return true;
bool Emitter::emit_arithmetic() {
  const auto places = static_cast<uint8_t>(step().immediate);
  switch (step().primitive) {
    RUNG_TWO(add, vaddps, true)
    RUNG_TWO(sub, vsubps, false)
    RUNG_TWO(mul, vmulps, true)
    RUNG_TWO(div, vdivps, false)
    RUNG_TWO(min, vminps, false)
    RUNG_TWO(max, vmaxps, false)
    RUNG_TWO(add_int, vpaddd, true)
    RUNG_TWO(sub_int, vpsubd, false)
    RUNG_TWO(mul_int, vpmulld, true)
    RUNG_TWO(shift_left_by, vpsllvd, false)
    RUNG_TWO(shift_right_by, vpsrlvd, false)
    RUNG_TWO(shift_right_signed_by, vpsravd, false)
    RUNG_ONE(sqrt, vsqrtps(to, a))
    RUNG_ONE(to_int, vcvtps2dq(to, a))
    RUNG_ONE(to_int_toward_zero, vcvttps2dq(to, a))
    RUNG_ONE(to_float, vcvtdq2ps(to, a))
    RUNG_ONE(shift_left, vpslld(to, a, places))
    RUNG_ONE(shift_right, vpsrld(to, a, places))
    RUNG_ONE(shift_right_signed, vpsrad(to, a, places))
    default:
      return false;
  }
}
#undef RUNG_ONE
#undef RUNG_TWO

// The three forms differ in the operand that the result overwrites, and the last one may be memory.
void Emitter::emit_fused(bool negated) {
  const Vector to = result();
  const auto is_result = [&](int operand) { return is_register(operand) && place_of(operand).index == to.getIdx(); };
  int a = 0, b = 1;
  if (!is_result(2) && is_result(1)) std::swap(a, b);
  if (!is_result(2) && !is_result(a)) {
    // No operand ends here: the result begins as a copy of one that is in memory, else of the summand.
    if (!is_register(b) && is_register(a)) std::swap(a, b);
    if (!is_register(a)) {
      in_register(a, to);
    } else {
      const Vector summand = in_register(2, to);
      if (summand.getIdx() != to.getIdx()) vmovaps(to, summand);
      const Source factor = source(b);
      negated ? vfnmadd231ps(to, vector(place_of(a).index), factor)
              : vfmadd231ps(to, vector(place_of(a).index), factor);
      return finish(to);
    }
  }
  if (is_result(2)) {
    if (!is_register(a) && is_register(b)) std::swap(a, b);
    const Vector factor = in_register(a, temporary(1));
    negated ? vfnmadd231ps(to, factor, source(b)) : vfmadd231ps(to, factor, source(b));
  } else if (is_register(2) && !is_register(b)) {
    negated ? vfnmadd132ps(to, vector(place_of(2).index), source(b))
            : vfmadd132ps(to, vector(place_of(2).index), source(b));
  } else {
    const Vector factor = in_register(b, temporary(1));
    negated ? vfnmadd213ps(to, factor, source(2)) : vfmadd213ps(to, factor, source(2));
  }
  finish(to);
}

Emitter::Memory Emitter::memory_of(int operand, DType type) {
  const auto bytes = static_cast<int>(size_of(type));
  const auto& known = addresses_[static_cast<size_t>(operand)];
  if (!known) mov(rdx, ptr[rdi + 8 * operand]);
  return {known.value_or(rdx) + index_ * bytes + at_.copy * lanes_of(set_) * bytes, tail_};
}

void Emitter::emit_load() {
  const int operand = loaded_operand(step());
  if (is_same(same_, operand)) return emit_same_load();
  const Vector to = result();
  load_elements(loaded_type(step()), memory_of(operand, loaded_type(step())), to);
  finish(to);
}

// Reads the one element of the operand into every lane.
void Emitter::emit_same_load() {
  const Vector to = result();
  const Xmm low(to.getIdx());
  mov(rdx, ptr[rdi + 8 * loaded_operand(step())]);
  switch (loaded_type(step())) {
    case DType::f16:
    case DType::bf16:
      movzx(edx, word[rdx]);
      break;
    case DType::boolean:
    case DType::u8:
      movzx(edx, byte[rdx]);
      break;
    case DType::i8:
      movsx(edx, byte[rdx]);
      break;
    default:
      mov(edx, dword[rdx]);
  }
  if (loaded_type(step()) == DType::bf16) shl(edx, 16);
  vmovd(low, edx);
  if (loaded_type(step()) == DType::f16) vcvtph2ps(low, low);
  vpbroadcastd(to, low);
  finish(to);
}

void Emitter::emit_store() {
  const auto type = static_cast<DType>(step().immediate & 0xff);
  const int result_number = static_cast<int>(step().immediate >> 8);
  store_elements(type, memory_of(operands_ + result_number, type), in_register(0, temporary(0)));
}

}  // namespace rung::generated
