// Types of a collective: the call and its result.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/hardware/collective_choice.h"
#include "core/hardware/device.h"

namespace slipstick {

enum class CollectiveType { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kBroadcast, kSendReceive };
ENUM_NAMES(CollectiveType, {kAllReduce, "all_reduce"}, {kAllGather, "all_gather"}, {kReduceScatter, "reduce_scatter"},
           {kAllToAll, "all_to_all"}, {kBroadcast, "broadcast"}, {kSendReceive, "send_recv"});

using SecondsPerByte = Quantity<-1, 0, 0, 1, 0, 0, 0, 0>;

// Used only by CollectiveLibrary::kAnalytic.
struct AlphaBetaOptions {
  SecondsPerByte reduction{};  // compute time per incoming byte
  double hops = 1;             // links on the route of a send
  Count chunks = 0;            // of a pipelined algorithm; 0: the optimum
  bool overlaps = false;  // a latency overlaps with later messages (LogGP); false: it delays the next message (Hockney)
};

// All-reduce kernel of a serving engine, which replaces a library's: every rank reads its peers' memory.
struct CustomAllReduce {
  Seconds start, peer;        // base latency; latency of the barrier per peer
  Ratio link_efficiency = 1;  // fraction of the link bandwidth
  Seconds second_pass;        // added latency of two-shot over one-shot
};
struct PeerReduceTable;  // operators/kernel_family.h
// Constants from the table of a device family; `second_pass` is the engine's.
CustomAllReduce CustomAllReduceOf(const PeerReduceTable& table, Seconds second_pass);

struct CollectiveCall {
  CollectiveType type = CollectiveType::kAllReduce;
  // Counted as in nccl-tests. all_reduce, broadcast: the buffer; all_gather, reduce_scatter: the full buffer;
  // all_to_all: the send buffer of a rank, including its own block; send_recv: the message.
  Bytes bytes{};
  bool routed = false;  // all_to_all of tokens to their experts, whose messages differ in size
  // Absent: the cluster's choice. The library, and "auto" or the name of a row of the table (algorithm.h).
  std::optional<CollectiveLibrary> library = std::nullopt;
  std::string_view algorithm = "";
  std::optional<CustomAllReduce> custom = std::nullopt;  // the engine's all-reduce kernel, if any
  AlphaBetaOptions alpha_beta{};
  // Bandwidth efficiency of a NIC; absent: the collective's efficiency when it runs alone.
  std::optional<Ratio> nic_efficiency = std::nullopt;
  Seconds launch{};  // host launch of the library's kernel, unless a graph hides it; not added to the engine's kernels
};

struct CollectiveTime {
  Seconds time;
  Seconds latency;             // part of `time` that does not depend on the bytes
  std::string_view algorithm;  // the chosen one; "" for a group of one
  Bytes bytes;                 // sent per rank over its links
  bool applies = true;         // false: the requested algorithm does not apply here; other members are empty
};

}  // namespace slipstick
