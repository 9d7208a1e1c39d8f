// Emits AVX-512: masks have registers of their own, and the last elements are loaded and stored through one.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/emitter.hpp"

namespace rung::generated {
namespace {

using namespace Xbyak;

class Avx512Emitter final : public Emitter {
 public:
  Avx512Emitter() : Emitter(VectorSet::avx512) {}

 private:
  const Opmask tail_mask_ = k6, temporary_mask_ = k7;

  static Ymm half(const Vector& v) { return Ymm(v.getIdx()); }
  static Zmm whole(const Vector& v) { return Zmm(v.getIdx()); }
  Opmask mask_operand(int operand) {
    const Place& place = place_of(operand);
    if (place.kind == Place::Kind::mask_register) return Opmask(place.index);
    kmovw(temporary_mask_, word_slot(place));
    return temporary_mask_;
  }
  Address word_slot(const Place& place) const { return word[rsp + place.index * 64]; }
  Opmask mask_result() const {
    return result_place().kind == Place::Kind::mask_register ? Opmask(result_place().index) : temporary_mask_;
  }
  void finish_mask(const Opmask& mask) {
    if (result_place().kind == Place::Kind::slot) kmovw(word_slot(result_place()), mask);
  }

  void load_elements(DType type, const Memory& memory, const Vector& to) override {
    const Zmm z = whole(to);
    const auto masked = [&](const auto& reg) { return memory.tail ? reg | tail_mask_ | T_z : reg; };
    switch (type) {
      case DType::f16:
        return vcvtph2ps(masked(z), yword[memory.at]);
      case DType::bf16:
        vpmovzxwd(masked(z), yword[memory.at]);
        return vpslld(z, z, 16);
      case DType::boolean:
      case DType::u8:
        return vpmovzxbd(masked(z), xword[memory.at]);
      case DType::i8:
        return vpmovsxbd(masked(z), xword[memory.at]);
      default:
        return vmovups(masked(z), zword[memory.at]);
    }
  }

  void store_elements(DType type, const Memory& memory, const Vector& from) override {
    const Zmm z = whole(from);
    const Address at = memory.tail ? ptr[memory.at] | tail_mask_ : ptr[memory.at];
    switch (type) {
      case DType::f16:
        return vcvtps2ph(at, z, 8);
      case DType::bf16:
        return vpmovdw(at, z);
      case DType::boolean:
      case DType::u8:
      case DType::i8:
        return vpmovdb(at, z);
      default:
        return vmovups(at, z);
    }
  }

  // One vector at a time, the last one with as many lanes as there are elements.
  void emit_rest() override {
    Label again, done;
    L(again);
    mov(rdx, count_);
    sub(rdx, index_);
    jbe(done);
    mov(dword[scratch()], 0xffff);
    bzhi(edx, dword[scratch()], edx);
    kmovw(tail_mask_, edx);
    emit_round(1, true);
    add(index_, lanes_of(set_));
    jmp(again);
    L(done);
  }

  void begin_tail() override {
    mov(edx, (1 << tail_elements_) - 1);
    kmovw(tail_mask_, edx);
  }

  void jump_if_none(const Label& target) override {
    const Opmask mask = mask_operand(0);
    kortestw(mask, mask);
    jz(target);
  }

  template <class Compare>
  void compare(Compare compare) {
    const Opmask to = mask_result();
    const Vector first = in_register(0, temporary(1));
    compare(to, first, source(1));
    finish_mask(to);
  }

  void emit_special() override {
    switch (step().primitive) {
      case Primitive::bit_and:
        return two([&](const Vector& to, const Vector& a, const Source& b) { vpandd(to, a, b); }, true);
      case Primitive::bit_or:
        return two([&](const Vector& to, const Vector& a, const Source& b) { vpord(to, a, b); }, true);
      case Primitive::bit_xor:
        return two([&](const Vector& to, const Vector& a, const Source& b) { vpxord(to, a, b); }, true);
      case Primitive::scale:
        return two([&](const Vector& to, const Vector& a, const Source& b) { vscalefps(to, a, b); });
      case Primitive::estimate_reciprocal:
        return one([&](const Vector& to, const Vector& a) { vrcp14ps(to, a); });
      case Primitive::round:
        return one(
            [&](const Vector& to, const Vector& a) { vrndscaleps(to, a, static_cast<uint8_t>(step().immediate)); });
      case Primitive::round_f16:
        return one([&](const Vector& to, const Vector& a) {
          vcvtps2ph(half(temporary(1)), whole(a), 8);
          vcvtph2ps(whole(to), half(temporary(1)));
        });
      case Primitive::table_word:
        return one(
            [&](const Vector& to, const Vector& a) { vpermd(whole(to), whole(a), zword[table(step().immediate)]); });
      case Primitive::swap_lanes:
        return one([&](const Vector& to, const Vector& a) { swap_lanes(whole(to), whole(a)); });
      case Primitive::lanes_up:
        return lanes_up();
      case Primitive::last_lane:
        return one([&](const Vector& to, const Vector& a) {
          valignd(to, a, a, 15);
          vpbroadcastd(to, Xmm(to.getIdx()));
        });
      case Primitive::multiply_high:
        return multiply_high();
      case Primitive::divide_int:
        return divide_int();
      default:
        return emit_mask();
    }
  }

  void lanes_up() {
    const Vector a = in_register(0, temporary(0)), b = in_register(1, temporary(1)), to = result();
    valignd(to, a, b, static_cast<uint8_t>(16 - step().immediate));
    finish(to);
  }

  void swap_lanes(const Zmm& to, const Zmm& a) {
    switch (step().immediate) {
      case 8:
        return vshuff32x4(to, a, a, 0x4e);
      case 4:
        return vshuff32x4(to, a, a, 0xb1);
      case 2:
        return vpermilps(to, a, 0x4e);
      default:
        return vpermilps(to, a, 0xb1);
    }
  }

  void emit_mask() {
    switch (step().primitive) {
      case Primitive::compare:
        return compare([&](const Opmask& to, const Vector& a, const Source& b) {
          vcmpps(to, a, b, static_cast<uint8_t>(step().immediate));
        });
      case Primitive::equal_int:
        return compare([&](const Opmask& to, const Vector& a, const Source& b) { vpcmpeqd(to, a, b); });
      case Primitive::greater_int:
        return compare([&](const Opmask& to, const Vector& a, const Source& b) { vpcmpgtd(to, a, b); });
      case Primitive::mask_and:
        return join_masks([&](const Opmask& to, const Opmask& a, const Opmask& b) { kandw(to, a, b); });
      case Primitive::mask_or:
        return join_masks([&](const Opmask& to, const Opmask& a, const Opmask& b) { korw(to, a, b); });
      case Primitive::is_element:
        kmovw(mask_result(), tail_mask_);
        return finish_mask(mask_result());
      case Primitive::mask_not: {
        const Opmask to = mask_result();
        knotw(to, mask_operand(0));
        return finish_mask(to);
      }
      default:
        return select();
    }
  }

  template <class Join>
  void join_masks(Join join) {
    const Opmask to = mask_result();
    const Place& second = place_of(1);
    Opmask b = Opmask(second.index);
    if (second.kind == Place::Kind::slot) {
      kmovw(k0, word_slot(second));
      b = k0;
    }
    join(to, mask_operand(0), b);
    finish_mask(to);
  }

  void select() {
    const Vector to = result();
    const Opmask mask = mask_operand(0);
    const Vector no = in_register(2, temporary(1));
    vblendmps(whole(to) | mask, no, source(1));
    finish(to);
  }

  void multiply_high() {
    const Vector a = in_register(0, temporary(0)), b = in_register(1, temporary(1));
    const Zmm even = whole(temporary(2)), odd = whole(temporary(0)), other = whole(temporary(1));
    vpmuludq(even, a, b);
    vpsrlq(odd, a, 32);
    vpsrlq(other, b, 32);
    vpmuludq(odd, odd, other);
    vpsrlq(even, even, 32);
    vpsrlq(odd, odd, 32);
    vpsllq(odd, odd, 32);
    const Vector to = result();
    vpord(to, even, odd);
    finish(to);
  }

  // A quotient of i32 is exact in f64.
  void divide_int() {
    const Vector a = in_register(0, temporary(0)), b = in_register(1, temporary(1));
    const Zmm high = whole(temporary(2)), low = whole(temporary(0)), other = whole(temporary(1));
    const Ymm part(temporary(2).getIdx());
    vextracti64x4(part, whole(b), 1);
    vcvtdq2pd(high, part);
    vmovups(ptr[scratch()], high);
    vextracti64x4(part, whole(a), 1);
    vcvtdq2pd(high, part);
    vdivpd(high, high, ptr[scratch()]);
    vcvttpd2dq(half(high), high);
    vcvtdq2pd(low, half(a));
    vcvtdq2pd(other, half(b));
    vdivpd(low, low, other);
    vcvttpd2dq(half(low), low);
    const Vector to = result();
    vinserti64x4(whole(to), low, half(high), 1);
    finish(to);
  }
};

}  // namespace

std::unique_ptr<Emitter> avx512_emitter() { return std::make_unique<Avx512Emitter>(); }

}  // namespace rung::generated
