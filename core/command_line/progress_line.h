// Progress of a long run on standard error, if that is a terminal or on request.
#pragma once

#include <chrono>
#include <mutex>

#include "core/base/quantity.h"

namespace slipstick {

// Safe to update from several threads.
class ProgressLine {
 public:
  explicit ProgressLine(bool always);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void Update(Count done, Count of);

 private:
  const bool shown_;
  std::mutex one_at_a_time_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point said_;
};

}  // namespace slipstick
