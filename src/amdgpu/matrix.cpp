// stub
#include "amdgpu/memory_handlers.hpp"
#include "amdgpu/vector_memory.hpp"
namespace rung::amdgpu {
Handler matrix_handler(const Instruction&, Target) { return nullptr; }
Handler buffer_handler(const Instruction&, Target) { return nullptr; }
Handler direct_handler(const Instruction&) { return nullptr; }
}
