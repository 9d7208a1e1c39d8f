// The state of one climb; climb() drives it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ladder/climb.hpp"
#include "ladder/rungs.hpp"
#include "measure/interleave.hpp"

namespace rung {

class Climber {
 public:
  Climber(const Subject& subject, const ClimbOptions& options, Budget& budget)
      : subject_(subject), options_(options), budget_(budget) {}
  Result<ClimbOutcome> run();

 private:
  Status prepare();
  Status climb_rungs();
  Status try_rung(const Rung& rung, int number);
  Status refine_choices(int number);  // refine.cpp
  Status ablate();                    // ablation.cpp
  Status conclude(ClimbOutcome& outcome);

  // Receipts of what could not be accepted, with the reason.
  void refuse(Receipt receipt, std::string reason);
  // Times `candidate` against the current attempt, and keeps it if it is clearly faster.
  void decide(Receipt receipt, Attempt candidate);
  InterleaveResult race(Session& a, Session& b, double seconds, double half_width);
  Status tell(const std::string& what);  // progress; "interrupted" if so
  Latency measure_latency(Session& session, double seconds);

  const Subject& subject_;
  const ClimbOptions& options_;
  Budget& budget_;
  std::unique_ptr<Workbench> bench_;
  Attempt baseline_, current_;
  ClimbResult result_;
  size_t stages_done_ = 0, stages_ = 1;
};

// Do two plans launch the same kernels on the same operands?
bool same_launches(const Plan& a, const Plan& b);

}  // namespace rung
