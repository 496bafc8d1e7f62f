// The figures that a search can look for, limit, or span a front with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/economics/energy.h"
#include "core/serving/serving.h"
#include "core/training/training.h"

namespace slipstick {

// What the figures of a place are read from.
struct Answered {
  const TrainingReport* training = nullptr;
  const ServingReport* serving = nullptr;
  double devices = 1;
  DollarsPerSecond device_second;
  WallPower wall;  // nothing on top of the devices where no cost is asked
  Tokens tokens;   // of the whole training run
};

struct SearchFigure {
  std::string_view name;
  bool larger_is_better;
  double (*read)(const Answered&);
};

// Of "training" or "serving"; null where there is none.
const SearchFigure* FindSearchFigure(std::string_view of, std::string_view name);
std::string SearchFigureNames(std::string_view of);

// The members that a search chooses, as paths of a scenario: "training.mapping.tp".
std::vector<std::string> MemberPaths(std::string_view of);

// {"training": [{"name","better"}], "serving": […], "members": {"training": [path], "serving": […]}}: what can be searched for and
// among what.
Json SearchObjectives();

}  // namespace slipstick
