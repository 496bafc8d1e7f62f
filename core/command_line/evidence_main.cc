// Writes this core's predictions of the published measurements as C++, for the core that is built with them:
//
//   evidence FILE…                         the source of MeasuredRuns (core/evidence/measured_run.h)
//   evidence FILE… --coverage FILE…        how often the intervals hold the measurements of the files after --coverage,
//                                          each answered without its own source (files of one id are one source)
//   evidence FILE… --publishers FILE…      a line of JSON for each measurement of the files after it, answered without
//   evidence FILE… --devices FILE…         its publisher or its device (core/studies/coverage.h)
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "core/studies/coverage.h"

namespace {

std::vector<slipstick::EvidenceFile> FilesOf(const std::vector<std::string>& paths) {
  std::vector<slipstick::EvidenceFile> files;
  for (const std::string& path : paths) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const std::size_t name = path.find_last_of('/') + 1;
    files.push_back({path.substr(name, path.rfind('.') - name), text.str()});
  }
  return files;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> evidence, tested;
  std::string task;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument.starts_with("--")) {
      task = argument;
    } else {
      (task.empty() ? evidence : tested).push_back(argument);
    }
  }
  const slipstick::EvidenceFiles read = slipstick::ReadEvidence(FilesOf(evidence), slipstick::CatalogueDistance());
  for (const slipstick::Issue& issue : read.issues) std::cerr << issue.path << ": " << issue.message << '\n';
  if (!read.issues.empty()) return 1;
  if (task == "--coverage") {
    std::cout << slipstick::CoverageText(read, FilesOf(tested));
  } else if (task == "--publishers" || task == "--devices") {
    const slipstick::LeftOut by = task == "--devices" ? slipstick::LeftOut::kDevice : slipstick::LeftOut::kPublisher;
    std::cout << slipstick::LinesOfLeftOut(read, FilesOf(tested), by);
  } else {
    std::cout << slipstick::EvidenceSource(read);
  }
  return 0;
}
