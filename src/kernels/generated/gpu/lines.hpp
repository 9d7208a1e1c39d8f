// The lines of a generated kernel's text that both of its forms write alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>

#include "kernels/generated/gpu/work.hpp"

namespace rung::gpu {

class GeneratedLines {
 public:
  explicit GeneratedLines(const GeneratedWork& work) : work_(work) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  // Declares an offset for each operand, from the outer axes at position `from`, which is the name of a uint32_t.
  void offsets(const Loops& loops, std::string_view from);

  // Return the text of a value: of a register of elements the one at `element`, "[c][v]".
  std::string place_of(const PointwiseOperand& operand, std::string_view element) const;
  std::string value_of(const PointwiseInstruction& instruction, std::string_view element) const;

  std::string text;

 private:
  const GeneratedWork& work_;
};

// Returns the text of a kernel with this body.
std::string entry_text(const GeneratedWork& work, uint32_t threads, const std::string& body);

}  // namespace rung::gpu
