#include "core/sizing/sizing_json.h"

namespace slipstick {

Json OverridesAtPeak(double requests_per_s) {
  return ObjectOf({{"training", nullptr},
                   {"serving.concurrency", nullptr},
                   {"serving.requests_per_s", requests_per_s},
                   {"serving.disaggregated", nullptr},
                   {"serving.devices", nullptr},
                   {"serving.mapping.tp", 1},
                   {"serving.mapping.pp", 1}});
}

Json MappingOf(const ServingMapping& mapping) {
  return ObjectOf({{"tp", mapping.tp},
                   {"pp", mapping.pp},
                   {"ep", mapping.ep},
                   {"cp", mapping.cp},
                   {"attention_dp", mapping.attention_dp}});
}

Json FiguresOf(const Json& serving, std::optional<double> utilization) {
  Json figures = Json::object();
  for (const char* key : {"requests_per_s", "ttft_s", "tpot_s", "request_latency_s", "tokens_per_s",
                          "requests_in_flight", "requests_waiting", "memory_bytes", "energy_j_per_token"}) {
    figures[key] = serving[key];
  }
  if (utilization) figures["utilization"] = *utilization;
  return figures;
}

}  // namespace slipstick
