// GPUs that rows are asked about, as their drivers describe them; none of them is there.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "device/gpu/gemm_library.hpp"
#include "device/machine.hpp"

namespace rung::testing {

// An H100 or H200 of the SXM form.
inline gpu::GpuInfo hopper_card() {
  gpu::GpuInfo card;
  card.name = "Hopper", card.runtime = "cuda";
  card.architecture = 90, card.multiprocessors = 132, card.shared_bytes_per_block = 227 * 1024;
  card.l2_bytes = size_t{50} << 20;
  card.cooperative = card.clusters = card.dependent_launch = true;
  return card;
}
inline Machine hopper() { return Machine(cpu::CpuInfo{}, hopper_card()); }

// Another with as much as the PCIe form has multiprocessors, and blocks with the shared memory of a consumer's card.
inline Machine lesser_hopper() {
  gpu::GpuInfo card = hopper_card();
  card.multiprocessors = 114, card.shared_bytes_per_block = 99 * 1024;
  return Machine(cpu::CpuInfo{}, card);
}

// An A100 of the SXM form, without the vendor's library: what has nothing of Hopper's takes its problems.
inline Machine ampere() {
  gpu::GpuInfo card;
  card.name = "Ampere", card.runtime = "cuda";
  card.architecture = 80, card.multiprocessors = 108, card.shared_bytes_per_block = 163 * 1024;
  card.cooperative = true;
  return Machine(cpu::CpuInfo{}, card);
}

// A library of which nothing is asked but whether it is there.
inline const gpu::GemmLibrary& any_gemm_library() {
  static constexpr gpu::GemmLibrary library{"cublaslt", nullptr, nullptr};
  return library;
}

// The same of AMD's two, hipBLASLt first.
inline std::vector<const gpu::GemmLibrary*> any_amd_libraries() {
  static constexpr gpu::GemmLibrary hipblaslt{"hipblaslt", nullptr, nullptr}, rocblas{"rocblas", nullptr, nullptr};
  return {&hipblaslt, &rocblas};
}

// Accelerators of CDNA, as an MI250's half, an MI300X and an MI350X: 64 lanes, 64 KiB but for the last one.
inline gpu::GpuInfo cdna_card(int architecture) {
  gpu::GpuInfo card;
  card.name = "CDNA", card.runtime = "hip";
  card.architecture = architecture, card.lanes = 64;
  card.multiprocessors = architecture == 0x90a ? 104 : architecture == 0x950 ? 256 : 304;
  card.shared_bytes_per_block = (architecture == 0x950 ? 160 : 64) * size_t{1024};
  return card;
}
inline Machine cdna() { return Machine(cpu::CpuInfo{}, cdna_card(0x942)); }

}  // namespace rung::testing
