// Many wrong requests: every fix removes its issue.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/base/json.h"
#include "core/scenario/parse_scenario.h"
#include "core/scenario/request.h"
#include "tests/support/issue_words.h"

namespace slipstick {
namespace {

void Erase(Json& json, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string member(path.substr(0, dot));
  if (json.is_array() && dot != std::string_view::npos) return Erase(json[std::stoul(member)], path.substr(dot + 1));
  if (!json.is_object() || !json.contains(member)) return;
  if (dot == std::string_view::npos) {
    json.erase(member);
  } else {
    Erase(json[member], path.substr(dot + 1));
  }
}

Json Fixed(Json request, const Fix& fix) {
  std::vector<Change> changes{fix.change};
  changes.insert(changes.end(), fix.also.begin(), fix.also.end());
  std::vector<Assignment> set;
  for (const Change& change : changes) {
    if (!change.value.empty()) set.push_back({change.path, *ParseJson(change.value)});
  }
  Apply(request, set);
  for (const Change& change : changes) {
    if (change.value.empty()) Erase(request, change.path);
  }
  return request;
}

Issues IssuesOf(const Json& request) {
  const Result<Json> whole = CompleteRequest(request);
  return whole ? ParseScenario(*whole).issues : whole.issues;
}
Issues AnsweredIssues(const Json& request) { return EvaluateAnswer(JsonText(request), {}, "", false).issues; }

bool HasPath(const Issues& issues, const std::string& path) {
  return std::any_of(issues.begin(), issues.end(), [&](const Issue& issue) { return issue.path == path; });
}

// Applies every fix of every issue; returns the number of issues with a fix.
int ExpectFixesFix(const Json& request, const std::string& name) {
  int fixed = 0;
  for (const Issue& issue : AnsweredIssues(request)) {
    fixed += issue.fixes.empty() ? 0 : 1;
    EXPECT_LE(issue.fixes.size(), 6U) << name << " " << issue.path << " " << issue.message;
    for (const Fix& fix : issue.fixes) {
      EXPECT_FALSE(HasPath(IssuesOf(Fixed(request, fix)), issue.path))
          << name << ": " << issue.path << " " << issue.message << "\n  " << WordsOf(fix);
    }
  }
  return fixed;
}

struct WrongRequestRow {
  std::vector<std::string> assignments;
  std::string path;
  std::vector<std::string> fixes;  // in order
};

std::vector<WrongRequestRow> WrongRequests() {
  const std::string dgx = "cluster=dgx-h100", llama = "model=llama-3.1-70b";
  return {
      // Names.
      {{"training.mapping.tpp=4"}, "training.mapping.tpp", {"training.mapping.tp=4 training.mapping.tpp="}},
      {{"servin.batch=4"}, "servin", {"serving.batch=4 servin="}},
      {{"training.precision=bf17"}, "training.precision", {R"(training.precision="bf16")"}},
      {{"training.recompute=some"}, "training.recompute", {}},
      {{"model=llama-3.1-7b"}, "model.preset", {R"(model.preset="llama-3.1-70b")", R"(model.preset="llama-3.1-8b")"}},
      {{"cluster.device=h100"}, "cluster.device.preset", {R"(cluster.device.preset="h100-nvl-94gb")"}},
      {{"cluster.networks.0=nvlink44"}, "cluster.networks.0.preset", {}},
      // Numbers: ranges, wholes, units, commas.
      {{"training.mapping.tp=0"}, "training.mapping.tp", {"training.mapping.tp=1"}},
      {{"training.mapping.zero=4"}, "training.mapping.zero", {"training.mapping.zero=3"}},
      {{"serving.batch=2.5"}, "serving.batch", {"serving.batch=2", "serving.batch=3"}},
      {{"serving.prefix_hit=1.5"}, "serving.prefix_hit", {}},
      {{"cluster.device.memory.bandwidth=3 TB"},
       "cluster.device.memory.bandwidth",
       {R"(cluster.device.memory.bandwidth="3 TB/s")"}},
      {{"cluster.device.memory.capacity=80 GB/s"},
       "cluster.device.memory.capacity",
       {R"(cluster.device.memory.capacity="80 GB")"}},
      {{"cluster.device.memory.bandwidth=4,5 TB/s"},
       "cluster.device.memory.bandwidth",
       {R"(cluster.device.memory.bandwidth="4.5 TB/s")"}},
      {{"serving.prompt=many"}, "serving.prompt", {"serving.prompt="}},
      {{"training.flash_attention=1"},
       "training.flash_attention",
       {"training.flash_attention=true", "training.flash_attention=false"}},
      // Training degrees. 7 divides neither the 512 devices nor the heads; with pp 4, tp 4 and 8 do.
      {{"training.mapping.tp=7", "training.mapping.pp=4"},
       "training.mapping",
       {"training.mapping.tp=4", "training.mapping.tp=8"}},
      {{"training.mapping.tp=8", "training.mapping.pp=4", "training.mapping.dp=8"},
       "training.mapping.dp",
       {"training.mapping.dp=16", "training.devices=256"}},
      {{"training.mapping.tp=8", "training.mapping.pp=4", "training.global_batch=100"},
       "training.global_batch",
       {"training.global_batch=96", "training.global_batch=112"}},
      {{"training.devices=1024"}, "training.devices", {"training.devices=512", "cluster.devices=1024"}},
      {{"training.mapping.pp=2", "training.mapping.virtual_stages=64"},
       "training.mapping.virtual_stages",
       {"training.mapping.virtual_stages=41"}},
      {{"training.mapping.ep=2"}, "training.mapping.ep", {"training.mapping.ep=1"}},
      {{"training.precision=int4"},
       "training.precision",
       {R"(training.precision="bf16")", R"(training.precision="fp8")"}},
      {{"training.mapping.order=tp-dp"}, "training.mapping.order", {R"(training.mapping.order="tp-cp-ep-dp-pp")"}},
      // Serving degrees and loads.
      {{llama, dgx, "cluster.devices=8", "serving.mapping.tp=16"}, "serving.mapping", {"serving.mapping.tp=8"}},
      {{llama, dgx, "serving.devices=8", "serving.mapping.tp=6"},
       "serving.mapping.tp",
       {"serving.mapping.tp=4", "serving.mapping.tp=8"}},
      {{llama, "cluster=single-rtx-4090", "serving.devices=8"},
       "serving.devices",
       {"serving.devices=1", "cluster.devices=8"}},
      {{llama, dgx, "serving.devices=7", "serving.mapping.tp=2"},
       "serving.devices",
       {"serving.devices=6", "serving.devices=8"}},
      {{llama, dgx, "serving.mapping.tp=4", "serving.devices=8", "serving.mapping.replicas=3"},
       "serving.mapping.replicas",
       {"serving.mapping.replicas=2"}},
      {{"serving.concurrency=4", "serving.requests_per_s=2"},
       "serving.requests_per_s",
       {"serving.requests_per_s=", "serving.concurrency="}},
      // GPT-3 has 2048 learned positions.
      {{"model=gpt-oss-20b", "cluster=dgx-h100", "cluster.devices=8", "serving.engine=llamacpp-2025",
        "serving.precision.weights=mxfp4", "serving.precision.activations=fp16", "serving.host_experts.layers=4",
        "serving.mapping.tp=1", "serving.mapping.pp=2", "serving.mapping.replicas=4"},
       "serving.host_experts",
       {"serving.host_experts=", "serving.devices=1 serving.mapping.replicas=1 serving.mapping.pp=1"}},
      {{"model=gpt3-175b", "serving.prompt=2000", "serving.output=256"},
       "serving.prompt",
       {"serving.prompt=1792", "serving.output=48"}},
      // People write a value where an object belongs and mean one of its members.
      {{"serving.precision=fp8"},
       "serving.precision",
       {"serving.precision.weights=\"fp8\"", "serving.precision.activations=\"fp8\""}},
      {{"cluster.device.memory=96 GB"}, "cluster.device.memory", {"cluster.device.memory.capacity=\"96 GB\""}},
      {{"serving.arrivals=poisson"}, "serving.arrivals", {"serving.arrivals.kind=\"poisson\""}},
      {{"serving.mapping=8"}, "serving.mapping", {"serving.mapping.tp=8"}},
      // A diffusion model with only one member stated.
      {{"diffusion.model.joint_blocks=5"}, "diffusion.model.hidden", {"diffusion.model.preset=\"flux.1-dev\""}},
      // A model stated completely.
      {{"model.kv_heads=6"}, "model.kv_heads", {"model.kv_heads=4", "model.kv_heads=8"}},
      {{"model=mixtral-8x7b", "model.moe.top_k=9"}, "model.moe.top_k", {"model.moe.top_k=8"}},
  };
}

TEST(Fixes, AreTheNearestLegalValues) {
  for (const WrongRequestRow& row : WrongRequests()) {
    const Json request = *ReadRequest(R"({"version": 1})", row.assignments);
    const Issues issues = AnsweredIssues(request);
    const auto found =
        std::find_if(issues.begin(), issues.end(), [&](const Issue& issue) { return issue.path == row.path; });
    ASSERT_NE(found, issues.end()) << row.assignments[0] << " " << (issues.empty() ? "" : issues[0].path);
    ASSERT_FALSE(found->fixes.empty()) << row.path << " " << found->message;
    for (std::size_t i = 0; i < row.fixes.size(); ++i) {
      ASSERT_GT(found->fixes.size(), i) << row.path;
      EXPECT_EQ(WordsOf(found->fixes[i]), row.fixes[i]) << row.path << " " << found->message;
    }
    ExpectFixesFix(request, row.assignments[0]);
  }
}

TEST(Fixes, RemoveTheIssuesOfEveryInput) {
  const Json described = (*ParseJson(DescribeAnswer().text))["inputs"];
  int wrong = 0, fixed = 0;
  for (const Json& input : described) {
    std::string path = TextOf(input["path"]);
    for (std::size_t star = path.find('*'); star != std::string::npos; star = path.find('*')) path[star] = '0';
    for (const char* value : {"-1", "1e30", "2.5", "0", "nonsense", "null", "[]", "{\"nothing\": 1}", "1,5", "3 TB"}) {
      Json request = *ReadRequest(R"({"version": 1})", {path + "=" + value});
      const Issues issues = IssuesOf(request);
      wrong += static_cast<int>(issues.size());
      fixed += ExpectFixesFix(request, path + "=" + value);
    }
  }
  EXPECT_GT(wrong, 2000);
  EXPECT_GT(fixed, wrong * 9 / 10);
}

TEST(Fixes, RemoveContradictionsBetweenDegrees) {
  int wrong = 0, fixed = 0;
  const auto expect = [&](const std::vector<std::string>& assignments) {
    std::string name;
    for (const std::string& one : assignments) name += one + " ";
    const Json request = *ReadRequest(R"({"version": 1})", assignments);
    wrong += static_cast<int>(IssuesOf(request).size());
    fixed += ExpectFixesFix(request, name);
  };
  const auto is = [](const char* member, int value) { return std::string(member) + "=" + std::to_string(value); };
  for (const char* model : {"model=llama-3.1-70b", "model=mixtral-8x7b", "model=gpt3-175b"}) {
    for (const int tp : {1, 3, 8, 48, 1024}) {
      for (const int pp : {1, 3, 5, 16, 200}) {
        for (const char* more :
             {"training.mapping.cp=3", "training.mapping.ep=3", "training.mapping.schedule=zb-v",
              "training.mapping.schedule=dualpipe", "training.mapping.cp_kind=ulysses", "training.mapping.dp=3",
              "training.devices=100", "training.global_batch=77", "training.mapping.virtual_stages=9",
              "training.mapping.shard_within=5", "training.batch_ramp.start=900"}) {
          expect({model, is("training.mapping.tp", tp), is("training.mapping.pp", pp), more});
        }
        for (const char* more : {"serving.mapping.ep=3", "serving.mapping.attention_dp=3", "serving.mapping.replicas=3",
                                 "serving.devices=100", "serving.redundant_experts=3", "serving.mapping.cp=3",
                                 "serving.engine=llamacpp", "serving.engine=fastertransformer",
                                 "serving.disaggregated.prefill_devices=5", "serving.disaggregated.decode_devices=7",
                                 "serving.disaggregated.prefill_mapping.tp=6", "serving.output=100000"}) {
          expect({model, is("serving.mapping.tp", tp), is("serving.mapping.pp", pp), more});
        }
      }
    }
  }
  EXPECT_GT(wrong, 1000);
  EXPECT_EQ(fixed, wrong) << "every contradiction of degrees has a way out";
}

TEST(Fixes, CrossTheBoundaryWithLabels) {
  const Json answer =
      *ParseJson(EvaluateAnswer(R"({"version": 1})", {"training.mapping.tp=7", "training.mapping.pp=4"}).text);
  const Json& issue = answer["issues"][0];
  EXPECT_EQ(issue["path"], "training.mapping");
  EXPECT_EQ(issue["fixes"][0], (Json{{"path", "training.mapping.tp"}, {"value", 4}, {"label", "tp 4"}}));
  const Json unknown = *ParseJson(EvaluateAnswer(R"({"version": 1})", {"serving.batc=4"}).text);
  EXPECT_EQ(unknown["issues"][0]["fixes"],
            (Json::array({Json{{"path", "serving.batch"},
                               {"value", 4},
                               {"label", "batch 4"},
                               {"also", Json::array({Json{{"path", "serving.batc"}}})}},
                          Json{{"path", "serving.batc"}, {"label", "leave out batc"}}})));
  const Json kernel = *ParseJson(KernelAnswer(R"({"cluster": {"preset": "dgx-h100"}, "collective":
      {"kind": "all_reduce", "bytes": 1e6, "ranks": 8, "algorithm": "rign"}})")
                                     .text);
  EXPECT_EQ(kernel["issues"][0]["fixes"][0]["value"], "ring") << JsonText(kernel);
}

}  // namespace
}  // namespace slipstick
