// Converts values to the types of a plan's states, which may be narrower than the graph's.
// SPDX-License-Identifier: Apache-2.0
#include "session/sequence_start.hpp"

#include "plan/named.hpp"
#include "session/decoder_ports.hpp"

namespace rung {

Status begin_sequence(Session& session, const SequenceStart& start) {
  RUNG_CHECK(session.reset_states());
  for (const PlanState& state : session.plan().states) {
    const auto given = start.states.find(state.name);
    if (given == start.states.end()) continue;
    const Tensor& value = given->second;
    RUNG_CHECK(
        session.set_state(state.name, value.dtype() == state.type.dtype ? value : convert(value, state.type.dtype)));
  }
  return {};
}

Result<int64_t> tokens_before(Session& session) {
  const auto* position = find_named(session.plan().states, decoder_ports::kPosition);
  if (!position || !(position->type == Type{DType::i64, {1}})) return 0;
  RUNG_TRY(const Tensor value, session.state(decoder_ports::kPosition));
  return value.as<int64_t>()[0];
}

}  // namespace rung
