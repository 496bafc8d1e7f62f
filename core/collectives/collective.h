// Time of a collective over a group of ranks that spans some levels of the cluster's network.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/trace.h"
#include "core/hardware/cluster.h"
#include "core/mapping/placement.h"
#include "core/software/custom_all_reduce.h"

namespace slipstick {

enum class Pattern { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kBroadcast, kSendReceive };
template <>
struct EnumNames<Pattern> {
  static constexpr std::array<std::pair<Pattern, std::string_view>, 6> names{{{Pattern::kAllReduce, "all_reduce"},
                                                                              {Pattern::kAllGather, "all_gather"},
                                                                              {Pattern::kReduceScatter, "reduce_scatter"},
                                                                              {Pattern::kAllToAll, "all_to_all"},
                                                                              {Pattern::kBroadcast, "broadcast"},
                                                                              {Pattern::kSendReceive, "send_recv"}}};
};

// What carries the messages: `library` measured protocols (NCCL and its kin), `ideal` the algorithms on the stated latency
// and bandwidth alone.
enum class Transport { kLibrary, kIdeal };

using SecondsPerByte = Quantity<-1, 0, 0, 1, 0, 0, 0, 0>;

// Of ideal transport only.
struct IdealMessages {
  SecondsPerByte reduction{};  // to add an incoming byte
  double hops = 1;             // links that a send crosses
  Count chunks = 0;            // of a pipelined algorithm; 0: as many as are best
  bool overlaps = false;       // latencies overlap with later messages (LogGP); false: each delays the next message (Hockney)
};

struct CollectiveCall {
  Pattern pattern = Pattern::kAllReduce;
  Bytes bytes{};                        // all_reduce, broadcast: the buffer; all_gather, reduce_scatter: the full buffer; all_to_all:
                                        // what a rank sends, its own share included; send_recv: the message
  std::string_view algorithm = "auto";  // or the name of a row of the table (algorithm.h)
  Transport transport = Transport::kLibrary;
  const CustomAllReduce* custom = nullptr;  // the engine's own all-reduce kernels, where it has them; outlives the call
  IdealMessages messages{};
  // Share of a NIC's bandwidth that is reached between nodes; absent: what the collective reaches when it runs alone.
  std::optional<double> outer_fraction = std::nullopt;
  Seconds launch{};  // of the library's kernel by the host, where no graph hides it; the engine's own kernels do not pay it
};

struct CollectiveTime {
  Seconds time;
  Seconds latency;             // of it, what does not depend on the size
  std::string_view algorithm;  // the one chosen; "" for a group of one
  Bytes bytes;                 // that a rank sends over its links
  bool applies = true;         // false: the algorithm asked for does not apply here, and the other members are empty
};
// The fastest algorithm that applies, or the one asked for. 0 for a group of one. Never below bytes over bandwidth.
CollectiveTime TimeOf(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster, Trace& trace);

// Names of the algorithms that apply, in the order of the table.
std::vector<std::string_view> AlgorithmsFor(const CollectiveCall& call, const GroupPlacement& group, const Cluster& cluster);

}  // namespace slipstick
