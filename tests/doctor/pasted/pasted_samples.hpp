// Texts in the forms that programs print about a machine, with secrets where real ones have them: for tests and the
// fuzzer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace rung::doctor {

// A GPU that is set up well, as recent drivers list it.
inline constexpr std::string_view kNvidiaQuery = R"(
==============NVSMI LOG==============

Timestamp                                 : Mon Nov 10 09:12:44 2025
Driver Version                            : 570.86.15
CUDA Version                              : 12.8

Attached GPUs                             : 1
GPU 00000000:C1:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    Display Mode                          : Enabled
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
        Pending                           : Disabled
    Serial Number                         : 1653322012345
    GPU UUID                              : GPU-8932f937-d72c-4106-c12f-20bd9faed9f6
    PCI
        Bus                               : 0xC1
        Device Id                         : 0x233010DE
        Bus Id                            : 00000000:C1:00.0
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
                Device Current            : 5
                Device Max                : 5
                Host Max                  : 5
            Link Width
                Max                       : 16x
                Current                   : 16x
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Not Active
        Applications Clocks Setting       : Not Active
        SW Power Cap                      : Not Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active
        Sync Boost                        : Not Active
        SW Thermal Slowdown               : Not Active
        Display Clock Setting             : Not Active
    Compute Mode                          : Default
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    Temperature
        GPU Current Temp                  : 34 C
    GPU Power Readings
        Average Power Draw                : 112.24 W
        Current Power Limit               : 700.00 W
        Requested Power Limit             : 700.00 W
        Default Power Limit               : 700.00 W
        Min Power Limit                   : 200.00 W
        Max Power Limit                   : 700.00 W
    Module Power Readings
        Current Power Limit               : 200.00 W
        Default Power Limit               : 900.00 W
    Clocks
        Graphics                          : 1980 MHz
        SM                                : 1980 MHz
        Memory                            : 2619 MHz
    Applications Clocks
        Graphics                          : 1980 MHz
        Memory                            : 2619 MHz
    Default Applications Clocks
        Graphics                          : 1980 MHz
        Memory                            : 2619 MHz
    Max Clocks
        Graphics                          : 1980 MHz
        SM                                : 1980 MHz
        Memory                            : 2619 MHz
    Processes
        GPU instance ID                   : N/A
        Process ID                        : 4242
            Type                          : C
            Name                          : /home/alice/secret/serve.py
)";

inline constexpr std::string_view kNvidiaTable = R"(
Mon Nov 10 09:12:44 2025
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          Off |   00000000:C1:00.0 Off |                    0 |
| N/A   34C    P0            112W /  700W |       1MiB /  81559MiB |      0%      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:C2:00.0 Off |                    0 |
| N/A   34C    P0            112W /  700W |       1MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|    0   N/A  N/A            4242      C   /home/alice/secret/serve.py             600MiB |
+-----------------------------------------------------------------------------------------+
)";

inline constexpr std::string_view kRocmSmi = R"(
============================================ ROCm System Management Interface ============================================
====================================================== Concise Info ======================================================
Device  Node  IDs              Temp        Power     Partitions          SCLK    MCLK    Fan  Perf  PwrCap  VRAM%  GPU%
              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)
==========================================================================================================================
0       2     0x74a1,   28851  41.0°C      139.0W    NPS1, SPX, 0        132Mhz  900Mhz  0%   low   750.0W  0%     0%
1       3     0x74a1,   51499  38.0°C      133.0W    NPS4, CPX, 0        132Mhz  900Mhz  0%   auto  750.0W  0%     0%
==========================================================================================================================
================================================== End of ROCm SMI Log ===================================================
)";

inline constexpr std::string_view kRocmSmiAll = R"(
============================ ROCm System Management Interface ============================
================================ Version of System Component ==============================
Driver version: 6.10.5
GPU[0]		: Device ID: 		0x74a1
GPU[0]		: Unique ID: 		0xdeadbeefdeadbeef
GPU[0]		: Serial Number: 		692312345678
GPU[0]		: Performance Level: auto
GPU[0]		: Max Graphics Package Power (W): 550.0
GPU[0]		: Default Power Cap (W): 750.0
GPU[0]		: PCI Bus: 0000:C1:00.0
GPU[0]		: Compute Partition: SPX
GPU[0]		: Memory Partition: NPS1
================================== End of ROCm SMI Log ===================================
)";

inline constexpr std::string_view kRocminfo = R"(
ROCk module version 6.10.5 is loaded
=====================
HSA System Attributes
=====================
Runtime Version:         1.14
Mwaitx:                  DISABLED
XNACK enabled:           YES
DMAbuf Support:          YES

==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD EPYC 9654 96-Core Processor
  Uuid:                    CPU-XX
  Marketing Name:          AMD EPYC 9654 96-Core Processor
  Device Type:             CPU
  Node:                    0
  Compute Unit:            96
  BDFID:                   0
*******
Agent 2
*******
  Name:                    gfx942
  Uuid:                    GPU-38ad9cbd3c4eb2b1
  Marketing Name:          AMD Instinct MI300X
  Device Type:             GPU
  Node:                    2
  Chip ID:                 29857(0x74a1)
  BDFID:                   49408
  Internal Node ID:        2
  Compute Unit:            304
  SIMDs per CU:            4
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: COARSE GRAINED
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-
*** Done ***
)";

inline constexpr std::string_view kCollectEnv = R"(Collecting environment information...
PyTorch version: 2.9.0+rocm6.4
Is debug build: False
CUDA used to build PyTorch: N/A
ROCM used to build PyTorch: 6.4.43483-a187df25c

OS: Ubuntu 22.04.5 LTS (x86_64)
Python version: 3.12.9 (main, Feb  6 2025) (64-bit runtime)
Python platform: Linux-5.15.0-125-generic-x86_64-with-glibc2.35
Is CUDA available: True
CUDA runtime version: Could not collect
GPU models and configuration: AMD Instinct MI300X (gfx942:sramecc+:xnack-)
Nvidia driver version: Could not collect
cuDNN version: Could not collect
HIP runtime version: 6.4.43483
MIOpen runtime version: 3.4.0

CPU:
Architecture:                         x86_64
On-line CPU(s) list:                  0-191
Model name:                           AMD EPYC 9654 96-Core Processor
NUMA node(s):                         2
NUMA node0 CPU(s):                    0-95
NUMA node1 CPU(s):                    96-191

Versions of relevant libraries:
[pip3] torch==2.9.0+rocm6.4
vLLM Version: 0.11.2
HIP_FORCE_DEV_KERNARG=0
VLLM_API_KEY=hunter2
)";

inline constexpr std::string_view kCollectEnvNvidia = R"(PyTorch version: 2.9.0+cu128
CUDA used to build PyTorch: 12.8
ROCM used to build PyTorch: N/A
CUDA runtime version: 12.8.61
GPU models and configuration:
GPU 0: NVIDIA H100 80GB HBM3
GPU 1: NVIDIA H100 80GB HBM3
Nvidia driver version: 570.86.15
cuDNN version: Probably one of the following:
/usr/lib/x86_64-linux-gnu/libcudnn.so.9.7.1
/usr/lib/x86_64-linux-gnu/libcudnn_adv.so.9.7.1
)";

inline constexpr std::string_view kEnv = R"(SHELL=/bin/bash
USER=alice
HIP_LAUNCH_BLOCKING=1
export NCCL_DEBUG="INFO"
declare -x GPU_MAX_HW_QUEUES='2'
BASH_FUNC_x%%=() {  echo
}
HF_TOKEN=hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345
)";

}  // namespace rung::doctor
