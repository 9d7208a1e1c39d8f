// Evaluates the reference, measures the cost of low precision, compares.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/log.hpp"
#include "base/words.hpp"
#include "ladder/rungs.hpp"
#include "measure/cost.hpp"
#include "measure/divergence.hpp"
#include "session/sequence_start.hpp"

namespace rung {
namespace {

double total_flops(const Graph& graph) {
  double flops = 0;
  for (NodeId id : graph.order()) flops += cost_of(graph, id).flops;
  return flops;
}

bool all_f32(const Graph& graph) {
  for (NodeId id : graph.order()) {
    DType dtype = graph.type(id).dtype;
    if (is_float(dtype) && dtype != DType::f32 && !graph.is_constant(id)) return false;
  }
  return true;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

bool same_answers(const NamedAnswers& a, const NamedAnswers& b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.first == y.first && same_bits(x.second, y.second); });
}

bool has_answer(const NamedAnswers& answers, const NamedAnswers::value_type& wanted) {
  const auto found = std::ranges::find(answers, wanted.first, &NamedAnswers::value_type::first);
  return found != answers.end() && same_bits(found->second, wanted.second);
}

// Verifies answers against the values of those names.
Verification verify_named(const NamedAnswers& answers, const std::vector<std::string>& names,
                          const std::vector<Tensor>& values, const Tolerance& tolerance) {
  std::vector<std::string> of_answers;
  std::vector<Tensor> got, want;
  for (const auto& [name, value] : answers) {
    of_answers.push_back(name), got.push_back(value);
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) want.push_back(values[static_cast<size_t>(found - names.begin())]);
  }
  return verify_outputs(of_answers, got, want, tolerance);
}

void add(Judgement& judgement, Verification verdict) {
  for (const auto& output : verdict.outputs) {
    judgement.rel_l2 = std::max(judgement.rel_l2, output.rel_l2);
    judgement.max_abs = std::max(judgement.max_abs, output.max_abs);
    judgement.cosine = std::min(judgement.cosine, output.cosine);
  }
  if (!verdict.passed && judgement.right) judgement.right = false, judgement.reason = verdict.reason;
  judgement.verdicts.push_back(std::move(verdict));
}

// Returns the divergence of the output "logits"; infinity: there is none to compare.
double divergence_of_logits(const std::vector<std::string>& names, const std::vector<Tensor>& got,
                            const std::vector<Tensor>& want) {
  const auto at = static_cast<size_t>(std::ranges::find(names, kLogits) - names.begin());
  if (at == names.size() || want.size() != got.size() || got[at].shape() != want[at].shape()) return INFINITY;
  if (!is_float(got[at].dtype()) || !is_float(want[at].dtype()) || want[at].shape().rank() == 0) return INFINITY;
  return mean_divergence(convert(got[at], DType::f32), convert(want[at], DType::f32));
}

}  // namespace

bool can_evaluate(const Graph& graph, size_t inputs, double budget_s) {
  return total_flops(graph) * static_cast<double>(inputs) < kSchedule.evaluator_flops_per_s * budget_s;
}

Result<std::unique_ptr<Judge>> Judge::create(const Subject& subject, std::vector<NamedTensors> inputs,
                                             JudgeOptions options, const Budget& budget) {
  std::unique_ptr<Judge> judge(new Judge(subject, std::move(inputs), std::move(options), budget));
  RUNG_CHECK(judge->make_reference());
  return judge;
}

Status Judge::make_reference() {
  evaluated_ = can_evaluate(subject_.reference, inputs_.size(), budget_.total());
  reference_source_ =
      evaluated_ ? "scalar evaluator in f64" : "unfused plan in f32 (the scalar evaluator would take too long)";
  std::unique_ptr<Session> session;
  if (!evaluated_) {
    RUNG_TRY(session, options_.bind(subject_.reference, baseline_recipe(options_.threads)));
  }
  for (const auto& input : inputs_)
    RUNG_CHECK(complete_inputs(subject_.model, input));  // it names a bad input better than an op inside would
  return evaluated_ ? evaluate_reference() : run_reference(*session);
}

Status Judge::evaluate_reference() {
  if (options_.progress) options_.progress("reference", 0, inputs_.size());
  RUNG_TRY(reference_runs_,
           evaluate_sequence(subject_.reference, inputs_, {.interrupted = options_.interrupted}, subject_.start));
  const std::vector<std::string> names = answer_names(subject_.reference);
  for (const SequenceRun& run : reference_runs_) {
    std::vector<Tensor> values = answers(subject_.reference, run.outputs);
    NamedAnswers& named = wanted_.emplace_back();
    for (size_t i = 0; i < names.size(); ++i) named.emplace_back(names[i], std::move(values[i]));
  }
  return {};
}

Status Judge::run_reference(Session& session) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (options_.progress) options_.progress("reference", i, inputs_.size());
    RUNG_CHECK(check_interrupted(options_.interrupted));
    RUNG_TRY(wanted_.emplace_back(), run_of(session, i));
  }
  return {};
}

// Returns what the i-th run of the sequence is judged by; states may be narrow in a plan, and outputs are not.
Result<NamedAnswers> Judge::run_of(Session& session, size_t i) const {
  if (subject_.start.begins(i)) RUNG_CHECK(begin_sequence(session, subject_.start));
  RUNG_TRY(NamedAnswers all, session.infer(inputs_[i]));
  for (const std::string& name : made_states(subject_.reference)) {
    RUNG_TRY(const Tensor value, session.state(name));
    const DType dtype = subject_.reference.type(subject_.reference.input_named(name)).dtype;
    all.emplace_back(name, value.dtype() == dtype ? value : convert(value, dtype));
  }
  return all;
}

Result<std::vector<NamedAnswers>> Judge::answers_of(Session& session) const {
  std::vector<NamedAnswers> all;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    RUNG_CHECK(check_interrupted(options_.interrupted));
    RUNG_TRY(all.emplace_back(), run_of(session, i));
  }
  return all;
}

bool Judge::low_precision(const Recipe& recipe) const {
  return narrowest(recipe.precision) != DType::f32 || !all_f32(subject_.model.graph);
}

bool Judge::has_goal_for(const Recipe& recipe) const {
  return options_.goal.any() && narrowest(recipe.precision) != DType::f32;
}

Result<Tolerance> Judge::tolerance_for_recipe(const Recipe& recipe) {
  if (has_goal_for(recipe)) return Tolerance{options_.goal.rel_l2.value_or(INFINITY), INFINITY};
  if (!low_precision(recipe)) return f32_tolerance();
  if (!low_precision_errors_.contains(recipe.precision)) {
    RUNG_TRY(auto baseline, options_.bind(subject_.model.graph, baseline_recipe(options_.threads, recipe.precision)));
    RUNG_CHECK(measure_baseline_error(*baseline, recipe.precision));
  }
  return low_precision_tolerance(low_precision_errors_.at(recipe.precision));
}

bool Judge::is_unmeasured_baseline(const Recipe& recipe) const {
  return !has_goal_for(recipe) && !low_precision_errors_.contains(recipe.precision) && low_precision(recipe) &&
         recipe == baseline_recipe(options_.threads, recipe.precision);
}

Status Judge::measure_baseline_error(Session& baseline, const Precision& precision) {
  RUNG_TRY(Judgement judgement, error_of(baseline));
  if (!judgement.right)
    return fail("the unfused low-precision plan has no error to judge others by: {}", judgement.reason);
  low_precision_errors_[precision] = judgement.rel_l2;
  return {};
}

Status Judge::prepare_for(const Recipe& recipe) {
  if (!is_unmeasured_baseline(recipe)) RUNG_CHECK(tolerance_for_recipe(recipe));
  return {};
}

Tolerance Judge::length_tolerance() const {
  return tolerance_for(DType::f32, longest_reduction_path(subject_.reference));
}
Tolerance Judge::f32_tolerance() const {
  const bool by_sway = sway_ && !rounds_to_bytes(subject_.reference);
  return by_sway ? tolerance_for_sway(length_tolerance(), *sway_) : length_tolerance();
}

std::string Judge::account(const Judgement& judgement) const {
  std::string against = fmt::format("{} against the {}", words::counted(inputs_.size(), "input"), reference_source_);
  if (!sway_) return against;
  against += fmt::format(", where rounding alone moves the answers by {:.2g}", sway_->rel_l2);
  if (!judgement.followed) return against;
  const auto& [roundings, bytes, beside] = *judgement.followed;
  return fmt::format(
      "{}: judged piecewise, from each of {} to bytes to the next; {} of {} bytes are a step beside the "
      "reference's, each next to a tie",
      against, words::counted(roundings, "rounding"), beside, bytes);
}

// Judges a session. Most models never ask for their condition, which takes as long as the reference. Those that round
// to bytes are followed where they can be: a tie moves answers as far as a mistake may.
Result<Judgement> Judge::judge(Session& session, const Recipe& recipe) {
  if (is_unmeasured_baseline(recipe)) RUNG_CHECK(measure_baseline_error(session, recipe.precision));
  RUNG_TRY(Tolerance tolerance, tolerance_for_recipe(recipe));
  RUNG_TRY(Judgement judgement, compare(session, tolerance));
  if (has_goal_for(recipe)) {
    if (judgement.right) judgement.reason = missed(options_.goal, judgement);
    judgement.right = judgement.reason.empty();
    return judgement;
  }
  const bool may_be_condition = !judgement.right && !low_precision(recipe) &&
                                (judgement.rel_l2 <= kMostSway || rounds_to_bytes(subject_.reference));
  if (!may_be_condition || !evaluated_) return judgement;
  const bool knows_sway = sway_.has_value();
  if (!knows_sway) {
    RUNG_TRY(sway_, rounding_sway(subject_.reference, reference_runs_, options_.interrupted, subject_.start));
  }
  if (rounds_to_bytes(subject_.reference) || !can_judge(*sway_)) {
    RUNG_TRY(judgement, follow(session, recipe, std::move(judgement)));
    if (judgement.followed || !can_judge(*sway_)) return judgement;
  } else if (knows_sway) {
    return judgement;
  }
  return compare(session, tolerance_for_sway(length_tolerance(), *sway_));
}

Result<Follower*> Judge::follower() {
  if (!follower_) {
    RUNG_TRY(follower_, Follower::create(subject_.reference, inputs_, options_.interrupted));
  }
  return &*follower_;
}

// Binds the plan with its bytes as outputs. That is another plan: its answers tell whether it rounds alike.
Result<Judgement> Judge::follow(Session& session, const Recipe& recipe, Judgement compared) {
  const auto refused = [&](const std::string& why) {
    compared.reason += fmt::format("; rounding alone moves these answers by {:.2g}{}, and not piecewise: {}",
                                   sway_->rel_l2, can_judge(*sway_) ? "" : ", too far to judge them in f32", why);
    return std::move(compared);
  };
  RUNG_TRY(const std::vector<NamedAnswers> of_plan, answers_of(session));
  for (const auto& [answers, judgement] : proven_)
    if (std::ranges::equal(answers, of_plan, same_answers)) return judgement;
  const auto following = follower();
  if (!following) return refused(following.error().message);
  const auto graph = (*following)->with_bytes(subject_.model.graph);
  if (!graph) return refused(graph.error().message);
  RUNG_TRY(auto twin, options_.bind(*graph, recipe));
  RUNG_TRY(const std::vector<NamedAnswers> with_bytes, answers_of(*twin));
  for (size_t i = 0; i < of_plan.size(); ++i)
    if (!std::ranges::all_of(of_plan[i], [&](const auto& answer) { return has_answer(with_bytes[i], answer); }))
      return refused("with its bytes as outputs, the plan gives other answers");
  RUNG_TRY(Judgement judgement, follow_bytes(of_plan, with_bytes));
  if (judgement.right) proven_.emplace_back(of_plan, judgement);
  return judgement;
}

Result<Judgement> Judge::follow_bytes(const std::vector<NamedAnswers>& of_plan,
                                      const std::vector<NamedAnswers>& with_bytes) {
  Judgement judgement{.right = true, .followed = Followed{}};
  const std::vector<std::string> names = answer_names(subject_.reference);
  for (size_t i = 0; i < of_plan.size(); ++i) {
    RUNG_TRY(const std::vector<Tensor> bytes, follower_->bytes_in(with_bytes[i]));
    RUNG_TRY(const Follower::Way way, follower_->follow(i, bytes));
    judgement.followed->roundings = way.followed.roundings;
    judgement.followed->bytes += way.followed.bytes, judgement.followed->beside += way.followed.beside;
    if (!way.wrong.empty()) {
      add(judgement, Verification{.reason = way.wrong});
      continue;
    }
    const auto verdict = [&] {
      return verify_named(of_plan[i], names, way.outputs, follower_->tolerance_of_outputs());
    };
    Verification verified = verdict();
    if (!verified.passed && !follower_->has_sways()) {
      RUNG_CHECK(follower_->measure_sways());
      verified = verdict();
    }
    add(judgement, std::move(verified));
  }
  return judgement;
}

Result<double> Judge::error_in(Recipe recipe, Precision precision) const {
  recipe.precision = std::move(precision);
  RUNG_TRY(auto session, options_.bind(subject_.model.graph, std::move(recipe)));
  RUNG_TRY(Judgement judgement, error_of(*session));
  return judgement.rel_l2;
}

Result<std::vector<PrecisionCost>> Judge::costs_of_precision(const Recipe& recipe) const {
  std::vector<PrecisionCost> costs;
  for (size_t i = 0; i < recipe.precision.size(); ++i) {
    if (options_.progress) options_.progress("precision", i, recipe.precision.size());
    PrecisionCost cost{.part = recipe.precision[i]};
    Precision others = recipe.precision;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    RUNG_TRY(cost.rel_l2_alone, error_in(recipe, {cost.part}));
    RUNG_TRY(cost.rel_l2_without, error_in(recipe, std::move(others)));
    costs.push_back(std::move(cost));
  }
  return costs;
}

Result<Judgement> Judge::error_of(Session& session) const { return compare(session, {INFINITY, INFINITY}); }

std::vector<Tensor> Judge::wanted(size_t input, const std::vector<std::string>& names) const {
  std::vector<Tensor> values;
  for (const std::string& own : answer_names(subject_.model.graph))
    if (std::ranges::find(names, own) == names.end()) return values;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(wanted_[input], name, &NamedAnswers::value_type::first);
    if (found != wanted_[input].end()) values.push_back(found->second);
  }
  return values;
}

Result<Judgement> Judge::compare(Session& session, const Tolerance& tolerance) const {
  Judgement judgement{.right = true};
  double begin = budget_.spent();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    RUNG_CHECK(check_interrupted(options_.interrupted));
    RUNG_TRY(auto outputs, run_of(session, i));
    std::vector<std::string> names;
    std::vector<Tensor> got;
    for (auto& [name, tensor] : outputs) names.push_back(name), got.push_back(std::move(tensor));
    const std::vector<Tensor> want = wanted(i, names);
    Verification verdict = verify_outputs(names, got, want, tolerance);
    if (options_.goal.kl) judgement.kl = std::max(judgement.kl, divergence_of_logits(names, got, want));
    add(judgement, std::move(verdict));
  }
  RUNG_CHECK(begin_sequence(session, subject_.start));  // it is timed from there
  log(2, "judged on {} inputs in {:.2f} s", inputs_.size(), budget_.spent() - begin);
  return judgement;
}

}  // namespace rung
