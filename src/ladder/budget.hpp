// The climb's clock: how much of the budget is left, and for which work.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "ladder/schedule.hpp"
#include "measure/clock.hpp"

namespace rung {

inline constexpr double kLeastBudget = 1;  // seconds, as long as climbing the smallest models takes

class Budget {
 public:
  // Starts the clock. The last `reserve` seconds are kept back until release(). `spent` seconds went before that.
  explicit Budget(double seconds, double reserve = 0, double spent = 0)
      : start_(now_ns() - static_cast<int64_t>(spent * 1e9)), seconds_(seconds), reserve_(reserve) {}
  double spent() const { return static_cast<double>(now_ns() - start_) * 1e-9; }
  double left() const { return seconds_ - kept_ - reserve_ - spent(); }
  // Keeps `seconds` back to the very end, for the work after the climb.
  void keep(double seconds) { kept_ = seconds; }
  // Keeps `seconds` back until release(), if that is more than is kept already.
  void reserve(double seconds) { reserve_ = std::max(reserve_, seconds); }
  void release() { reserve_ = 0; }
  double total() const { return seconds_; }
  // Returns a part of the whole, but no more than what is left.
  double share(double fraction) const { return std::max(0.0, std::min(fraction * seconds_, left())); }
  double share(const Allowance& allowance) const { return std::min(share(allowance.share), allowance.most_s); }

 private:
  int64_t start_;
  double seconds_, reserve_, kept_ = 0;
};

}  // namespace rung
