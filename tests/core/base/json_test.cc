// Reading, refusing and writing JSON. Expected texts and values follow RFC 8259 and IEEE 754.
#include "core/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "core/base/units.h"

namespace slipstick {
namespace {

std::string FaultOf(const std::string& text) {
  const Result<Json> json = ParseJson(text);
  return json ? "none" : json.issues.at(0).path + ": " + json.issues.at(0).message;
}

TEST(Json, FaultsHaveTheCurrentPath) {
  EXPECT_EQ(FaultOf(R"({"a": {"b": [1, 2, tru]}})"), "a.b.2: Not valid JSON in line 1, column 23");
  EXPECT_EQ(FaultOf(R"({"a": 1, "b": {"c": 1, "c": 2}})"), "b.c: Given twice");
  EXPECT_EQ(FaultOf(R"({"a": [0, 1e999]})"), "a.1: Number out of range in line 1, column 15");
  EXPECT_EQ(FaultOf("{\"a\": \"\xff\"}"), "a: Not valid JSON in line 1, column 8");
  EXPECT_EQ(FaultOf(" \n"), ": Enter JSON: the text is empty");
  EXPECT_EQ(FaultOf("{\n  \"a\": 1,\n  \"b\": tru\n}"), "b: Not valid JSON in line 3, column 11");
}

std::string Members(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  return text + "}";
}

TEST(Json, LimitsSize) {
  EXPECT_EQ(FaultOf(std::string(64, '[') + std::string(64, ']')), "none");
  EXPECT_NE(FaultOf(std::string(65, '[') + std::string(65, ']')).find("Nested too deep: at most 64 levels"),
            std::string::npos);
  EXPECT_EQ(FaultOf(Members(4096)), "none");
  EXPECT_EQ(FaultOf("{\"many\": " + Members(4097) + "}"), "many: Too many members: at most 4096");
  EXPECT_EQ(FaultOf("\"" + std::string(3'999'998, 'a') + "\""), "none");
  EXPECT_EQ(FaultOf("\"" + std::string(3'999'999, 'a') + "\""), ": Too long: at most 4 MB");
}

TEST(Json, KeepsTheOrderOfMembers) {
  EXPECT_EQ(JsonText(*ParseJson(R"({"z": 1, "a": 2, "m": 3})")), R"({"z":1,"a":2,"m":3})");
}

TEST(Json, MembersMoveWhereAnObjectGrowsOrLosesOne) {
  Json object = *ParseJson(R"({"first": 0, "kept": [1], "last": 2})");
  const Json* element = &object["kept"][0];
  for (int i = 0; i < 100; ++i) object[std::to_string(i)] = i;
  EXPECT_EQ(object.erase("first"), 1u);
  EXPECT_EQ(object.erase("first"), 0u);
  EXPECT_EQ(&object["kept"][0], element) << "a copy";
  EXPECT_TRUE(JsonText(object).starts_with(R"({"kept":[1],"last":2,"0":0,"1":1,)")) << JsonText(object);
}

TEST(Json, ReplacesInvalidUtf8) {
  const std::string broken{'a', static_cast<char>(0xFF), 'b'};
  EXPECT_EQ(JsonText(Json(broken)), "\"a\uFFFDb\"");
}

TEST(Json, NumbersRoundTrip) {
  EXPECT_EQ(JsonText(Json(0.1)), "0.1");
  EXPECT_EQ(JsonText(Json(std::nan(""))), "null");
  EXPECT_EQ(JsonText(Json(std::numeric_limits<double>::infinity())), "null");
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  for (int i = 0; i < 1000; ++i) {
    const double value = std::ldexp(mantissa(random), static_cast<int>(random() % 2000) - 1000);
    EXPECT_EQ(ParseJson(JsonText(Json(value)))->get<double>(), value);
  }
}

TEST(Json, MergesObjectsByMemberAndArraysByIndex) {
  Json under = *ParseJson(R"({"a": {"x": 1, "y": 2}, "list": [{"p": 1}, {"p": 2}]})");
  MergeJson(under, *ParseJson(R"({"a": {"y": 3, "z": 4}, "list": [{}, {"q": 5}, 6]})"));
  EXPECT_EQ(JsonText(under), R"({"a":{"x":1,"y":3,"z":4},"list":[{"p":1},{"p":2,"q":5},6]})");
  // An empty list replaces the list below it: "caches": [] says that a preset's device has no caches.
  MergeJson(under, *ParseJson(R"({"list": []})"));
  EXPECT_EQ(JsonText(under), R"({"a":{"x":1,"y":3,"z":4},"list":[]})");
}

TEST(Json, SetPathCreatesMissingParents) {
  Json json = Json::object();
  SetPath(json, "cluster.networks.1.size", 8);
  EXPECT_EQ(JsonText(json), R"({"cluster":{"networks":[{},{"size":8}]}})");
}

TEST(Json, AbsentMembersAreNull) {
  EXPECT_EQ(FindMember(*ParseJson(R"({"a": 1})"), "b"), nullptr);
  EXPECT_EQ(FindMember(Json("a"), "a"), nullptr);
}

TEST(NumberText, HasSixDigitsAndNoTrailingZeros) {
  EXPECT_EQ(NumberText(1234567), "1.23457e+06");
  EXPECT_EQ(NumberText(80), "80");
  EXPECT_EQ(NumberText(0.25), "0.25");
  EXPECT_EQ(NumberText(1e-5), "1e-05");
}

}  // namespace
}  // namespace slipstick
