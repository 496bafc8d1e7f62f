// Dispatch or combine of an expert-parallel group, by an engine's own kernels, timed alone.
#include <optional>

#include "core/base/field_table.h"
#include "core/base/fix.h"
#include "core/base/schema.h"
#include "core/catalogue/presets.h"
#include "core/collectives/group_view.h"
#include "core/collectives/moe_exchange.h"
#include "core/evaluation/kernel.h"
#include "core/mapping/placement.h"
#include "core/operators/kernel.h"
#include "core/workload/exchanges.h"

namespace slipstick {

enum class ExchangeDirection { kDispatch, kCombine };
ENUM_NAMES(ExchangeDirection, {kDispatch, "dispatch"}, {kCombine, "combine"});

namespace {

struct ExchangeRequest {
  ExchangeDirection kind{};
  ExchangeKernel kernel = ExchangeKernel::kLowLatency;
  Count tokens = 1, ranks = 8, experts = 256, top_k = 8, hidden = 7168;
  Precision precision = Precision::kFp8;
  std::optional<Count> node_limit;
  Count units = 24;
};

}  // namespace

template <>
struct Schema<ExchangeRequest> {
  static constexpr Count kMaxCount = Count{1} << 40;
  static constexpr FieldRow kRows[] = {
      Of<&ExchangeRequest::kind>("kind", "dispatch: tokens to their experts; combine: results back").Required(),
      Of<&ExchangeRequest::kernel>("kernel",
                                   "low_latency and normal (DeepEP), or domain (all ranks in one scale-up domain)"),
      Of<&ExchangeRequest::tokens>("tokens", "Tokens per rank").Between(1, kMaxCount).Required(),
      Of<&ExchangeRequest::ranks>("ranks", "Expert-parallel ranks").Between(1, 1 << 24).Required(),
      Of<&ExchangeRequest::experts>("experts", "Experts per layer").Between(1, 65536),
      Of<&ExchangeRequest::top_k>("top_k", "Experts per token (top-k)").Between(1, 65536),
      Of<&ExchangeRequest::hidden>("hidden", "Hidden size").Between(1, kMaxCount),
      Of<&ExchangeRequest::precision>("precision", "Precision of dispatched tokens; results return in 16 bit"),
      Of<&ExchangeRequest::node_limit>("node_limit", "Nodes that the experts of a token may lie on; default: all")
          .Between(1, 65536),
      Of<&ExchangeRequest::units>("units", "SMs that a normal kernel occupies").Between(1, 1024)};
  static constexpr Fields fields{kRows};
};

Result<Json> EvaluateExchange(const Json& request) {
  Issues issues;
  ExchangeRequest line;
  Read(request["exchange"], "exchange", issues, line);
  const Cluster cluster = ReadCluster(request, issues);
  if (issues.empty() && cluster.networks.empty()) {
    issues.push_back({"cluster.networks", "Add a network level: ranks exchange their tokens over it"});
  }
  if (!issues.empty()) return issues;

  const auto ranks = static_cast<double>(line.ranks);
  const GroupPlacement group = PlaceFirst(cluster, ranks);
  ExpertExchange exchange;
  exchange.kernel = line.kernel;
  exchange.is_combine = line.kind == ExchangeDirection::kCombine;
  exchange.tokens = static_cast<double>(line.tokens);
  exchange.top_k = static_cast<double>(line.top_k);
  exchange.experts = static_cast<double>(line.experts);
  exchange.hidden = static_cast<double>(line.hidden);
  exchange.element_bytes = exchange.is_combine ? BytesPerElement(Precision::kBf16) : DispatchedElement(line.precision);
  SetWires(ViewOf(group, cluster), cluster, exchange);
  exchange.kernel_units = static_cast<double>(line.units);
  exchange.max_nodes_per_token = line.node_limit ? Ratio(*line.node_limit) : exchange.nodes;
  exchange.architecture = cluster.device.architecture;
  const ExpertExchangeTime answer = TimeOf(exchange);
  return Json{{"time_s", answer.time.base()},
              {"bound", NameOf(Bound::kNetwork)},
              {"flops", 0},
              {"bytes", answer.bytes.base()},
              {"algorithm", NameOf(line.kernel)}};
}

}  // namespace slipstick
