#include "core/evidence/measured_run.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace slipstick {
namespace {

// The numbers of a run that its line stores as multiples of 1 / kTableSteps.
template <class Setting>
auto InSteps(Setting& at, auto& log_error) {
  return std::to_array({&at.bits, &at.devices, &at.load, &at.parameters, &at.length, &at.network, &at.latency,
                        &at.waiting, &at.queued, &log_error});
}

// Returns the text before the next tab or line end, and moves `rest` behind that.
std::string_view Next(std::string_view& rest) {
  const std::string_view one = rest.substr(0, rest.find_first_of("\t\n"));
  rest.remove_prefix(one.size() + 1);
  return one;
}

MeasuredRun RunOf(std::string_view& rest) {
  MeasuredRun run;
  const auto whole = [&rest] { return std::atoi(Next(rest).data()); };
  run.id = Next(rest);
  run.source = whole();
  run.kind = static_cast<MeasuredKind>(whole());
  run.setting.device = Next(rest);
  run.setting.architecture = Next(rest);
  run.setting.software = Next(rest);
  run.setting.has_experts = whole() != 0;
  for (double* number : InSteps(run.setting, run.log_error)) *number = whole() / kTableSteps;
  run.predicted = std::atof(Next(rest).data());
  return run;
}

}  // namespace

std::string LineOf(const MeasuredRun& run) {
  const RunSetting& at = run.setting;
  const auto text = [](std::string_view word) { return std::string(word) + "\t"; };
  std::string line = text(run.id) + text(std::to_string(run.source)) +
                     text(std::to_string(static_cast<int>(run.kind))) + text(at.device) + text(at.architecture) +
                     text(at.software) + text(at.has_experts ? "1" : "0");
  for (const double* number : InSteps(at, run.log_error))
    line += text(std::to_string(std::lround(*number * kTableSteps)));
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.6g", run.predicted);
  return line + digits.data() + "\n";
}

std::vector<MeasuredRun> RunsOf(std::string_view lines) {
  std::vector<MeasuredRun> runs;
  while (!lines.empty()) runs.push_back(RunOf(lines));
  return runs;
}

std::span<const MeasuredRun> MeasuredRuns() {
  static const std::vector<MeasuredRun> runs = RunsOf(MeasuredLines());
  return runs;
}

}  // namespace slipstick
