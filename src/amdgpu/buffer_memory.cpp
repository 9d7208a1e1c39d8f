// stub
#include "amdgpu/vector_memory.hpp"
namespace rung::amdgpu {
Handler buffer_handler(const Instruction&, Target) { return nullptr; }
Handler direct_handler(const Instruction&) { return nullptr; }
}
