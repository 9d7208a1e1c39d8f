// Tokens of actions of the C interface.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "api/answer.hpp"
#include "api/language_handles.hpp"
#include "api/options.hpp"

namespace rung {
namespace {

// Calls `call` with the tokenizer, which stays open meanwhile.
template <class Call>
rung_status with_tokenizer(const rung_action_tokenizer* handle, const Call& call) {
  return answer([&]() -> Status {
    const auto open = table<ActionTokenizers>().use(handle);
    RUNG_CHECK(want_open(open, "tokenizer"));
    return call(*open);
  });
}

// Writes a chunk of actions, which `decode` makes.
template <class Decode>
Status write_actions(const ActionTokenizer& tokenizer, std::span<double> place, const Decode& decode) {
  const auto count = static_cast<size_t>(tokenizer.shape().count());
  if (place.size() != count) return wrong_usage("got room for {} actions, wanted {}", place.size(), count);
  if (count > 0) RUNG_CHECK(want(place.data(), "actions"));
  RUNG_TRY(const std::vector<double> values, decode());
  std::ranges::copy(values, place.begin());
  return {};
}

}  // namespace
}  // namespace rung

using rung::ActionTokenizer;
using rung::Status;
using rung::table;

rung_status rung_action_tokenizer_open(const char* directory, const rung_action_shape* shape,
                                       rung_action_tokenizer** tokenizer) {
  return rung::answer([&]() -> Status {
    RUNG_CHECK(rung::want(directory, "directory"));
    RUNG_CHECK(rung::want(tokenizer, "tokenizer"));
    const rung_action_shape given = shape ? *shape : rung_action_shape{};
    if (given.horizon < 0 || given.dims < 0)
      return rung::wrong_usage(
          "got a chunk of {} times and {} values, wanted positive numbers, or 0 for those of the files", given.horizon,
          given.dims);
    RUNG_TRY(ActionTokenizer opened, ActionTokenizer::open(directory, {given.horizon, given.dims}));
    *tokenizer = table<rung::ActionTokenizers>().open(std::make_unique<const ActionTokenizer>(std::move(opened)));
    return {};
  });
}

void rung_action_tokenizer_close(rung_action_tokenizer* tokenizer) { table<rung::ActionTokenizers>().close(tokenizer); }

rung_action_shape rung_action_tokenizer_shape(const rung_action_tokenizer* tokenizer) {
  const auto open = table<rung::ActionTokenizers>().use(tokenizer);
  return open ? rung_action_shape{open->shape().horizon, open->shape().dims} : rung_action_shape{};
}

rung_status rung_action_tokenizer_encode(const rung_action_tokenizer* tokenizer, const double* actions, size_t count,
                                         rung_tokens* tokens) {
  return rung::with_tokenizer(tokenizer, [&](const ActionTokenizer& open) -> Status {
    RUNG_TRY(const auto values, rung::array_of(actions, count, "actions"));
    RUNG_TRY(const std::vector<int64_t> made, open.encode(values));
    return rung::write_tokens(made, tokens);
  });
}

rung_status rung_action_tokenizer_decode(const rung_action_tokenizer* tokenizer, const int64_t* tokens, size_t count,
                                         double* actions, size_t action_count) {
  return rung::with_tokenizer(tokenizer, [&](const ActionTokenizer& open) -> Status {
    RUNG_TRY(const auto given, rung::array_of(tokens, count, "tokens"));
    return rung::write_actions(open, {actions, action_count}, [&] { return open.decode(given); });
  });
}

rung_status rung_action_tokenizer_decode_policy(const rung_action_tokenizer* tokenizer,
                                                const rung_policy_tokens* written, double* actions,
                                                size_t action_count) {
  return rung::with_tokenizer(tokenizer, [&](const ActionTokenizer& open) -> Status {
    RUNG_CHECK(rung::want(written, "written"));
    RUNG_TRY(const auto tokens, rung::array_of(written->tokens, written->count, "written.tokens"));
    return rung::write_actions(open, {actions, action_count}, [&] {
      return open.decode_policy(tokens, {written->vocabulary, written->skipped});
    });
  });
}
