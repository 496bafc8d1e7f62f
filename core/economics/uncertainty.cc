#include "core/economics/uncertainty.h"

#include <algorithm>
#include <cmath>

#include "core/base/random_bits.h"

namespace slipstick {
namespace {

// Calls visit(path, band, set) for every uncertain input; set(factor) multiplies the input. Paths are created only on
// request.
template <class Inputs, class Visit>
void ForGuesses(Inputs& inputs, Visit visit) {
  const auto scale = [](auto& value) { return [&value](double factor) { value = value * factor; }; };
  const auto open = [](const Band& band) { return band.low < 1 || band.high > 1; };
  const auto offer = [&](const auto& path, const Band& band, auto set) {
    if (open(band)) visit(path, band, set);
  };
  auto& device = inputs.device;
  for (std::size_t i = 0; i < device.dies.size(); ++i) {
    auto& node = device.dies[i].node;
    const auto at = [i](const char* member) {
      return [i, member] { return "cost.device.dies." + std::to_string(i) + ".node." + member; };
    };
    offer(at("wafer_price"), node.wafer_price_band, scale(node.wafer_price));
    offer(at("defect_density"), node.defect_density_band, scale(node.defect_density));
    offer(at("clustering"), node.clustering_band, scale(node.clustering));
  }
  const auto fixed = [](const char* path) { return [path] { return std::string(path); }; };
  offer(fixed("cost.device.memory.price"), device.memory.price_band, scale(device.memory.price));
  auto& package = device.package;
  if (package.price) {
    offer(fixed("cost.device.package.price"), package.price_band, scale(*package.price));
  } else if (package.carrier) {
    offer(fixed("cost.device.package.carrier.wafer_price"), package.carrier->wafer_price_band,
          scale(package.carrier->wafer_price));
  }
  for (std::size_t i = 0; i < package.steps.size(); ++i) {
    auto& step = package.steps[i];
    offer([i] { return "cost.device.package.steps." + std::to_string(i) + ".yield_each"; }, step.loss_band,
          [&step](double factor) { step.yield_each = 1 - min((1 - step.yield_each) * factor, 0.99); });
  }
  if (device.price) offer(fixed("cost.device.price"), device.price_band, scale(*device.price));
  offer(fixed("cost.electricity"), inputs.electricity_band, scale(inputs.electricity));
  offer(fixed("cost.lifetime"), inputs.lifetime_band, scale(inputs.lifetime));
  auto& system = inputs.system;
  offer(fixed("cost.system.pue"), system.pue_band,
        [&system](double factor) { system.pue = max(1, system.pue * factor); });
  offer(fixed("cost.system.utilisation"), system.utilisation_band,
        [&system](double factor) { system.utilisation = min(1, system.utilisation * factor); });
}

std::uint64_t Mixed(std::uint64_t state) { return MixedBits(state + kGoldenStep); }

DrawnCost Price(const Cluster& cluster, const CostInputs& inputs, const DeviceGeometry& geometry) {
  const DeviceCost device = PriceDevice(inputs.device, geometry);
  const SystemCost system = PriceUse(cluster, inputs, device.price);
  return {device.total, system.device_second};
}

}  // namespace

std::vector<Guess> Guesses(const CostInputs& inputs) {
  std::vector<Guess> guesses;
  CostInputs copy = inputs;
  ForGuesses(copy, [&guesses](const auto& path, const Band& band, const auto&) { guesses.push_back({path(), band}); });
  return guesses;
}

void Turn(CostInputs& inputs, std::size_t guess, double factor) {
  std::size_t next = 0;
  ForGuesses(inputs, [&](const auto&, const Band&, const auto& set) {
    if (next++ == guess) set(factor);
  });
}

double TriangularAt(const Band& band, double share) {
  const double width = band.high - band.low;
  if (!(width > 0)) return 1;
  const double peak = (1 - band.low) / width;
  return share < peak ? band.low + std::sqrt(share * width * (1 - band.low))
                      : band.high - std::sqrt((1 - share) * width * (band.high - 1));
}

std::vector<DrawnCost> DrawOutcomes(const Cluster& cluster, const CostInputs& inputs, std::uint64_t seed, Count first,
                                    Count last) {
  const DeviceGeometry geometry = ComputeGeometry(inputs.device);
  std::vector<DrawnCost> outcomes;
  outcomes.reserve(static_cast<std::size_t>(std::max<Count>(last - first, 0)));
  CostInputs drawn;
  for (Count i = first; i < last; ++i) {
    drawn = inputs;
    std::uint64_t state = Mixed(seed ^ Mixed(static_cast<std::uint64_t>(i)));
    ForGuesses(drawn, [&state](const auto&, const Band& band, const auto& set) {
      state = Mixed(state);
      set(TriangularAt(band, UniformOf(state)));
    });
    outcomes.push_back(Price(cluster, drawn, geometry));
  }
  return outcomes;
}

std::vector<Swing> Tornado(const Cluster& cluster, const CostInputs& inputs) {
  const DeviceGeometry geometry = ComputeGeometry(inputs.device);
  std::vector<Swing> swings;
  const std::vector<Guess> guesses = Guesses(inputs);
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    CostInputs low = inputs, high = inputs;
    Turn(low, i, guesses[i].band.low);
    Turn(high, i, guesses[i].band.high);
    swings.push_back({guesses[i], Price(cluster, low, geometry), Price(cluster, high, geometry)});
  }
  const auto width = [](const Swing& swing) {
    return std::abs((swing.high.device_second - swing.low.device_second).base());
  };
  std::stable_sort(swings.begin(), swings.end(),
                   [&width](const Swing& a, const Swing& b) { return width(a) > width(b); });
  return swings;
}

}  // namespace slipstick
