// Hostile requests: each gives issues at the right paths, quickly and without a crash. The table also runs under
// AddressSanitizer and UBSan.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "core/api/api.h"
#include "core/base/json.h"
#include "core/scenario/answer.h"

namespace slipstick {
namespace {

struct Hostile {
  std::string name;
  std::string request;
  std::vector<std::string> paths;  // in the order of the issues
};
void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

std::string Repeat(const std::string& text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::vector<Hostile> HostileRequests() {
  const std::string kilobyte(1000, 'x');
  return {
      // Not JSON.
      {"NotJson", "hello", {""}},
      {"OnlySpace", "   ", {""}},
      {"Unclosed", R"({"model": {"layers": 3)", {"model.layers"}},
      {"TrailingText", R"({"version": 1} extra)", {""}},
      {"TwoValues", "{}{}", {""}},
      {"SingleQuotes", "{'version': 1}", {""}},
      {"Comment", R"({"version": 1 /* one */})", {"version"}},
      {"NanLiteral", R"({"training": {"sequence": NaN}})", {"training.sequence"}},
      {"InfinityLiteral", R"({"training": {"sequence": -Infinity}})", {"training.sequence"}},
      {"HexNumber", R"({"training": {"sequence": 0x10}})", {"training.sequence"}},
      {"LeadingZero", R"({"training": {"sequence": 01}})", {"training.sequence"}},
      {"NulByte", std::string("{\"version\": 1\0}", 15), {"version"}},
      {"NumberPastDouble", R"({"training": {"sequence": 1e999}})", {"training.sequence"}},
      {"NegativePastDouble", R"({"cluster": {"devices": -1e999}})", {"cluster.devices"}},
      {"ThousandDigits", R"({"training": {"sequence": )" + std::string(1000, '9') + "}}", {"training.sequence"}},
      {"MemberTwice", R"({"training": {"sequence": 1, "sequence": 2}})", {"training.sequence"}},
      {"InvalidUtf8", "{\"model\": {\"name\": \"\xff\xfe\"}}", {"model.name"}},
      {"OverlongUtf8", "{\"model\": {\"name\": \"\xc0\xaf\"}}", {"model.name"}},
      {"LoneSurrogate", R"({"model": {"name": "\ud800"}})", {"model.name"}},
      {"ByteOrderMarkOfUtf16", "\xff\xfe{\0}\0", {""}},
      // Size and depth.
      {"TenMegabytesOfBrackets", std::string(10'000'000, '['), {""}},
      {"TenMegabytesOfText", "\"" + std::string(10'000'000, 'a') + "\"", {""}},
      {"DeepArrays", std::string(100'000, '[') + std::string(100'000, ']'), {Repeat("0.", 63) + "0"}},
      {"DeepObjects", Repeat(R"({"a":)", 1000) + "1" + std::string(1000, '}'), {Repeat("a.", 63) + "a"}},
      {"ManyNetworks", R"({"cluster": {"networks": [{})" + Repeat(",{}", 100'000) + "]}}", {"cluster.networks"}},
      {"ManyUnknownMembers", R"({"training": {"a": 1, "b": 2, "c": 3}})", {"training.a", "training.b", "training.c"}},
      {"LongName", R"({"model": {"preset": "llama-3.1-70b", "name": ")" + kilobyte + R"("}})", {"model.name"}},
      {"LongMember", R"({")" + kilobyte + R"(": 1})", {std::string(57, 'x') + "…"}},
      {"LongPreset", R"({"model": {"preset": ")" + kilobyte + R"("}})", {"model.preset"}},
      // Wrong types.
      {"RootNull", "null", {""}},
      {"RootList", "[1, 2]", {""}},
      {"RootNumber", "42", {""}},
      {"RootText", R"("model")", {""}},
      {"ModelNumber", R"({"model": 7})", {"model"}},
      {"ModelNull", R"({"model": null})", {"model"}},
      {"TrainingList", R"({"training": []})", {"training"}},
      {"MappingText", R"({"training": {"mapping": "tp8"}})", {"training.mapping"}},
      {"CountText", R"({"training": {"mapping": {"tp": "eight"}}})", {"training.mapping.tp"}},
      {"CountFraction", R"({"training": {"mapping": {"tp": 2.5}}})", {"training.mapping.tp"}},
      {"CountFlag", R"({"training": {"mapping": {"tp": true}}})", {"training.mapping.tp"}},
      {"CountList", R"({"training": {"mapping": {"tp": [8]}}})", {"training.mapping.tp"}},
      {"CountNull", R"({"training": {"mapping": {"tp": null}}})", {"training.mapping.tp"}},
      {"FlagNumber", R"({"training": {"flash_attention": 1}})", {"training.flash_attention"}},
      {"ChoiceNumber", R"({"training": {"precision": 16}})", {"training.precision"}},
      {"PresetNumber", R"({"cluster": {"preset": 5}})", {"cluster.preset"}},
      {"NetworksObject", R"({"cluster": {"networks": {"0": {}}}})", {"cluster.networks"}},
      {"NetworkNull", R"({"cluster": {"networks": [null]}})", {"cluster.networks.0"}},
      // Unknown names.
      {"UnknownRootMember", R"({"trainning": {}})", {"trainning"}},
      {"UnknownPreset", R"({"model": {"preset": "llama-9"}})", {"model.preset"}},
      {"UnknownDevice", R"({"cluster": {"device": {"preset": "h1000"}}})", {"cluster.device.preset"}},
      {"UnknownChoice", R"({"training": {"recompute": "some"}})", {"training.recompute"}},
      {"PrototypeMember", R"({"__proto__": {"version": 1}})", {"__proto__"}},
      {"EmptyMember", R"({"training": {"": 1}})", {"training."}},
      {"DottedMember", R"({"training.sequence": 8192})", {"training.sequence"}},
      // Values out of range or of another dimension.
      {"ZeroDevices", R"({"cluster": {"devices": 0}})", {"cluster.devices"}},
      {"NegativeLayers", R"({"model": {"preset": "llama-3.1-70b", "layers": -80}})", {"model.layers"}},
      {"HugeCount", R"({"training": {"global_batch": 1e300}})", {"training.global_batch"}},
      {"PastInt64", R"({"training": {"global_batch": 18446744073709551615}})", {"training.global_batch"}},
      {"NegativeBandwidth",
       R"({"cluster": {"device": {"memory": {"bandwidth": "-3 TB/s"}}}})",
       {"cluster.device.memory.bandwidth"}},
      {"WrongDimension",
       R"({"cluster": {"device": {"memory": {"bandwidth": "80 GB"}}}})",
       {"cluster.device.memory.bandwidth"}},
      {"UnknownUnit",
       R"({"cluster": {"device": {"memory": {"capacity": "80 GX"}}}})",
       {"cluster.device.memory.capacity"}},
      {"UnitWithoutNumber",
       R"({"cluster": {"device": {"memory": {"capacity": "GB"}}}})",
       {"cluster.device.memory.capacity"}},
      {"InfiniteText",
       R"({"cluster": {"device": {"memory": {"capacity": "inf GB"}}}})",
       {"cluster.device.memory.capacity"}},
      {"OverflowingText",
       R"({"cluster": {"device": {"memory": {"capacity": "1e308 GB"}}}})",
       {"cluster.device.memory.capacity"}},
      {"FutureVersion", R"({"version": 4})", {"version"}},
      {"ThreeFaults",
       R"({"model": {"preset": "llama-3.1-70b", "layers": 0}, "training": {"precision": "bf17"}, "serving": {"prompt": -1}})",
       {"model.layers", "training.precision", "serving.prompt"}},
  };
}

class HostileRequest : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileRequest, GiveIssuesAtTheirPaths) {
  const Answer answer = EvaluateAnswer(GetParam().request);
  std::vector<std::string> paths;
  for (const Issue& issue : answer.issues) {
    paths.push_back(issue.path);
    EXPECT_FALSE(issue.message.empty());
    EXPECT_LT(issue.message.size(), 1000U) << "a message of that length is not read";
  }
  EXPECT_EQ(paths, GetParam().paths) << answer.text.substr(0, 500);
  const Result<Json> said = ParseJson(answer.text);
  ASSERT_TRUE(said && said->contains("issues"));
  EXPECT_EQ((*said)["issues"].size(), answer.issues.size());
}

INSTANTIATE_TEST_SUITE_P(Evaluate, HostileRequest, ::testing::ValuesIn(HostileRequests()),
                         [](const auto& info) { return info.param.name; });

TEST(HostileTable, AreSixtyOrMore) { EXPECT_GE(HostileRequests().size(), 60U); }

struct HostileAssignment {
  std::string text;
  std::string path;
};

TEST(HostileAssignments, GiveIssuesAtTheirPaths) {
  const std::vector<HostileAssignment> assignments{
      {"model", ""},
      {"=3", ""},
      {"training.mapping.tp=", "training.mapping.tp"},
      {"training.mapping.tp.x=1", "training.mapping.tp"},
      {"cluster.networks.99999999999999999999.bandwidth=1", "cluster.networks"},
      {"cluster.networks.63.topology=web", "cluster.networks.63.topology"},
      {"training.mapping.tp=[[[[", "training.mapping.tp"},
      {"training..sequence=1", "training."},
      {"model=no-such-model", "model.preset"}};
  for (const HostileAssignment& assignment : assignments) {
    const Answer answer = EvaluateAnswer(R"({"version": 1})", {assignment.text});
    EXPECT_TRUE(std::any_of(answer.issues.begin(), answer.issues.end(),
                            [&](const Issue& issue) { return issue.path == assignment.path; }))
        << assignment.text << " -> " << answer.text.substr(0, 300);
  }
}

}  // namespace
}  // namespace slipstick
