// The diffusion part of a report.
#include "core/base/output.h"
#include "core/evaluation/report.h"
#include "core/evaluation/shared_outputs.h"

namespace slipstick {

template <>
struct Outputs<DiffusionTime> {
  using T = DiffusionTime;
  static constexpr auto rows = std::tuple{
      Output("text_encoder", &T::text_encoder, "Text encoder"),
      Output("products", &T::products, "Matrix products"),
      Output("attention", &T::attention, "Attention"),
      Output("row_kernels", &T::row_kernels, "Norms, modulation and activations").Short("Row kernels"),
      Output("communication", &T::communication, "Communication"),
      Output("launches", &T::launches, "Waiting for the host's launches"),
      Output("decoder", &T::decoder, "Decoder (VAE)"),
      Output("copies", &T::copies, "Copies from the host"),
  };
};

template <>
struct Outputs<DiffusionMemory> {
  using M = DiffusionMemory;
  static constexpr auto rows = std::tuple{
      Output("weights", &M::weights, "Weights"),
      Output("activations", &M::activations, "Activations"),
      Output("total", &M::Total, "Peak memory per GPU, diffusion").Short("Memory").SmallerIsBetter(),
      Output("capacity", &M::capacity, "Capacity"),
  };
};

template <>
struct Outputs<DiffusionPart> {
  using P = DiffusionPart;
  using C = DiffusionCostEfficiency;
  using I = DiffusionIntervals;
  using E = EnergyParts<Joules>;
  static constexpr auto rows = std::tuple{
      Output("feasible", &P::infeasible, IsFeasible, "Feasible"),
      Output("infeasible", &P::infeasible, "Reasons for infeasibility"),
      Output("assumed", &P::assumed, "Assumed inputs (not measured)"),
      Output("latency_interval", &P::intervals, &I::latency, "Time to an image or clip, 90 % interval"),
      Output("items_per_hour_interval", &P::intervals, &I::items_per_hour, "Images or clips per hour, 90 % interval"),
      Output("cost_interval", &P::intervals, &I::cost, "Cost of an image or clip, 90 % interval"),
      Output("latency_s", &P::latency, "Time to an image or clip").Short("Image or clip").SmallerIsBetter(),
      Output("step_s", &P::step, "Denoising step").SmallerIsBetter(),
      Output("time_s", &P::time, "Time to an image or clip by part"),
      Output("items_per_hour", &P::items_per_hour, "Images or clips per hour").LargerIsBetter(),
      Output("video_s_per_hour", &P::video_per_hour, "Seconds of video per hour").LargerIsBetter(),
      Output("tokens", &P::tokens, "Latent tokens").In("count"),
      Output("flops", &P::flops, "FLOPs of an image or clip"),
      Output("parameters", &P::parameters, "Parameters of the transformers").In("count"),
      Output("devices", &P::devices, "Devices").In("count"),
      Output("devices_per_replica", &P::devices_per_replica, "Devices of an image or clip").In("count"),
      Output("memory_bytes", &P::memory, "Memory of a GPU, diffusion"),
      Output("memory_headroom_bytes", &P::memory, &DiffusionMemory::Free, "Free memory per GPU, diffusion")
          .LargerIsBetter(),
      Output("cost_usd", &P::cost_efficiency, &C::price, "Cost of an image or clip").SmallerIsBetter(),
      Output("energy_j", &P::cost_efficiency, &C::energy, &E::total, "Energy of an image or clip").SmallerIsBetter(),
      Output("device_energy_j", &P::cost_efficiency, &C::energy, &E::devices, "Energy of an image or clip, devices")
          .SmallerIsBetter(),
      Output("server_energy_j", &P::cost_efficiency, &C::energy, &E::servers,
             "Energy of an image or clip, rest of the servers")
          .SmallerIsBetter(),
      Output("network_energy_j", &P::cost_efficiency, &C::energy, &E::network,
             "Energy of an image or clip, network outside the servers")
          .SmallerIsBetter(),
      Output("building_energy_j", &P::cost_efficiency, &C::energy, &E::building,
             "Energy of an image or clip, cooling and power conversion (PUE)")
          .SmallerIsBetter(),
      Output("carbon_g", &P::cost_efficiency, &C::emitted, "Operational carbon of an image or clip").SmallerIsBetter(),
      Output("embodied_g", &P::cost_efficiency, &C::embodied,
             "Embodied carbon of an image or clip, with servers and network")
          .SmallerIsBetter(),
  };
};

Json WriteDiffusion(const DiffusionPart& part) { return WriteOutputs(part); }
void AddShown(const DiffusionPart& part, std::vector<ShownNumber>& shown) { AddShown(part, "diffusion", shown); }
void DescribeDiffusion(Json& out) { DescribeOutputs<DiffusionPart>("diffusion", out); }

}  // namespace slipstick
