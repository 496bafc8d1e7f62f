// The classes of requests of mixed traffic, on the engines of one deployment.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "core/engine_step/deployment.h"
#include "core/serving/load_model.h"
#include "core/serving/serving_memory.h"

namespace slipstick {

// A class by itself (`load`), and its prompts in steps shared by all, with requests of mean output (`load_met`).
struct TrafficClass {
  TrafficClass(const Model& model, const Cluster& cluster, const ServingLoad& all, const RequestClass& one);

  RequestClass of;
  ServingLoad load, load_met;
  Deployment deployment, met;
  KvCacheBudget budget;
  HeldByRequest held;
};

// Cycles of the classes in a group with a given number of running sequences.
struct Cycles {
  std::vector<RequestCycle> of;
  std::vector<double> relative;  // cycle over the mean cycle, i.e. share in flight over share of arrivals
  Seconds mean;
  double variation = 0;  // squared coefficient of variation
  Hertz rate;            // of requests, all replicas
};
// The cycle of class i if its decode steps take `decode`; `relative` is its cycle over the mean cycle.
using CycleOfClass = std::function<RequestCycle(std::size_t i, const DecodeTimes& decode, double relative)>;

class TrafficClasses {
 public:
  // All must outlive it. `memo`: of a search, or null.
  TrafficClasses(const Model& model, const Cluster& cluster, const ServingLoad& load, ServingMemo* memo);

  [[nodiscard]] std::size_t size() const { return classes_.size(); }
  [[nodiscard]] const TrafficClass& operator[](std::size_t i) const { return classes_[i]; }
  [[nodiscard]] const Deployment& First() const { return classes_.front().deployment; }
  [[nodiscard]] const ServingLoad& load() const { return load_; }

  // Weighted mean over the requests.
  template <class Of>
  [[nodiscard]] auto Mean(const Of& of) const {
    decltype(of(0)) mean{};
    for (std::size_t i = 0; i < classes_.size(); ++i) mean += classes_[i].of.weight * of(i);
    return mean;
  }
  [[nodiscard]] double MeanOutput() const;
  [[nodiscard]] std::vector<double> RelativeOutputs() const;

  // Cycles with `running` sequences.
  [[nodiscard]] Cycles Settled(double running, const CycleOfClass& cycle_of) const;

 private:
  const ServingLoad& load_;
  std::deque<TrafficClass> classes_;  // their deployments refer to their loads
};

}  // namespace slipstick
