// The technology part of a report: the memory that a chip design's budgets allow.
#include "core/base/output.h"
#include "core/evaluation/report.h"
#include "core/technology/chip.h"

namespace slipstick {

template <>
struct Outputs<DramBudget> {
  using M = DramBudget;
  static constexpr auto rows = std::tuple{
      Output("stacks", &M::stacks, "Memory stacks or chips in use").In("count"),
      Output("wanted", &M::wanted, "Memory stacks or chips wanted").In("count"),
      Output("sites", &M::sites, "Memory sites on the die").In("count"),
      Output("sites_bound", &M::sites_bound, "Budget that limits the memory sites"),
      Output("sites_by_shoreline", &M::by_shoreline, "Memory sites that the shoreline allows").In("count"),
      Output("sites_by_package", &M::by_package, "Memory sites that the package, or off it the widest bus, allows")
          .In("count"),
      Output("sites_by_area", &M::by_area, "Memory sites that the die area allows").In("count"),
      Output("bandwidth", &M::reached, "Memory bandwidth reached").LargerIsBetter(),
      Output("bandwidth_of_stacks", &M::of_stacks, "Memory bandwidth of the stacks"),
      Output("bandwidth_of_power", &M::of_power, "Memory bandwidth that the memory power allows"),
      Output("bandwidth_of_links", &M::of_links, "Memory bandwidth that the die-to-die links allow"),
      Output("bound", &M::bound, "What limits the memory bandwidth"),
      Output("cut", &M::Cut, "Share of the stacks' bandwidth that is not reached").In("%"),
  };
};

template <>
struct Outputs<DerivedChip> {
  using C = DerivedChip;
  static constexpr auto rows = std::tuple{
      Output("memory", &C::memory, "Memory of the design"),
      Output("links", &C::links, "Network links").In("count"),
      Output("network_bandwidth", &C::network, "Network bandwidth, one direction").LargerIsBetter(),
      Output("area_used_mm2", &C::area_used, "Die area used"),
      Output("power_used_w", &C::power_used, "Power used"),
  };
};

Json WriteTechnology(const DerivedChip& chip) { return WriteOutputs(chip); }
void DescribeTechnology(Json& out) { DescribeOutputs<DerivedChip>("technology", out); }

namespace {

std::string Shown(BytesPerSecond rate) { return NumberText(std::round(100 * In(rate, kTBps)) / 100) + " TB/s"; }

}  // namespace

std::vector<std::string> DesignWarnings(const DerivedChip& chip) {
  const DramBudget& memory = chip.memory;
  const std::string& name = chip.device.memory.technology;
  std::vector<std::string> warnings;
  if (memory.wanted && memory.stacks < *memory.wanted) {
    warnings.push_back(std::to_string(*memory.wanted) + " × " + name + " wanted, " + std::to_string(memory.stacks) +
                       " in use: the " + memory.sites_bound + " allows " + std::to_string(memory.sites) +
                       " sites, of which some are spares");
  }
  if (memory.bound != "stacks" && Shown(memory.reached) != Shown(memory.of_stacks)) {
    warnings.push_back(std::to_string(memory.stacks) + " × " + name + " would give " + Shown(memory.of_stacks) +
                       "; the " +
                       (memory.bound == "power" ? "memory's power budget allows " : "die-to-die links allow ") +
                       Shown(memory.reached));
  }
  const double unused = std::round(chip.core_unused.base());
  if (unused >= 1) {
    warnings.push_back("The core runs at its highest voltage and cannot use " + GroupedText(unused) +
                       " of the chip's " + GroupedText(chip.device.tdp.base()) + " W: energy and cost count them all");
  }
  return warnings;
}

}  // namespace slipstick
