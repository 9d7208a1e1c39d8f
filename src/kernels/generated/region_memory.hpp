// Decides what later sweeps of a region do for elements of earlier ones: compute them again, or read them from memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <set>

#include "kernels/generated/primitives.hpp"
#include "kernels/region_stages.hpp"

namespace rung::generated {

class RegionMemory {
 public:
  struct Source {
    const RegionProgram& program;
    const std::vector<bool>& rows;  // by register
    const RegionStages& stages;
    VectorSet set;
  };
  explicit RegionMemory(const Source& source);

  // Returns the address at which later sweeps read the register, in f32: of a result, or of memory for a row, counted
  // as in a RegionBody; nullopt: they compute it again.
  std::optional<int> address_of(size_t reg) const;
  const std::vector<size_t>& buffered() const { return buffered_; }  // registers with memory for a row, in its order

 private:
  void want(size_t reg, int sweep);
  void want_operands(size_t reg, int sweep);
  bool is_cheap(size_t reg, int& budget) const;

  const Source source_;
  std::vector<int> weights_;  // of instructions: the steps that compute them
  std::vector<size_t> buffered_;
  std::set<std::pair<size_t, int>> wanted_;  // registers by sweep
};

}  // namespace rung::generated
