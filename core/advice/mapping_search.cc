#include "core/advice/mapping_search.h"

#include <algorithm>
#include <utility>

#include "core/scenario/request.h"

namespace slipstick {
namespace {

constexpr Count kMostMappings = 3700;

// Limits that restrict a member to the scenario's own value, and to the value `also`, which every mapping can take.
void Keep(const Json& scenario, const std::string& path, const std::string& member, const std::string& also,
          std::vector<std::string>& out) {
  if (!IsSet(scenario, path)) return;
  const std::string word = PlainText(*MemberAt(scenario, path));
  out.push_back(member + "=" + word + (also.empty() || also == word ? "" : "," + also));
}

void AtMost(const Json& scenario, const std::string& path, const std::string& member, Count most,
            std::vector<std::string>& out) {
  const Count own = static_cast<Count>(NumberAt(scenario, path).value_or(1));
  out.push_back(member + "<=" + std::to_string(std::max(own, most)));
}

std::vector<std::string> TrainingLimits(const Json& scenario) {
  std::vector<std::string> limits;
  Keep(scenario, "training.mapping.order", "order", "", limits);
  Keep(scenario, "training.mapping.schedule", "schedule", "1f1b", limits);
  Keep(scenario, "training.offload.activations", "offload.activations", "", limits);
  Keep(scenario, "training.offload.optimizer", "offload.optimizer", "", limits);
  Keep(scenario, "training.mapping.expert_tp", "expert_tp", "1", limits);
  const Count domain = static_cast<Count>(NumberAt(scenario, "cluster.networks.0.size").value_or(1));
  AtMost(scenario, "training.mapping.tp", "tp", domain, limits);
  AtMost(scenario, "training.mapping.micro_batch", "micro_batch", 4, limits);
  AtMost(scenario, "training.mapping.cp", "cp", 8, limits);
  return limits;
}

constexpr const char* kConcurrency = "serving.concurrency";

// The request with the scenario's number of requests as if it were written, so that a search keeps it.
Json WithTotal(const Json& request, const Json& scenario) {
  const Written written(request);
  for (const char* load : {kConcurrency, "serving.batch", "serving.requests_per_s"}) {
    if (!written.IsDefault(load)) return request;
  }
  if (!IsSet(scenario, kConcurrency)) return request;
  return WithOverrides(request, ObjectOf({{kConcurrency, *MemberAt(scenario, kConcurrency)}}));
}

// `total`: a number of requests sets the batch.
std::vector<std::string> ServingLimits(const Json& scenario, bool total) {
  std::vector<std::string> limits;
  const Json* batch = MemberAt(scenario, "serving.batch");
  if (!total && !NumberAt(scenario, "serving.requests_per_s") && batch != nullptr && batch->is_number()) {
    Keep(scenario, "serving.batch", "batch", "", limits);
  }
  limits.push_back("prefill_chunk=" +
                   std::to_string(static_cast<Count>(NumberAt(scenario, "serving.prefill_chunk").value_or(0))));
  return limits;
}

// A prefill pool with its own device keeps its mapping, or takes the decode pool's if it has none.
std::vector<std::string> ServingNarrowings(const Json& scenario) {
  std::vector<std::string> limits{"cp<=1"};
  if (!IsSet(scenario, "serving.disaggregated.prefill_device")) return limits;
  const std::string own = "serving.disaggregated.prefill_mapping";
  const std::string path = (IsSet(scenario, own) ? own : "serving.mapping") + ".";
  for (const std::string member : {"prefill_cp", "ep", "attention_dp", "pp", "tp"})
    Keep(scenario, path + member, "prefill_mapping." + member, "", limits);
  return limits;
}

// Further limits for a space that is too large, the least important first.
std::vector<std::string> Narrowings(const Json& scenario, const std::string& part) {
  std::vector<std::string> limits;
  if (part == "serving") return ServingNarrowings(scenario);
  AtMost(scenario, "training.mapping.micro_batch", "micro_batch", 2, limits);
  AtMost(scenario, "training.mapping.cp", "cp", 2, limits);
  AtMost(scenario, "training.mapping.cp", "cp", 1, limits);
  Keep(scenario, "training.mapping.zero", "zero", "1", limits);
  AtMost(scenario, "training.mapping.virtual_stages", "virtual_stages", 8, limits);
  AtMost(scenario, "training.mapping.virtual_stages", "virtual_stages", 1, limits);
  return limits;
}

// Mapping members in their usual order, by their paths below a part.
struct PartName {
  std::string_view path, label;
};
constexpr PartName kLabels[] = {{"mapping.tp", "TP"},
                                {"mapping.sequence_parallel", "sequence parallelism"},
                                {"mapping.cp", "CP"},
                                {"mapping.pp", "PP"},
                                {"mapping.virtual_stages", "virtual stages"},
                                {"mapping.schedule", "schedule"},
                                {"mapping.ep", "EP"},
                                {"mapping.expert_tp", "expert TP"},
                                {"mapping.attention_dp", "DP attention"},
                                {"mapping.prefill_cp", "prefill CP"},
                                {"mapping.zero", "ZeRO"},
                                {"mapping.micro_batch", "micro-batch"},
                                {"recompute", "recomputation"},
                                {"global_batch", "global batch"},
                                {"disaggregated.prefill_devices", "prefill devices"},
                                {"disaggregated.decode_devices", "decode devices"},
                                {"disaggregated.prefill_mapping.tp", "prefill pool TP"},
                                {"disaggregated.prefill_mapping.pp", "prefill pool PP"},
                                {"disaggregated.prefill_mapping.ep", "prefill pool EP"},
                                {"disaggregated.prefill_mapping.attention_dp", "prefill pool DP attention"},
                                {"disaggregated.prefill_mapping.prefill_cp", "prefill pool CP"}};

std::string Spoken(const Json& value) {
  return value.is_boolean() ? (value.get<bool>() ? "on" : "off") : PlainText(value);
}

// Members without effect: sequence parallelism of one rank, sharding over one. `degree` returns a training degree.
template <class Degree>
bool SaysNothing(std::string_view member, const Degree& degree) {
  if (member == "sequence_parallel") return degree("tp") == 1;
  return member == "zero" && degree("dp") == 1 && degree("cp") == 1;
}

std::string LastMember(std::string_view path) { return std::string(path.substr(path.rfind('.') + 1)); }

}  // namespace

std::shared_ptr<SearchJob> MappingSearchFor(const Json& request, const Json& scenario, const AdviceQuestion& question,
                                            const std::vector<std::string>& limits) {
  const Json asked = question.part == "serving" ? WithTotal(request, scenario) : request;
  const bool total = IsSet(asked, kConcurrency) && !Written(asked).IsDefault(kConcurrency);
  SearchSpec spec;
  spec.part = question.part;
  spec.objective = question.figure;
  spec.top = 1;
  spec.limits = question.part == "training" ? TrainingLimits(scenario) : ServingLimits(scenario, total);
  spec.limits.insert(spec.limits.end(), limits.begin(), limits.end());
  spec.limits.insert(spec.limits.end(), question.mapping_limits.begin(), question.mapping_limits.end());
  Result<std::shared_ptr<SearchJob>> job = SearchJob::Make(asked, spec);
  if (!job) return nullptr;
  for (const std::string& narrower : Narrowings(scenario, question.part)) {
    if ((*job)->SpaceSize() <= kMostMappings) break;
    spec.limits.push_back(narrower);
    Result<std::shared_ptr<SearchJob>> smaller = SearchJob::Make(asked, spec);
    if (smaller) {
      job = std::move(smaller);
    } else {
      spec.limits.pop_back();
    }
  }
  return std::move(*job);
}

Json ChangedMembers(const Json& found, const Json& request, const Json& scenario) {
  const auto degree = [&](const char* member) {
    return found.value(std::string("training.mapping.") + member, Count{0});
  };
  Json changed = Json::object();
  for (const auto& [path, value] : found.items()) {
    const std::string member = LastMember(path);
    if (SaysNothing(member, degree)) continue;
    const bool follows = member == "dp" || member == "replicas";
    if (follows && !IsSet(request, path)) continue;
    const Json* old = MemberAt(scenario, path);
    if (old == nullptr ? value.is_null() : *old == value) continue;
    changed[path] = value;
  }
  return changed;
}

std::string MappingChangesText(const std::string& part, const Json& before, const Json& after, const Json& said) {
  const auto degree = [&](const char* member) {
    return NumberAt(after, std::string("training.mapping.") + member).value_or(0);
  };
  std::string text;
  for (const PartName& one : kLabels) {
    const std::string path = part + "." + std::string(one.path);
    const Json* value = MemberAt(after, path);
    if (value == nullptr || said.contains(path)) continue;
    const Json* old = MemberAt(before, path);
    const bool is_new = old == nullptr || old->is_null();
    if (is_new ? value->is_null() : *old == *value) continue;
    if (part == "training" && SaysNothing(LastMember(path), degree)) continue;
    text += (text.empty() ? "" : ", ") + std::string(one.label) + " ";
    if (!is_new) text += Spoken(*old) + " \u2192 ";
    text += Spoken(*value);
  }
  return text;
}

}  // namespace slipstick
