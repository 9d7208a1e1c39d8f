// The climb's clock: how much of the budget is left, and for whom.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "measure/clock.hpp"

namespace rung {

class Budget {
 public:
  // The last `reserve` seconds are kept back until release().
  explicit Budget(double seconds, double reserve = 0) : start_(now_ns()), seconds_(seconds), reserve_(reserve) {}
  double spent() const { return static_cast<double>(now_ns() - start_) * 1e-9; }
  double left() const { return seconds_ - reserve_ - spent(); }
  void release() { reserve_ = 0; }
  double total() const { return seconds_; }
  // Part of the whole, but no more than what is left.
  double share(double fraction) const { return std::max(0.0, std::min(fraction * seconds_, left())); }

 private:
  int64_t start_;
  double seconds_, reserve_;
};

}  // namespace rung
