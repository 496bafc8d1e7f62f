// Lists as one text, and back.
#include "core/base/listed.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace slipstick {
namespace {

using Texts = std::vector<std::string>;

TEST(Listed, JoinsTextsByCommas) {
  EXPECT_EQ(Listed(Texts{}), "");
  EXPECT_EQ(Listed(Texts{"a"}), "a");
  EXPECT_EQ(Listed(Texts{"a", "b", "c"}), "a, b, c");
  const std::vector<std::pair<int, std::string>> pairs{{1, "one"}, {2, "two"}};
  EXPECT_EQ(Listed(pairs, &std::pair<int, std::string>::second), "one, two");
}

TEST(Listed, OnlyAnEmptyLastPartIsDropped) {
  EXPECT_EQ(SplitAt("", ','), Texts{""});
  EXPECT_EQ(SplitAt("a,,b,", ','), (Texts{"a", "", "b", ""}));
  EXPECT_EQ(ListedIn(""), Texts{});
  EXPECT_EQ(ListedIn("a,,b,"), (Texts{"a", "", "b"}));
  EXPECT_EQ(ListedIn("a b", ' '), (Texts{"a", "b"}));
}

}  // namespace
}  // namespace slipstick
