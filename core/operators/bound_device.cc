#include "core/operators/bound_device.h"

#include <array>

#include "core/base/bind_inputs.h"
#include "core/base/field_table.h"
#include "core/operators/efficiency.h"
#include "core/operators/kernel_family_fields.h"

namespace slipstick {
namespace {

// A family whose constants have nodes; the source says whether the device itself was measured.
struct FamilyWithNodes {
  FamilyWithNodes(const Device& device, Tape& tape) : family(*device.architecture) {
    const auto bind = [&](auto& table, std::string_view name, std::string_view source) {
      BindConstants(table, KernelTable(device, name), SourceOf(device, source), &tape);
    };
    bind(family.traits, "traits", family.gemm.source);
    bind(family.gemm, "gemm", family.gemm.source);
    bind(family.attention.decode, "attention.decode", family.attention.decode_source);
    bind(family.attention.step, "attention.step", family.attention.step.source);
    bind(family.attention, "attention", family.attention.source);
    bind(family.latent.sparse, "latent.sparse", family.latent.sparse.source);
    bind(family.latent, "latent", family.latent.source);
    bind(family.experts, "experts", family.experts.source);
    bind(family.rowwise, "rowwise", family.rowwise.source);
    bind(family.recurrence, "recurrence", family.recurrence.source);
    // Constants of exchanges and sends, which are never filled by rules.
    BindConstants(family.step, KernelTable(device, "step"), family.step.source, &tape);
    BindConstants(family.peer_reduce, KernelTable(device, "peer_reduce"), family.peer_reduce.source, &tape);
    ExpertExchangeTable& exchange = family.expert_exchange;
    const std::string path = KernelTable(device, "expert_exchange");
    BindConstants(exchange.domain, path + ".domain", exchange.domain_source, &tape);
    BindConstants(exchange, path, exchange.source, &tape);
  }
  KernelFamily family;
};

}  // namespace

Device WithNodes(Device device, Tape& tape, const std::string& path) {
  const bool is_measured = SourceOf(device, device.name) == device.name;
  const std::string family = KernelTable(device, is_measured ? "measured" : "assumed");
  device.architecture = Architecture(
      tape.Kept<FamilyWithNodes>(family, [&] { return std::make_shared<FamilyWithNodes>(device, tape); }).family);
  BindInputs(device.peak, path + ".peak", &tape);
  BindInputs(device.units, path + ".units", &tape);
  BindInputs(device.clock, path + ".clock", &tape);
  BindInputs(device.exponentials, path + ".exponentials", &tape);
  BindInputs(device.memory, path + ".memory", &tape);
  BindInputs(device.caches, path + ".caches", &tape);
  BindInputs(device.tdp, path + ".tdp", &tape);
  BindInputs(device.die.link_power, path + ".die.link_power", &tape);
  BindInputs(device.efficiency, path + ".efficiency", &tape);
  BindInputs(device.host, path + ".host", &tape);
  BindInputs(device.idle, path + ".idle", &tape);
  return device;
}

InputRules RulesOf(const Device& device) {
  InputRules rules;
  for (const FilledMember& member : FilledByRules(device)) rules[member.path] = member.rule;
  return rules;
}

TimeByBound SplitByBound(Seconds total, const TimeByBound& operators, const ByBound<Seconds>& beside,
                         std::string_view report, Tape* tape) {
  constexpr std::array<std::string_view, kBoundParts<Seconds>.size()> kNames{"compute", "l1",      "l2",    "memory",
                                                                             "network", "latency", "bubble"};
  ByBound<Ratio> shares = SharesOf(operators);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    Ratio& share = shares.*kBoundParts<Ratio>[i];
    if (share > 0)
      share = ConstantAt(std::string(report) + "." + std::string(kNames[i]) + "_share", share, "Share of the operators",
                         "that it bounds, by their times in the report", tape);
  }
  return SplitByBound(total, shares, beside);
}

}  // namespace slipstick
