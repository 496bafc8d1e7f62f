#include "core/command_line/study_command.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/command_line/progress_line.h"

namespace slipstick {

Answer RunStudy(const std::string& id, const std::string& threads, bool show_progress) {
  const Result<Count> size = StudySize(id);
  if (!size) return WrongRequest(size.issues);
  const long requested = std::strtol(threads.c_str(), nullptr, 10);
  const unsigned workers = requested > 0 ? static_cast<unsigned>(std::min(requested, 1024L))
                                         : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::string> points(static_cast<std::size_t>(*size));
  std::atomic<Count> next = 0, done = 0;
  ProgressLine line(show_progress);
  std::vector<std::thread> running;
  for (unsigned i = 0; i < workers; ++i) {
    running.emplace_back([&] {
      for (Count at = next++; at < static_cast<Count>(points.size()); at = next++) {
        points[static_cast<std::size_t>(at)] = StudyPointAnswer(id, at).text;
        line.Update(++done, *size);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  std::string all;
  for (const std::string& point : points) all += (all.empty() ? "[" : ",") + point;
  return StudyOfPointsAnswer(id, all + "]");
}

}  // namespace slipstick
