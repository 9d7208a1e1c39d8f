// Emits the function of a region: for each row its sweeps, whose loops have as many rounds as the row has vectors, and
// the computations between them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/generated/emitter.hpp"

namespace rung::generated {

using namespace Xbyak;

std::vector<uint8_t> Emitter::emit(const RegionBody& region) {
  same_ = region.same;
  operands_ = static_cast<int>(same_.size());
  tail_elements_ = static_cast<int>(region.width % lanes_of(set_));
  addresses_.resize(same_.size() + static_cast<size_t>(region.results + region.buffers));
  add_parts(region);
  setDefaultJmpNEAR(true);
  Label row;
  emit_prologue();
  emit_addresses();
  if (region.at_once) begin_rows();
  L(row);
  region.at_once ? emit_at_once() : emit_stages(region);
  emit_next_row(row);
  emit_epilogue();
  emit_pool();
  ready();
  return {getCode(), getCode() + getSize()};
}

// Emits what all rows of one vector have in common.
void Emitter::begin_rows() {
  enter(parts_.front());
  if (tail_elements_ > 0) begin_tail();
}

void Emitter::emit_at_once() {
  xor_(eax, eax);
  emit_preamble();
  emit_round(1, tail_elements_ > 0);
}

void Emitter::emit_stages(const RegionBody& region) {
  const Part* part = parts_.data();
  for (size_t i = 0; i < region.sweeps.size(); ++i, part += 3) {
    emit_once(part[0]);
    emit_sweep(region.width / lanes_of(set_), part[1], part[2]);
  }
  emit_once(*part);
}

// In the order in which they run, a sweep's tail behind its whole vectors.
void Emitter::add_parts(const RegionBody& region) {
  if (region.at_once)
    return add_part(*region.at_once, generated::schedule(*region.at_once, same_, file_, 1, Frame{0, 0, 0, false}));
  int carried = 0;  // of the sweep before
  for (size_t i = 0; i < region.rows.size(); ++i) {
    const bool last = i == region.sweeps.size();
    const int variables = last ? 0 : region.sweeps[i].variables, copies = last ? 0 : region.sweeps[i].copies;
    Frame frame{region.row_values, variables, std::max(carried, variables * copies), true};
    add_part(region.rows[i], generated::schedule(region.rows[i], same_, file_, 1, frame));
    if (last) break;
    frame.once = false;
    frame.carried = carried = variables * copies;
    const Sweep& sweep = region.sweeps[i];
    add_part(sweep.whole, generated::schedule(sweep.whole, same_, file_, copies, frame));
    add_part(sweep.tail, generated::schedule(sweep.tail, same_, file_, 1, frame));
  }
}

void Emitter::emit_once(const Part& part) {
  enter(part);
  emit_preamble();
  emit_round(1, false);
}

// `vectors`: how many whole ones a row has.
void Emitter::emit_sweep(int64_t vectors, const Part& whole, const Part& tail) {
  const int copies = whole.schedule.copies;
  const int64_t rounds = vectors / copies;
  const auto left = static_cast<int>(vectors % copies);
  xor_(eax, eax);
  if (vectors > 0) {
    enter(whole);
    emit_preamble();
  }
  if (rounds > 0) {
    Label again;
    L(again);
    emit_round(copies, false);
    add(index_, static_cast<uint32_t>(round_elements(copies)));
    if (rounds > 1) {
      cmp(index_, static_cast<uint32_t>(rounds * round_elements(copies)));
      jb(again);
    }
  }
  if (left > 0) {
    emit_round(left, false);
    add(index_, static_cast<uint32_t>(round_elements(left)));
  }
  if (tail_elements_ == 0) return;
  enter(tail);
  emit_preamble();
  begin_tail();
  emit_round(1, true);
}

bool Emitter::emit_of_row() {
  switch (step().primitive) {
    case Primitive::row_value:
      if (result_place().kind == Place::Kind::vector_register)
        vmovups(vector(result_place().index), slot(static_cast<int>(step().immediate)));
      return true;
    case Primitive::carried:
      return true;
    case Primitive::carry:
      emit_carry();
      return true;
    case Primitive::keep_row:
      vmovups(slot(static_cast<int>(step().immediate)), in_register(0, temporary(0)));
      return true;
    case Primitive::place_in_row:
      emit_place_in_row();
      return true;
    case Primitive::store_row:
      emit_store_row();
      return true;
    default:
      return false;
  }
}

void Emitter::emit_carry() {
  const Vector to = vector(schedule().frame.register_of(file_, step().immediate, at_.copy));
  const Vector from = in_register(0, to);
  if (from.getIdx() != to.getIdx()) vmovaps(to, from);
}

void Emitter::emit_place_in_row() {
  const Vector to = result();
  const Xmm low(to.getIdx());
  lea(edx, ptr[index_ + at_.copy * lanes_of(set_)]);
  vmovd(low, edx);
  vpbroadcastd(to, low);
  vpaddd(to, to, ptr[lane_numbers()]);
  vcvtdq2ps(to, to);
  finish(to);
}

// The index is free between sweeps.
void Emitter::emit_store_row() {
  const int result = operands_ + loaded_operand(step());
  const auto& known = addresses_[static_cast<size_t>(result)];
  if (!known) mov(rdx, ptr[rdi + 8 * result]);
  const Reg64 at = known.value_or(rdx);
  const Xmm low(in_register(0, temporary(0)).getIdx()), half(temporary(1).getIdx());
  switch (loaded_type(step())) {
    case DType::f32:
    case DType::i32:
      return vmovss(dword[at], low);
    case DType::i64:
      vcvttss2si(rax, low);
      return mov(qword[at], rax);
    case DType::f16:
      vcvtps2ph(half, low, 8);
      vmovd(eax, half);
      return mov(word[at], ax);
    case DType::bf16:
      vmovd(eax, low);
      return mov(word[at], ax);
    default:
      vmovd(eax, low);
      return mov(byte[at], al);
  }
}

}  // namespace rung::generated
