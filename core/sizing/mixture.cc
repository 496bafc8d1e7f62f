#include "core/sizing/mixture.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/fix.h"
#include "core/base/units.h"
#include "core/serving/serving.h"

namespace slipstick {
namespace {

bool IsOf(const RequestClass& a, const RequestClass& b) {
  return a.prompt_tokens == b.prompt_tokens && a.output_tokens == b.output_tokens;
}

double WeightOf(const std::vector<RequestClass>& classes) {
  double sum = 0;
  for (const RequestClass& one : classes) sum += one.weight;
  return sum;
}

MeanLengths MeanLengthsOf(const std::vector<RequestClass>& classes) {
  MeanLengths mean;
  const double sum = WeightOf(classes);
  for (const RequestClass& one : classes) {
    mean.prompt += one.weight / sum * static_cast<double>(one.prompt_tokens);
    mean.output += one.weight / sum * static_cast<double>(one.output_tokens);
  }
  return mean;
}

// Joins classes with equal lengths, and sorts them in ascending order.
std::vector<RequestClass> Joined(std::vector<RequestClass> classes) {
  std::sort(classes.begin(), classes.end(), [](const RequestClass& a, const RequestClass& b) {
    return std::tie(a.prompt_tokens, a.output_tokens, a.weight) < std::tie(b.prompt_tokens, b.output_tokens, b.weight);
  });
  std::vector<RequestClass> joined;
  for (const RequestClass& one : classes) {
    if (!joined.empty() && IsOf(joined.back(), one)) {
      joined.back().weight += one.weight;
    } else {
      joined.push_back(one);
    }
  }
  return joined;
}

Issue SwitchOff(const std::string& path, const std::string& why) {
  return {"mixture", "Leave out the mixture, or switch off " + path + ": " + why, {{{path, "null"}}}};
}

// The longest request that the model supports; 0 if unknown.
Count LongestRequest(const Model& model) {
  return model.positions.encoding == Position::kLearned ? Count(model.positions.rows) : Count(model.context);
}

// Performance of the deployment for the requests of one class.
struct ServedShare {
  ServedClass served;
  double cost = 1;  // share of the deployment's
  std::optional<SimulatedClass> simulated;
};

ServedShare AllAlike(const ClassesAtPeak& peak) {
  const Json& figures = peak.figures;
  const auto number = [&](const char* name) { return figures[name].get<double>(); };
  const ServingLoad& load = *peak.at_peak.serving;
  ServedShare all{{{1, load.prompt, load.output},
                   Seconds::FromBase(number("ttft_s")),
                   Seconds::FromBase(number("tpot_s")),
                   Seconds::FromBase(number("request_latency_s")),
                   number("requests_in_flight"),
                   number("requests_waiting"),
                   {}},
                  1,
                  std::nullopt};
  return all;
}

}  // namespace

std::vector<RequestClass> MixtureOf(const std::vector<RequestClass>& classes) {
  std::vector<RequestClass> mixture = Joined(classes);
  if (mixture.size() < 2) return {};
  const double sum = WeightOf(mixture);
  for (RequestClass& one : mixture) one.weight /= sum;
  return mixture;
}

Json LengthsOf(const std::vector<RequestClass>& classes) {
  const MeanLengths mean = MeanLengthsOf(Joined(classes));
  return ObjectOf({{"serving.prompt", std::llround(mean.prompt)}, {"serving.output", std::llround(mean.output)}});
}

MeanLengths MeanLengthsOf(const ServingLoad& load) {
  if (load.mixture.empty()) return {static_cast<double>(load.prompt), static_cast<double>(load.output)};
  return MeanLengthsOf(load.mixture);
}

Issues CheckMixture(const Json& request) {
  struct Excluded {
    const char *path, *why;
  };
  constexpr Excluded kExcluded[] = {
      {"serving.sessions", "sessions have lengths of their own"},
      {"serving.images", "not every class has images"},
      {"serving.kv_offload", "sizing offloads the KV cache of one class only"},
      {"serving.prefix_cache", "sizing has tiers for the prefixes of one class only"},
  };
  Issues issues;
  for (const auto& [path, why] : kExcluded) {
    if (IsSet(request, path)) issues.push_back(SwitchOff(path, why));
  }
  return issues;
}

Issues CheckClasses(const std::vector<RequestClass>& classes, const Scenario& scenario) {
  Issues issues;
  const std::optional<RequestLengths>& lengths = scenario.serving->lengths;
  const auto has_own = [](const LengthDistribution& one) { return one.kind == LengthKind::kQuantiles; };
  if (lengths && (has_own(lengths->prompt) || has_own(lengths->output)))
    issues.push_back(SwitchOff("serving.lengths", "quantiles of all requests are not those of a class"));
  const Count longest = LongestRequest(scenario.model);
  for (std::size_t i = 0; i < classes.size() && longest > 0; ++i) {
    const RequestClass& one = classes[i];
    if (one.prompt_tokens + one.output_tokens <= longest) continue;
    const std::string path = "mixture." + std::to_string(i) + ".prompt_tokens";
    issues.push_back({path,
                      "Prompt + output must be at most the model's context of " +
                          GroupedText(static_cast<double>(longest)) + " tokens",
                      one.output_tokens < longest ? Fixes{SetTo(path, longest - one.output_tokens)} : Fixes{}});
  }
  return issues;
}

Json ClassesAnswer(const SizeQuestion& question, const ClassesAtPeak& peak) {
  if (question.mixture.empty()) return nullptr;
  const ServingLoad& load = *peak.at_peak.serving;
  std::vector<ServedShare> served;
  if (load.mixture.empty()) {
    served.push_back(AllAlike(peak));
  } else {
    for (const ServedClass& one : EvaluateServing(peak.at_peak.model, peak.at_peak.cluster, load, false).classes)
      served.push_back(
          {one, one.device_time.prefill * peak.cost_of_pass.prefill + one.device_time.decode * peak.cost_of_pass.decode,
           std::nullopt});
  }
  if (peak.simulated) {
    const Verdict& all = *peak.simulated;
    for (std::size_t i = 0; i < served.size(); ++i) {
      SimulatedClass& one = served[i].simulated.emplace();
      if (load.mixture.empty()) {
        one.requests = all.simulated_requests;
        one.ttft = all.ttft, one.tpot = all.tpot;
      } else {
        one = all.simulated_classes[i];
        one.ttft = At(question.percentile, one.ttft_percentiles, one.ttft);
        one.tpot = At(question.percentile, one.tpot_percentiles, one.tpot);
      }
    }
  }
  const MeanLengths mean = MeanLengthsOf(load);
  const double sum = WeightOf(Joined(question.mixture));
  Json answer = Json::array();
  for (const RequestClass& asked : question.mixture) {
    const auto found =
        std::find_if(served.begin(), served.end(), [&](const ServedShare& one) { return IsOf(one.served.of, asked); });
    const ServedClass& one = found->served;
    const double share = asked.weight / sum, of_class = share / one.of.weight;
    const double prompt = static_cast<double>(asked.prompt_tokens), output = static_cast<double>(asked.output_tokens);
    const double cost_share = of_class * found->cost;
    const DollarsPerToken price = cost_share * peak.cost / (peak.mean_requests_per_s * share * output * kTokenPerS);
    Json row = ObjectOf({{"prompt_tokens", asked.prompt_tokens},
                         {"output_tokens", asked.output_tokens},
                         {"share", share},
                         {"requests_per_s", share * peak.figures["requests_per_s"].get<double>()},
                         {"ttft_s", one.ttft.base()},
                         {"tpot_s", one.tpot.base()},
                         {"request_latency_s", one.latency.base()},
                         {"requests_in_flight", of_class * one.in_flight},
                         {"requests_waiting", of_class * one.waiting},
                         {"token_share", share * (prompt + output) / (mean.prompt + mean.output)},
                         {"cost_share", cost_share},
                         {"usd_per_million_output_tokens", In(price, kUsdPerMToken)},
                         {"simulated", nullptr}});
    if (found->simulated) {
      row["simulated"] = ObjectOf({{"ttft_s", found->simulated->ttft.base()},
                                   {"tpot_s", found->simulated->tpot.base()},
                                   {"requests", found->simulated->requests}});
    }
    answer.push_back(std::move(row));
  }
  return answer;
}

}  // namespace slipstick
