// Emits AVX2: masks are vectors of all ones or all zeros; what is less than a vector is loaded and stored by way of the
// stack, but for 32 bits, which have masks.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/generated/emitter.hpp"

namespace rung::generated {
namespace {

using namespace Xbyak;

class Avx2Emitter final : public Emitter {
 public:
  Avx2Emitter() : Emitter(VectorSet::avx2) {}

 private:
  static Xmm half(const Vector& v) { return Xmm(v.getIdx()); }
  static Ymm whole(const Vector& v) { return Ymm(v.getIdx()); }

  void load_elements(DType type, const Memory& memory, const Vector& to) override {
    const Ymm y = whole(to);
    if (memory.tail) return load_tail(type, memory, y);
    switch (type) {
      case DType::f16:
        return vcvtph2ps(y, xword[memory.at]);
      case DType::bf16:
        vpmovzxwd(y, xword[memory.at]);
        return vpslld(y, y, 16);
      case DType::boolean:
      case DType::u8:
        return vpmovzxbd(y, qword[memory.at]);
      case DType::i8:
        return vpmovsxbd(y, qword[memory.at]);
      default:
        return vmovups(y, yword[memory.at]);
    }
  }

  void load_tail(DType type, const Memory& memory, const Ymm& to) {
    if (size_of(type) == 4) {
      vmovups(to, yword[tail_lanes()]);
      return vmaskmovps(to, to, yword[memory.at]);
    }
    vpxor(half(to), half(to), half(to));
    vmovups(xword[scratch()], half(to));
    copy_tail(type, memory.at, scratch());
    load_elements(type, {scratch()}, to);
  }
  void store_tail(DType type, const Memory& memory, const Vector& from) {
    if (size_of(type) == 4) {
      vmovups(temporary(1), yword[tail_lanes()]);
      return vmaskmovps(yword[memory.at], whole(temporary(1)), whole(from));
    }
    store_elements(type, {scratch()}, from);
    copy_tail(type, scratch(), memory.at);
  }
  // The addresses of a region's code leave rsi free.
  void copy_tail(DType type, const RegExp& from, const RegExp& to) {
    const int bytes = tail_elements_ * static_cast<int>(size_of(type));
    int at = 0;
    for (; bytes - at >= 8; at += 8) mov(rsi, ptr[from + at]), mov(ptr[to + at], rsi);
    if (bytes - at >= 4) mov(esi, ptr[from + at]), mov(ptr[to + at], esi), at += 4;
    if (bytes - at >= 2) mov(si, ptr[from + at]), mov(ptr[to + at], si), at += 2;
    if (bytes - at >= 1) mov(sil, ptr[from + at]), mov(ptr[to + at], sil);
  }

  void begin_tail() override {}

  // Packs the low 16 bits of 8 lanes, whose other bits are zeros.
  Xmm packed(const Vector& from) {
    const Xmm low = half(temporary(1)), high = half(temporary(2));
    vextracti128(high, whole(from), 1);
    vpackusdw(low, half(from), high);
    return low;
  }

  void store_elements(DType type, const Memory& memory, const Vector& from) override {
    if (memory.tail) return store_tail(type, memory, from);
    switch (type) {
      case DType::f16:
        return vcvtps2ph(xword[memory.at], whole(from), 8);
      case DType::bf16:
        return vmovdqu(xword[memory.at], packed(from));
      case DType::boolean:
      case DType::u8:
      case DType::i8: {
        const Xmm words = packed(from);
        vpackuswb(words, words, words);
        return vmovq(qword[memory.at], words);
      }
      default:
        return vmovups(yword[memory.at], whole(from));
    }
  }

  void emit_rest() override {
    Label again, done;
    L(again);
    cmp(index_, count_);
    jae(done);
    emit_round(1, false);
    add(index_, lanes_of(set_));
    jmp(again);
    L(done);
  }

  void jump_if_none(const Label& target) override {
    const Vector mask = in_register(0, temporary(0));
    vtestps(mask, mask);
    jz(target);
  }

  void emit_special() override {
    switch (step().primitive) {
      case Primitive::bit_and:
      case Primitive::mask_and:
        return two([&](const Vector& to, const Vector& a, const Source& b) { vpand(to, a, b); }, true);
      case Primitive::bit_or:
      case Primitive::mask_or:
        return two([&](const Vector& to, const Vector& a, const Source& b) { vpor(to, a, b); }, true);
      case Primitive::bit_xor:
        return two([&](const Vector& to, const Vector& a, const Source& b) { vpxor(to, a, b); }, true);
      case Primitive::compare:
        return two([&](const Vector& to, const Vector& a, const Source& b) {
          vcmpps(to, a, b, static_cast<uint8_t>(step().immediate));
        });
      case Primitive::equal_int:
        return two([&](const Vector& to, const Vector& a, const Source& b) { vpcmpeqd(to, a, b); }, true);
      case Primitive::greater_int:
        return two([&](const Vector& to, const Vector& a, const Source& b) { vpcmpgtd(to, a, b); });
      case Primitive::is_element:
        vmovups(result(), yword[tail_lanes()]);
        return finish(result());
      case Primitive::swap_lanes:
        return one([&](const Vector& to, const Vector& a) { swap_lanes(to, a); });
      case Primitive::lanes_up:
        return lanes_up();
      case Primitive::last_lane:
        return one([&](const Vector& to, const Vector& a) {
          vpermilps(to, a, 0xff);
          vpermpd(whole(to), whole(to), 0xff);
        });
      default:
        return emit_several();
    }
  }

  void swap_lanes(const Vector& to, const Vector& a) {
    if (step().immediate == 4) return vpermpd(whole(to), whole(a), 0x4e);
    vpermilps(to, a, step().immediate == 2 ? 0x4e : 0xb1);
  }

  // The upper half goes on with the upper lanes of the lower one.
  void lanes_up() {
    const auto places = static_cast<uint8_t>(step().immediate);
    const Vector a = in_register(0, temporary(0)), b = in_register(1, temporary(1));
    const Ymm before = whole(temporary(2));
    vperm2i128(before, whole(b), whole(a), 0x21);  // the upper half of b, then the lower half of a
    const Vector to = result();
    if (places == 4) {
      vmovaps(to, before);
    } else {
      vpalignr(to, whole(a), before, static_cast<uint8_t>(16 - 4 * places));
    }
    finish(to);
  }

  // The primitives that are no plain instruction of two operands.
  void emit_several() {
    switch (step().primitive) {
      case Primitive::mask_not:
        return one([&](const Vector& to, const Vector& a) {
          vpcmpeqd(temporary(1), temporary(1), temporary(1));
          vpxor(to, a, temporary(1));
        });
      case Primitive::round:
        return one([&](const Vector& to, const Vector& a) { vroundps(to, a, static_cast<uint8_t>(step().immediate)); });
      case Primitive::round_f16:
        return one([&](const Vector& to, const Vector& a) {
          vcvtps2ph(half(temporary(1)), whole(a), 8);
          vcvtph2ps(whole(to), half(temporary(1)));
        });
      case Primitive::table_word:
        return one(
            [&](const Vector& to, const Vector& a) { vpermd(whole(to), whole(a), yword[table(step().immediate)]); });
      case Primitive::multiply_high:
        return multiply_high();
      case Primitive::divide_int:
        return divide_int();
      default:
        return select();
    }
  }

  void select() {
    const Vector to = result();
    const Vector mask = in_register(0, temporary(1)), no = in_register(2, temporary(2));
    vblendvps(to, no, source(1), mask);
    finish(to);
  }

  void multiply_high() {
    const Vector a = in_register(0, temporary(0)), b = in_register(1, temporary(1));
    const Vector even = temporary(2), odd = temporary(0), other = temporary(1);
    vpmuludq(even, a, b);
    vpsrlq(odd, a, 32);
    vpsrlq(other, b, 32);
    vpmuludq(odd, odd, other);
    vpsrlq(even, even, 32);
    const Vector to = result();
    vpblendd(to, even, odd, 0xaa);
    finish(to);
  }

  // A quotient of i32 is exact in f64.
  void divide_int() {
    const Vector a = in_register(0, temporary(0)), b = in_register(1, temporary(1));
    const Ymm high = whole(temporary(2)), low = whole(temporary(0)), other = whole(temporary(1));
    vextracti128(half(high), whole(b), 1);
    vcvtdq2pd(high, half(high));
    vmovups(ptr[scratch()], high);
    vextracti128(half(high), whole(a), 1);
    vcvtdq2pd(high, half(high));
    vdivpd(high, high, ptr[scratch()]);
    vcvttpd2dq(half(high), high);
    vcvtdq2pd(low, half(a));
    vcvtdq2pd(other, half(b));
    vdivpd(low, low, other);
    vcvttpd2dq(half(low), low);
    const Vector to = result();
    vinserti128(whole(to), low, half(high), 1);
    finish(to);
  }
};

}  // namespace

std::unique_ptr<Emitter> avx2_emitter() { return std::make_unique<Avx2Emitter>(); }

}  // namespace rung::generated
