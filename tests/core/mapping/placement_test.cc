#include "core/mapping/placement.h"

#include <gtest/gtest.h>

namespace slipstick {
namespace {

Cluster Nodes(Count node, Count nodes) {
  Cluster cluster;
  cluster.networks.resize(2);
  cluster.networks[0].size = node;
  cluster.networks[1].size = nodes;
  return cluster;
}

using Extent = std::vector<Ratio>;

TEST(Placement, InnerDegreesFillNodesFirst) {
  const Cluster cluster = Nodes(8, 1024);
  const std::vector<Degree> order{{"tp", 4}, {"cp", 2}, {"dp", 16}, {"pp", 4}};
  EXPECT_EQ(PlaceGroup(cluster, order, "tp").extent, (Extent{4, 1}));
  EXPECT_EQ(PlaceGroup(cluster, order, "cp").extent, (Extent{2, 1}));   // ranks 0 and 4 of one node
  EXPECT_EQ(PlaceGroup(cluster, order, "dp").extent, (Extent{1, 16}));  // stride 8: one rank per node
  EXPECT_EQ(PlaceGroup(cluster, order, "pp").extent, (Extent{1, 4}));
}

TEST(Placement, AGroupMayFillItsNodesInPart) {
  const Cluster cluster = Nodes(8, 1024);
  EXPECT_EQ(PlaceGroup(cluster, {{"tp", 2}, {"dp", 64}}, "dp").extent, (Extent{4, 16}));
  EXPECT_EQ(PlaceGroup(cluster, {{"tp", 16}, {"dp", 4}}, "tp").extent, (Extent{8, 2}));
  EXPECT_EQ(PlaceGroup(cluster, {{"tp", 3}, {"dp", 8}}, "dp").extent,
            (Extent{2, 4}));  // two groups of three in a node of eight
  EXPECT_EQ(PlaceGroup(cluster, {{"tp", 1}, {"dp", 8}}, "tp").extent, (Extent{1, 1}));
}

TEST(Placement, TheOutermostLevelTakesTheRest) {
  const Cluster cluster = Nodes(8, 4);
  EXPECT_EQ(PlaceGroup(cluster, {{"dp", 64}}, "dp").extent, (Extent{8, 8}));
  EXPECT_EQ(PlaceFirst(cluster, 64).extent, (Extent{8, 8}));
}

TEST(Placement, FirstRanksFillWholeNodesEvenly) {
  const Cluster cluster = Nodes(8, 1024);
  EXPECT_EQ(PlaceFirst(cluster, 1).extent, (Extent{1, 1}));
  EXPECT_EQ(PlaceFirst(cluster, 5).extent, (Extent{5, 1}));
  EXPECT_EQ(PlaceFirst(cluster, 16).extent, (Extent{8, 2}));
  EXPECT_EQ(PlaceFirst(cluster, 12).extent, (Extent{6, 2}));
}

TEST(Placement, TheProductIsTheGroup) {
  for (const double tp : {1., 2., 3., 6., 8., 24.}) {
    for (const double cp : {1., 2., 5.}) {
      for (const double dp : {1., 2., 7., 64.}) {
        const std::vector<Degree> order{{"tp", tp}, {"cp", cp}, {"dp", dp}};
        for (const Degree& degree : order) {
          EXPECT_NEAR(PlaceGroup(Nodes(8, 16), order, degree.name).Ranks(), degree.size, 1e-9 * degree.size)
              << degree.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace slipstick
