// Emits machine code: what both instruction sets share. An emitter writes one function into memory of its own, which
// is never executed; the code runs at any address.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#define XBYAK_NO_OP_NAMES  // and, or, xor and not are words of C++
#include <xbyak/xbyak.h>

#include <memory>
#include <optional>

#include "kernels/generated/region_body.hpp"
#include "kernels/generated/registers.hpp"

namespace rung::generated {

struct HeapAllocator : Xbyak::Allocator {
  bool useProtect() const override { return false; }
};

// The code is a Function (code.hpp).
class Emitter : protected HeapAllocator, protected Xbyak::CodeGenerator {
 public:
  explicit Emitter(VectorSet set) : CodeGenerator(4096, Xbyak::AutoGrow, this), set_(set), file_(registers_of(set)) {}
  // The code of one body for rows of any number of elements; with AVX2 they are whole vectors. `same`: by operand,
  // whether it has one value for all elements.
  std::vector<uint8_t> emit(const Body& body, const std::vector<bool>& same);
  // The code of a region for rows of its number of elements.
  std::vector<uint8_t> emit(const RegionBody& region);

 protected:
  using Vector = Xbyak::Xmm;  // or a wider one, as its kind says

  // An operand in a register or in memory.
  class Source {
   public:
    explicit Source(const Vector& reg) : reg_(reg) {}
    explicit Source(const Xbyak::Address& memory) : memory_(memory), is_memory_(true) {}
    operator const Xbyak::Operand&() const {  // NOLINT(google-explicit-constructor): instructions take either
      return is_memory_ ? static_cast<const Xbyak::Operand&>(memory_) : reg_;
    }

   private:
    Vector reg_{Xbyak::Operand::XMM, 0};
    Xbyak::Address memory_{0, false, Xbyak::RegExp()};
    bool is_memory_ = false;
  };

  // Where a load or a store has its elements.
  struct Memory {
    Xbyak::RegExp at;
    bool tail = false;  // of the last elements, which a mask names
  };

  Vector vector(int reg) const {
    return set_ == VectorSet::avx512 ? Vector(Xbyak::Operand::ZMM, reg) : Vector(Xbyak::Operand::YMM, reg);
  }
  Vector temporary(int i) const { return vector(file_.vectors + i); }  // of three

  // A body with the places of its values, and how many constants and tables stand before its own.
  struct Part {
    const Body* body;
    Schedule schedule;
    int constants = 0, tables = 0;
  };

  const Schedule& schedule() const { return part_->schedule; }
  const Place& place_of(int operand) const { return schedule().place(step().operand[operand], at_.copy); }
  const Place& result_place() const { return schedule().place(at_.step, at_.copy); }
  const Step& step() const { return part_->body->steps[static_cast<size_t>(at_.step)]; }
  // An operand of the present step where its place is, or in a register: in `temporary` if it has none.
  Source source(int operand) const;
  Vector in_register(int operand, const Vector& temporary);
  // The register in which the result is computed; finish() puts it into its slot if it has no register.
  Vector result() const;
  void finish(const Vector& result);
  Xbyak::Address slot(int index) const;
  Xbyak::Address constant(int index, bool broadcast) const;
  Xbyak::RegExp scratch() const { return rsp + slots_ * lanes_of(set_) * 4; }  // room for one vector
  Xbyak::RegExp rows_left() const { return scratch() + 64; }
  Xbyak::RegExp row_bytes() const { return scratch() + 72; }
  // The 64 bytes of a table of the present body, of the numbers of lanes, and of ones for the lanes of the tail.
  Xbyak::RegExp table(uint32_t number) const { return block(part_->tables + static_cast<int>(number)); }
  Xbyak::RegExp lane_numbers() const { return block(tables_); }
  Xbyak::RegExp tail_lanes() const { return block(tables_ + 1); }

  template <class Instruction>
  void one(Instruction instruction) {
    const Vector to = result();
    instruction(to, in_register(0, to));
    finish(to);
  }
  template <class Instruction>
  void two(Instruction instruction, bool commutes = false) {
    const Vector to = result();
    const bool swap = commutes && !is_register(0) && is_register(1);
    const Vector first = in_register(swap ? 1 : 0, temporary(1));
    instruction(to, first, source(swap ? 0 : 1));
    finish(to);
  }
  bool is_register(int operand) const { return place_of(operand).kind == Place::Kind::vector_register; }

  // The instruction sets differ in these.
  virtual void load_elements(DType type, const Memory& memory, const Vector& to) = 0;
  virtual void store_elements(DType type, const Memory& memory, const Vector& from) = 0;
  virtual void emit_rest() = 0;     // the loop over elements that are fewer than one round of the main loop
  virtual void begin_tail() = 0;    // of a region: makes ready for the last `tail_elements_` of a row
  virtual void emit_special() = 0;  // a primitive that emit_step() leaves to the instruction set
  virtual void jump_if_none(const Xbyak::Label& target) = 0;  // where operand 0, a mask, is true nowhere

  void emit_round(int copies, bool tail);  // of the loop, with the first `copies` vectors
  int64_t round_elements(int copies) const { return int64_t{copies} * lanes_of(set_); }

  const VectorSet set_;
  const RegisterFile file_;
  const Part* part_ = nullptr;  // that is being emitted
  Placed at_;
  bool tail_ = false;
  int tail_elements_ = 0;
  const Xbyak::Reg64 index_ = rax, count_ = rsi, pool_ = rbx;

 private:
  void add_part(const Body& body, Schedule schedule);
  void enter(const Part& part);  // brings its constants into their registers
  void emit_prologue();
  void emit_preamble();
  void emit_addresses();
  void emit_main();
  void add_parts(const RegionBody& region);
  void begin_rows();
  void emit_at_once();
  void emit_stages(const RegionBody& region);
  void emit_once(const Part& part);
  void emit_sweep(int64_t vectors, const Part& whole, const Part& tail);
  void emit_next_row(const Xbyak::Label& row);
  void emit_epilogue();
  void emit_pool();
  int constant_bytes() const { return set_ == VectorSet::avx512 ? 4 : 32; }  // AVX2 does not broadcast operands
  Xbyak::RegExp block(int number) const;
  void emit_step();
  bool emit_of_row();
  bool emit_arithmetic();
  void emit_fused(bool negated);
  void emit_load();
  void emit_same_load();
  void emit_store();
  void emit_carry();
  void emit_place_in_row();
  void emit_store_row();
  Memory memory_of(int operand, DType type);

  std::vector<bool> same_;
  int operands_ = 0;
  std::vector<Part> parts_;
  int slots_ = 0, constants_ = 0, tables_ = 0;          // of all parts
  std::vector<std::optional<Xbyak::Reg64>> addresses_;  // by operand, then the results; null: in the list alone
  Xbyak::Label pool_label_;
  std::optional<Xbyak::Label> rare_end_;  // of the rare steps that are being emitted
};

std::unique_ptr<Emitter> avx512_emitter();
std::unique_ptr<Emitter> avx2_emitter();

}  // namespace rung::generated
