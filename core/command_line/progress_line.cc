#include "core/command_line/progress_line.h"

#include <unistd.h>

#include <cstdio>

namespace slipstick {

ProgressLine::ProgressLine(bool always) : shown_(always || isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::Update(Count done, Count of) {
  constexpr std::chrono::milliseconds kOften{200};
  if (!shown_) return;
  const std::lock_guard<std::mutex> lock(one_at_a_time_);
  const auto now = std::chrono::steady_clock::now();
  if (now - said_ < kOften && done < of) return;
  said_ = now;
  const double seconds = std::chrono::duration<double>(now - begun_).count();
  const double left = done > 0 ? seconds * static_cast<double>(of - done) / static_cast<double>(done) : 0;
  std::fprintf(stderr, "\r%lld of %lld, %.0f s, about %.0f s left\033[K", static_cast<long long>(done),
               static_cast<long long>(of), seconds, left);
}

}  // namespace slipstick
