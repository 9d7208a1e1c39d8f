// The judge: the right answers on the verification inputs, and how far a plan's answers may be from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>

#include "ladder/budget.hpp"
#include "ladder/condition.hpp"
#include "ladder/follower.hpp"
#include "ladder/precision/goal.hpp"
#include "measure/compare.hpp"
#include "open/subject.hpp"
#include "reference/sequence.hpp"
#include "session/session.hpp"

namespace rung {

struct Judgement : MeasuredError {
  std::vector<Verification> verdicts;  // one per verification input
  bool right = false;
  std::string reason;                     // why it is not right
  double max_abs = 0;                     // the worst over outputs and inputs
  std::optional<Followed> followed = {};  // over all inputs, if the answers were judged by it (follower.hpp)
};

// The error that one entry of a recipe's precision adds.
struct PrecisionCost {
  PartPrecision part;
  double rel_l2_alone = 0;    // of the plan with only this entry
  double rel_l2_without = 0;  // of the plan with all other entries
};

struct JudgeOptions {
  int threads = 1;
  std::function<Result<std::unique_ptr<Session>>(const Graph&, Recipe)> bind;  // a session of the graph's plan
  std::function<void(const std::string& what, size_t done, size_t of)> progress;
  Interrupted interrupted = {};
  PrecisionGoal goal = {};  // by which plans of recipes in low precision are right
};

// Returns whether the scalar evaluator can be the reference without taking too much of the budget.
bool can_evaluate(const Graph& graph, size_t inputs, double budget_s);

using NamedAnswers = std::vector<std::pair<std::string, Tensor>>;

class Judge {
 public:
  // Evaluates the reference on every input; the inputs of a model with states are a sequence of runs, which begins as
  // Subject::start says. A session that was judged is left as it is before the first of them. Errors: an input is bad;
  // interrupted.
  static Result<std::unique_ptr<Judge>> create(const Subject& subject, std::vector<NamedTensors> inputs,
                                               JudgeOptions options, const Budget& budget);
  // Prepares the tolerance before binding the recipe: it may take another's session, and two at once double the memory.
  Status prepare_for(const Recipe& recipe);
  // Judges the answers of the recipe's session. A wrong answer is a judgement, not an error. Errors: a run's;
  // interrupted.
  Result<Judgement> judge(Session& session, const Recipe& recipe);
  // Measures how far the session's answers are from the reference; finite ones are right. The session may be one of
  // the model's graph with some of its inner values as outputs, if the reference has outputs of these names, too.
  Result<Judgement> error_of(Session& session) const;
  // Returns the session's answers to every input, in their order.
  Result<std::vector<NamedAnswers>> answers_of(Session& session) const;
  // Returns the costs of the recipe's precision entries, in their order: two sessions for each, one after another.
  Result<std::vector<PrecisionCost>> costs_of_precision(const Recipe& recipe) const;
  // Returns the tolerance for a recipe: from f32 rounding along the longest path, and from how far such rounding moves
  // this model's answers if a judgement had to ask (condition.hpp). For one in low precision it is the goal's error, or
  // without a goal 1.25 x the unfused baseline's error in the same precision.
  Result<Tolerance> tolerance_for_recipe(const Recipe& recipe);
  const std::string& reference_source() const { return reference_source_; }
  // Returns "3 inputs against the scalar evaluator in f64", the model's condition if it was asked for, and that the
  // plan's roundings were followed if this judgement is by those.
  std::string account(const Judgement& judgement) const;

 private:
  Judge(const Subject& subject, std::vector<NamedTensors> inputs, JudgeOptions options, const Budget& budget)
      : subject_(subject), inputs_(std::move(inputs)), options_(std::move(options)), budget_(budget) {}
  Status make_reference();
  Status evaluate_reference();
  Status run_reference(Session& session);
  Result<NamedAnswers> run_of(Session& session, size_t i) const;
  Result<Judgement> compare(Session& session, const Tolerance& tolerance) const;
  // Judges answers that rounding alone moves too far to compare them: by following the plan's own roundings, if it can.
  Result<Judgement> follow(Session& session, const Recipe& recipe, Judgement compared);
  Result<Judgement> follow_bytes(const std::vector<NamedAnswers>& of_plan, const std::vector<NamedAnswers>& with_bytes);
  Result<Follower*> follower();
  // Returns the reference's answers of those names. Fewer, which a comparison refuses: one is not the reference's, or
  // an answer of the model is not among them.
  std::vector<Tensor> wanted(size_t input, const std::vector<std::string>& names) const;
  bool has_goal_for(const Recipe& recipe) const;
  // Returns whether the recipe's tolerance comes from its own answers, which are not measured yet.
  bool is_unmeasured_baseline(const Recipe& recipe) const;
  Status measure_baseline_error(Session& baseline, const Precision& precision);
  Result<double> error_in(Recipe recipe, Precision precision) const;
  bool low_precision(const Recipe& recipe) const;
  Tolerance length_tolerance() const;  // of f32, by the reference's longest chain of sums
  Tolerance f32_tolerance() const;

  const Subject& subject_;
  std::vector<NamedTensors> inputs_;
  JudgeOptions options_;
  const Budget& budget_;
  std::vector<SequenceRun> reference_runs_;           // the evaluator's
  std::vector<NamedAnswers> wanted_;                  // by input
  std::map<Precision, double> low_precision_errors_;  // of unfused baselines
  std::optional<Sway> sway_;                          // of the reference; none: nobody asked for it
  std::optional<Follower> follower_;
  // Answers that were followed, with their judgement: equal ones are right, however a plan came to them.
  std::vector<std::pair<std::vector<NamedAnswers>, Judgement>> proven_;
  bool evaluated_ = false;  // true: the reference is the evaluator's
  std::string reference_source_;
};

}  // namespace rung
