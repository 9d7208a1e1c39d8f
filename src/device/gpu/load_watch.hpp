// Watches a GPU's sensors while something is measured on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

#include "device/gpu/gpu.hpp"
#include "device/gpu/sensors.hpp"

namespace rung::gpu {

class LoadWatch {
 public:
  // Reads sensors at once, then every `kPeriod` on a thread of its own, until stop(). Without sensors it does nothing.
  explicit LoadWatch(const Gpu& gpu);
  ~LoadWatch() { end(); }
  LoadWatch(const LoadWatch&) = delete;
  LoadWatch& operator=(const LoadWatch&) = delete;
  bool sees() const { return device_ != nullptr; }
  // Returns the load that was seen during `runs` runs; `unknown` says why none was.
  DeviceLoad stop(int runs);

 private:
  void look();
  void watch();
  void end();
  const Sensors* sensors_ = nullptr;
  SensorDevice device_ = nullptr;
  std::string unknown_;
  std::vector<SensorReading> readings_;  // belongs to the thread until it ends
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace rung::gpu
