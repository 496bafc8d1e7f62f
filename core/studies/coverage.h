// How often the intervals contain the measured value when the source of the measurement is left out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/evaluation/evidence_files.h"
#include "core/scenario/answer.h"

namespace slipstick {

struct Coverage {
  int runs = 0, held = 0;
  std::vector<double> half_widths;  // relative to the answer, ascending
  [[nodiscard]] double Held() const { return runs > 0 ? static_cast<double>(held) / runs : 0; }
  [[nodiscard]] double MedianHalfWidth() const { return half_widths.empty() ? 0 : half_widths[half_widths.size() / 2]; }
};
struct CoverageReport {
  std::map<MeasuredKind, Coverage> kinds;
  std::map<std::pair<MeasuredKind, std::string>, Coverage> sources;  // by the id of the source
};
// `tested`: measurements; if the evidence has a source with the same id, they belong to it.
CoverageReport CoverageOf(const EvidenceFiles& evidence, const EvidenceFiles& tested);

std::string_view TitleOf(MeasuredKind kind);
// The coverage as a table, with the rows of the tested files that the core does not answer.
std::string CoverageText(const EvidenceFiles& evidence, const std::vector<EvidenceFile>& tested);

// One line of JSON per measurement, answered without any run of its publisher or of its device: {"kind", "publisher",
// "source", "id", "device", "error", "low", "high", "least", "most", "measured", "stock"}. Logarithms relative to the
// answer (for a rate, of the corresponding time): the measurement, the ends of its interval, and the ends from only its
// neighbors' errors. `measured`: others measured its software with its kind of model on its architecture; `stock`: the
// interval is widened because of how the engine is run.
enum class LeftOut { kPublisher, kDevice };
std::string LinesOfLeftOut(const EvidenceFiles& evidence, const std::vector<EvidenceFile>& tested, LeftOut by);

// The published runs of this core, each answered without its own source: {"kinds": [{"kind", "runs", "held",
// "half_width"}]}.
Answer CoverageAnswer();

}  // namespace slipstick
