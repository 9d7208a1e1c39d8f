// Solves the multiple-choice knapsack by the list of non-dominated partial choices, part by part.
// SPDX-License-Identifier: Apache-2.0
#include "ladder/precision/solver.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rung {
namespace {

// A choice for the first parts: the state for one part less, and the option of the last one.
struct PartialChoice {
  double us = 0, squared_error = 0;
  size_t before = 0, option = 0;
};

Status check_options(const PartOptions& part) {
  if (part.options.empty()) return mismatch("precision of '{}': got no options, wanted at least one", part.name);
  for (const PartOption& option : part.options)
    for (const double value : {option.us, option.squared_error})
      if (!std::isfinite(value) || value < 0)
        return mismatch("precision of '{}': got an option of {} us and a squared error of {}, wanted numbers from 0",
                        part.name, option.us, option.squared_error);
  return {};
}

// Keeps what nothing beats in both: by growing error, each faster than all before.
void drop_dominated(std::vector<PartialChoice>& states) {
  std::ranges::sort(states, [](const PartialChoice& a, const PartialChoice& b) {
    return std::tie(a.squared_error, a.us, a.before, a.option) < std::tie(b.squared_error, b.us, b.before, b.option);
  });
  size_t kept = 0;
  for (const PartialChoice& state : states)
    if (kept == 0 || state.us < states[kept - 1].us) states[kept++] = state;
  states.resize(kept);
}

// Keeps the first state and, of each step of the error, the last, which is the fastest.
void thin_out(std::vector<PartialChoice>& states, size_t most) {
  if (states.size() <= most) return;
  const auto positive =
      std::ranges::find_if(states, [](const PartialChoice& state) { return state.squared_error > 0; });
  const double least = std::log(positive->squared_error);
  const double step = (std::log(states.back().squared_error) - least) / static_cast<double>(most - 1);
  const auto step_of = [&](const PartialChoice& state) {
    return state.squared_error > 0 ? std::floor((std::log(state.squared_error) - least) / step) : -1.0;
  };
  std::vector<PartialChoice> kept{states.front()};
  for (size_t i = 1; i < states.size(); ++i) {
    const bool is_last = i + 1 == states.size() || step_of(states[i]) != step_of(states[i + 1]);
    if (is_last) kept.push_back(states[i]);
  }
  states = std::move(kept);
}

std::vector<PartialChoice> with_part(const std::vector<PartialChoice>& states, const PartOptions& part, size_t most) {
  std::vector<PartialChoice> longer;
  longer.reserve(states.size() * part.options.size());
  for (size_t before = 0; before < states.size(); ++before)
    for (size_t option = 0; option < part.options.size(); ++option)
      longer.push_back({states[before].us + part.options[option].us,
                        states[before].squared_error + part.options[option].squared_error, before, option});
  drop_dominated(longer);
  thin_out(longer, most);
  return longer;
}

PrecisionChoice choice_of(const std::vector<std::vector<PartialChoice>>& by_parts, size_t index) {
  const PartialChoice* state = &by_parts.back()[index];
  PrecisionChoice choice{state->us, state->squared_error, std::vector<size_t>(by_parts.size() - 1)};
  for (size_t part = by_parts.size() - 1; part > 0; --part) {
    choice.options[part - 1] = state->option;
    state = &by_parts[part - 1][state->before];
  }
  return choice;
}

}  // namespace

Result<std::vector<PrecisionChoice>> precision_frontier(const std::vector<PartOptions>& parts, size_t most_states) {
  for (const PartOptions& part : parts) RUNG_CHECK(check_options(part));
  std::vector<std::vector<PartialChoice>> by_parts{{PartialChoice{}}};  // by the number of parts that are chosen
  for (const PartOptions& part : parts)
    by_parts.push_back(with_part(by_parts.back(), part, std::max<size_t>(most_states, 2)));
  std::vector<PrecisionChoice> frontier;
  for (size_t i = 0; i < by_parts.back().size(); ++i) frontier.push_back(choice_of(by_parts, i));
  return frontier;
}

Result<size_t> fastest_within(const std::vector<PrecisionChoice>& frontier, double limit) {
  const auto beyond = std::ranges::find_if_not(
      frontier, [limit](const PrecisionChoice& choice) { return choice.squared_error <= limit; });
  if (beyond != frontier.begin()) return static_cast<size_t>(beyond - frontier.begin()) - 1;
  if (frontier.empty()) return mismatch("an error of {:.3g}: there is nothing to choose from", std::sqrt(limit));
  return mismatch("an error of {:.3g} is out of reach: the least is {:.3g}", std::sqrt(limit),
                  std::sqrt(frontier.front().squared_error));
}

std::vector<size_t> spread_over(const std::vector<PrecisionChoice>& frontier, size_t count) {
  std::vector<size_t> chosen;
  if (frontier.empty() || count == 0) return chosen;
  const double slowest = frontier.front().us, fastest = frontier.back().us;
  const auto places = static_cast<double>(std::max<size_t>(count - 1, 1));
  for (size_t place = 0; place < count; ++place) {
    const double us = slowest + (fastest - slowest) * static_cast<double>(place) / places;
    auto at = std::ranges::find_if(frontier, [us](const PrecisionChoice& choice) { return choice.us <= us; });
    if (at == frontier.end()) --at;  // the last one, by rounding
    const auto index = static_cast<size_t>(at - frontier.begin());
    if (chosen.empty() || chosen.back() != index) chosen.push_back(index);
  }
  return chosen;
}

}  // namespace rung
