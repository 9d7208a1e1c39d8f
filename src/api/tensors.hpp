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

// A tensor over memory of these bytes; its shape is that of `type`, which outlives it.
rung_tensor tensor_over(void* data, const Type& type, rung_device device);

struct Placed {
  Place place = Place::host;
  std::byte* data = nullptr;
};

// A port in errors: "input 'images'".
struct PortName {
  const char* side;  // "input"
  std::string_view name;
};

// Where the values lie of a tensor that is bound to a port of this type, on the host or on `device`. Errors:
// RUNG_MISMATCH, as rung_session_bind_input() says; RUNG_USAGE, no data.
Result<Placed> place_of(PortName port, const Type& wanted, const rung_tensor& tensor, rung_device device);

// Copies of the caller's, which must be in host memory, row-major. Errors: those, and a name that is given twice.
Result<NamedTensors> copies_of(std::span<const rung_named_tensor> tensors);

}  // namespace rung
