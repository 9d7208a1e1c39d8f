// Kernels whose machine code has instructions of many kinds, for the test that reads it as llvm-objdump does.
// SPDX-License-Identifier: Apache-2.0
#define KERNEL extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(64, 256))) void
#define DEVICE static __attribute__((device)) inline
using f4 = float __attribute__((ext_vector_type(4)));
using h4 = _Float16 __attribute__((ext_vector_type(4)));
using h2 = _Float16 __attribute__((ext_vector_type(2)));

DEVICE unsigned lane() { return __builtin_amdgcn_workitem_id_x(); }

KERNEL product(const h4* a, const h4* b, f4* c, int steps) {
  f4 sum = {0, 0, 0, 0};
  for (int s = 0; s < steps; ++s)
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(a[64 * s + lane()], b[64 * s + lane()], sum, 0, 0, 0);
  c[lane()] = sum;
}

KERNEL shared_sums(const float* x, float* y, int n) {
  static __attribute__((shared)) float part[256];
  float sum = 0;
  for (int i = static_cast<int>(lane()); i < n; i += 256) sum += __builtin_sqrtf(x[i]) / (1 + x[i] * x[i]);
  part[lane()] = sum;
  __builtin_amdgcn_s_barrier();
  for (unsigned step = 128; step; step /= 2) {
    if (lane() < step) part[lane()] += part[lane() + step];
    __builtin_amdgcn_s_barrier();
  }
  if (lane() == 0) *y = part[0];
}

KERNEL across_lanes(int* x, long* total) {
  int value = x[lane()];
  value += __builtin_amdgcn_update_dpp(0, value, 0x111, 0xf, 0xf, false);
  value += __builtin_amdgcn_update_dpp(0, value, 0x142, 0xa, 0xf, false);
  value += __builtin_amdgcn_ds_bpermute(static_cast<int>(lane() ^ 5) * 4, value);
  value += __builtin_amdgcn_readlane(value, 63);
  x[lane()] = value;
  __atomic_fetch_add(total, static_cast<long>(value) * value, __ATOMIC_RELAXED);
}

KERNEL small_types(const unsigned char* bytes, const short* shorts, h2* halves, double* wide, unsigned* words) {
  const unsigned i = lane();
  halves[i] = halves[i] * halves[i + 64] + h2{static_cast<_Float16>(bytes[i]), static_cast<_Float16>(shorts[i])};
  wide[i] = __builtin_fma(wide[i], wide[i], static_cast<double>(words[i])) / 3.0;
  words[i] = (words[i] << 7 | words[i] >> 25) % 1000003u + __builtin_popcount(words[i]) * bytes[i + 64];
}

KERNEL indexed(const int* order, float* x) {
  float kept[32];
  for (int i = 0; i < 32; ++i) kept[i] = x[64 * i + lane()];
  for (int i = 0; i < 32; ++i) x[64 * i + lane()] = kept[order[i + lane()] & 31];
}
