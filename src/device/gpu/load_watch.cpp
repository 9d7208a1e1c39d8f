// Samples sensors on a thread that sleeps in between.
// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/load_watch.hpp"

#include <chrono>

#include "base/signals.hpp"
#include "measure/clock.hpp"

namespace rung::gpu {
namespace {

// Boards refresh their own averages every 20 to 100 ms; a look takes some tens of microseconds of one core.
constexpr std::chrono::milliseconds kPeriod{50};

Result<SensorDevice> find_device(const Gpu& gpu, const Sensors*& sensors) {
  if (!gpu.runtime().sensors) return fail("{} does not report clocks and power", gpu.runtime().name);
  RUNG_TRY(sensors, gpu.runtime().sensors());
  return sensors->device(gpu.info().bus_address);
}

}  // namespace

LoadWatch::LoadWatch(const Gpu& gpu) {
  if (auto found = find_device(gpu, sensors_)) {
    device_ = *found;
    look();
    const SignalsHeld held;  // held from the thread's first instruction on
    thread_ = std::thread([this] { watch(); });
  } else {
    unknown_ = found.error().message;
  }
}

void LoadWatch::look() {
  SensorReading reading = sensors_->read(device_);
  reading.seconds = static_cast<double>(now_ns()) * 1e-9;
  readings_.push_back(std::move(reading));
}

void LoadWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kPeriod, [this] { return end_; })) {
    try {
      look();
    } catch (const std::bad_alloc&) {  // one reading is missing then
    }
  }
}

void LoadWatch::end() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

DeviceLoad LoadWatch::stop(int runs) {
  end();
  if (device_) look();
  DeviceLoad load = summarize_load(readings_, runs);
  load.unknown = unknown_;
  return load;
}

}  // namespace rung::gpu
