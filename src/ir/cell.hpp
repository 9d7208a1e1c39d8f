// The cells of recurrences, and the number of their gates.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace rung {

enum class CellKind : uint8_t { rnn, gru, lstm };

constexpr int64_t gates_of(CellKind cell) { return cell == CellKind::rnn ? 1 : cell == CellKind::gru ? 3 : 4; }
std::string_view name_of(CellKind cell);
std::optional<CellKind> cell_named(std::string_view name);

}  // namespace rung
