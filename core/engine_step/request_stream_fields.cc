#include "core/base/field_table.h"
#include "core/engine_step/request_stream.h"

namespace slipstick {

constexpr FieldRow kArrivalsFields[] = {
    Of<&Arrivals::kind>("kind", "Arrival process: Poisson, or gamma-distributed times between arrivals"),
    Of<&Arrivals::burstiness>(
        "burstiness",
        "Shape of the gamma distribution, as vLLM's benchmark counts: 1 is Poisson, below 1 in bursts, above 1 more "
        "even; 1 / (coefficient of variation)^2")
        .Between(0.001, 1000)};
constinit const Fields Schema<Arrivals>::fields(kArrivalsFields);

constexpr FieldRow kLengthQuantileFields[] = {
    Of<&LengthQuantile::share>("share", "Share of the requests that are at most this long").Required().Between(0, 1),
    Of<&LengthQuantile::tokens>("tokens", "Tokens").Required().Length().Between(1, 1 << 24)};
constinit const Fields Schema<LengthQuantile>::fields(kLengthQuantileFields);

constexpr FieldRow kLengthDistributionFields[] = {
    Of<&LengthDistribution::kind>(
        "kind",
        "Distribution: fixed, uniform and lognormal have the mean of serving.prompt or serving.output, quantiles "
        "their own lengths"),
    Of<&LengthDistribution::variation>("variation",
                                       "Spread of lengths (uniform, lognormal): standard deviation over the mean")
        .Between(0, 16),
    Of<&LengthDistribution::quantiles>("quantiles", "Quantiles, from share 0 to share 1")};
constinit const Fields Schema<LengthDistribution>::fields(kLengthDistributionFields);

constexpr FieldRow kRequestLengthsFields[] = {
    Of<&RequestLengths::preset>("preset", "Preset; fields below override it: lengths of a published trace"),
    Of<&RequestLengths::name>("name", "Name. Informational: no figure uses it"),
    Of<&RequestLengths::prompt>("prompt", "Prompt lengths"),
    Of<&RequestLengths::output>("output", "Output lengths, independent of the prompt's")};
constinit const Fields Schema<RequestLengths>::fields(kRequestLengthsFields);

constexpr FieldRow kRequestClassFields[] = {
    Of<&RequestClass::weight>("weight", "Relative number of requests").Above(0).AtMost(1'000'000'000),
    Of<&RequestClass::prompt_tokens>("prompt_tokens", "Prompt tokens").Required().Length().Between(1, 1 << 28),
    Of<&RequestClass::output_tokens>("output_tokens", "Output tokens").Required().Length().Between(1, 1 << 28)};
constinit const Fields Schema<RequestClass>::fields(kRequestClassFields);

constexpr FieldRow kSimulationRunFields[] = {
    Of<&SimulationRun::requests>("requests", "Simulated requests that count, after those that warm up")
        .Between(10, 100'000),
    Of<&SimulationRun::seed>("seed", "Seed of the random numbers").Between(0, 1 << 30),
    Of<&SimulationRun::router>("router",
                               "How requests are spread over replicas and DP-attention ranks; with "
                               "serving.sessions each session has one of them")};
constinit const Fields Schema<SimulationRun>::fields(kSimulationRunFields);

}  // namespace slipstick
