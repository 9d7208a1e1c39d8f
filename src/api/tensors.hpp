// Tensors as the C interface has them, in DLPack's layout.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "ir/tensor.hpp"
#include "rung/rung.h"
#include "session/session.hpp"

namespace rung {

rung_dtype to_public(DType dtype);

// Returns a tensor over `data`; its shape points into `type`, which must outlive it.
rung_tensor tensor_over(void* data, const Type& type, rung_device device);

struct Placed {
  Place place = Place::host;
  std::byte* data = nullptr;
};

// A port's name in errors: "input 'images'".
struct PortName {
  const char* side;  // "input"
  std::string_view name;
};

// Returns where the values of a tensor bound to a port of this type lie, on the host or on `device`. Errors:
// RUNG_MISMATCH, as documented at rung_session_bind_input(); RUNG_USAGE, no data.
Result<Placed> place_of(PortName port, const Type& wanted, const rung_tensor& tensor, rung_device device);

// Copies the caller's tensors, which must be in host memory, row-major. Errors: those, and a name that is given twice.
Result<NamedTensors> copies_of(std::span<const rung_named_tensor> tensors);

}  // namespace rung
