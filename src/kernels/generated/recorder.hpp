// Records primitives: equal steps are recorded once, and a truth that was written as 1 or 0 is read back as its mask.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unordered_map>

#include "kernels/generated/primitives.hpp"

namespace rung::generated {

class Recorder {
 public:
  explicit Recorder(VectorSet set) : set_(set) {}

  VectorSet set() const { return set_; }
  int record(const Step& step);
  int record(Primitive primitive, int a, int b = -1, int c = -1, uint32_t immediate = 0) {
    return record(Step{primitive, {a, b, c}, immediate});
  }
  int constant(uint32_t bits) { return record(Step{Primitive::constant, {-1, -1, -1}, bits}); }
  uint32_t table(const Table& words);  // its number
  // Between these, steps may be left out where no lane of the mask is true.
  void begin_rare(int mask);
  void end_rare();

  // Returns the steps on which a store depends. The recorder is empty then.
  Body take();

 private:
  struct StepHash {
    size_t operator()(const Step& step) const;
  };
  bool is_constant(int step, float value) const;
  int simplified(const Step& step) const;  // a step that gives the same; -1: there is none

  VectorSet set_;
  Body body_;
  std::unordered_map<Step, int, StepHash> known_;
  int rare_from_ = -1;  // steps from here on are known within the rare steps only; -1: outside
};

// The recorder to which the operators of symbolic.hpp add, for this thread and as long as the scope lives.
class Recording {
 public:
  explicit Recording(Recorder& recorder);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  static Recorder& current();
};

}  // namespace rung::generated
