// A request with a single member, or a single empty object, is answered with figures or with issues.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

Json Described() { return *ParseJson(DescribeAnswer().text); }

// An object with the value of this input only; a list gets one entry.
Json Alone(std::string_view path, Json value) {
  const std::size_t dot = path.rfind('.');
  const std::string member(path.substr(dot == std::string_view::npos ? 0 : dot + 1));
  Json owner = member == "*" ? Json::array({std::move(value)}) : Json{{member, std::move(value)}};
  return dot == std::string_view::npos ? owner : Alone(path.substr(0, dot), std::move(owner));
}

// By name: each input with its default, and each object on the way to it, empty.
std::map<std::string, Json> PartialRequests() {
  std::map<std::string, Json> requests;
  const Json described = Described();
  for (const Json& input : described["inputs"]) {
    const std::string path(TextOf(input["path"]));
    for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
      const std::string owner = path.substr(0, dot);
      requests[owner + " = {}"] = Alone(owner, Json::object());
    }
    const Json* value = FindMember(input, "default");
    if (value != nullptr && value->is_primitive() && !value->is_null()) requests[path] = Alone(path, *value);
  }
  return requests;
}

TEST(PartialRequests, AreAnsweredOrRefused) {
  const std::map<std::string, Json> requests = PartialRequests();
  EXPECT_GT(requests.size(), 700U);
  for (const auto& [name, written] : requests) {
    Json request = written;
    request["version"] = 1;
    const Json answer = Ask(request);
    if (!answer.contains("issues")) {
      EXPECT_TRUE(answer.contains("scenario")) << name;
      continue;
    }
    EXPECT_FALSE(answer["issues"].empty()) << name;
    for (const Json& issue : answer["issues"]) EXPECT_NE(issue["message"], "") << name;
  }
}

// Eight devices without a network: in version 1 a written cluster is complete as it stands.
TEST(PartialRequests, OfDevicesWithoutANetworkNameIt) {
  for (const char* cluster : {R"({"devices": 8})", R"({"device": {"preset": "h100-sxm5-80gb"}, "devices": 8})",
                              R"({"device": {"preset": "h100-sxm5-80gb"}, "devices": 8, "networks": []})",
                              R"({"device": {"tdp": "700 W"}, "devices": 2})"}) {
    Json request{{"version", 1}, {"cluster", *ParseJson(cluster)}};
    const Json refused = Ask(request);
    ASSERT_TRUE(refused.contains("issues")) << cluster;
    const Json& issue = refused["issues"][0];
    EXPECT_EQ(TextOf(issue["path"]), "cluster.networks") << cluster;
    // An empty list means no networks, under any preset.
    const bool is_emptied = request["cluster"].contains("networks");
    ASSERT_EQ(issue["fixes"].size(), is_emptied ? 1U : 2U) << JsonText(issue);
    EXPECT_EQ(TextOf(issue["fixes"][0]["path"]), "cluster.devices");
    if (!is_emptied) {
      EXPECT_EQ(TextOf(issue["fixes"][1]["path"]), "cluster.preset");
    }
    for (const Json& fix : issue["fixes"]) {
      Json fixed = request;
      SetPath(fixed, TextOf(fix["path"]), fix["value"]);
      const Json answer = Ask(fixed);
      EXPECT_TRUE(!answer.contains("issues") || TextOf(answer["issues"][0]["path"]) != "cluster.networks")
          << cluster << JsonText(fix);
    }
    request["cluster"]["devices"] = 1;
    EXPECT_FALSE(Find(Ask(request), "issues.0.path") != nullptr &&
                 TextOf(*Find(Ask(request), "issues.0.path")) == "cluster.networks");
    // Without training and serving, the devices need no network.
    Json priced = Json{{"version", 1}, {"cluster", *ParseJson(cluster)}, {"training", nullptr}, {"serving", nullptr}};
    EXPECT_TRUE(Ask(priced).contains("cost")) << cluster;
  }
}

}  // namespace
}  // namespace slipstick::testing
