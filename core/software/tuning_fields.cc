#include "core/base/field_table.h"
#include "core/software/tuning.h"

namespace slipstick {

constexpr FieldRow kLogSpreadFields[] = {Of<&LogSpread::below>("below", "Towards less, as a logarithm").Between(0, 10),
                                         Of<&LogSpread::above>("above", "Towards more, as a logarithm").Between(0, 10)};
constinit const Fields Schema<LogSpread>::fields(kLogSpreadFields);

constexpr double kLeast = 0.01;  // least factor

constexpr FieldRow kTuningOnFields[] = {
    Of<&TuningOn::architecture>("architecture", "Device architecture"),
    Of<&TuningOn::experts>("experts", "Decode step over a tuned one, mixture of experts")
        .Between(kLeast, 1 / kLeast)
        .Label("Decode step over a tuned run's, experts"),
    Of<&TuningOn::dense>("dense", "Decode step over a tuned one, dense model")
        .Between(kLeast, 1 / kLeast)
        .Label("Decode step over a tuned run's, dense")};
constinit const Fields Schema<TuningOn>::fields(kTuningOnFields);

constexpr auto kTuningFields = Advanced(
    {Of<&Tuning::preset>("preset", "Preset; fields below override it").Basic(),
     Of<&Tuning::name>("name", "Name").Basic(),
     Of<&Tuning::dense>("dense",
                        "Decode step over a tuned one, dense model or experts that need no table of tiles "
                        "(serving.engine.chooses_expert_tiles)")
         .Label("Decode step over a tuned run's, dense")
         .Between(kLeast, 1 / kLeast),
     Of<&Tuning::experts>("experts", "Decode step over a tuned one, mixture of experts")
         .Label("Decode step over a tuned run's, experts")
         .Between(kLeast, 1 / kLeast),
     Of<&Tuning::experts_fp8>("experts_fp8", "Decode step over a tuned one, experts with fp8 weights")
         .Label("Decode step over a tuned run's, fp8 experts")
         .Between(kLeast, 1 / kLeast),
     Of<&Tuning::on>("on", "Exceptions per device architecture").Label("Exception"),
     Of<&Tuning::sequence>("sequence", "Time added per sequence to a tuned run's decode step, dense model")
         .Label("Longer per sequence than a tuned run, dense")
         .In(kUs)
         .Between(0, 1'000'000),
     Of<&Tuning::host>(
         "host", "Host time per request and for its prefill launches, relative to a tuned run, which collects requests")
         .Label("Host time over a tuned run's")
         .Between(0, 100),
     Of<&Tuning::collects>("collects",
                           "Prompts wait until a prefill-only pass is full; off: it takes the prompts that have "
                           "arrived, and decoding waits while the host launches it")
         .Label("Prompts wait for full passes"),
     Of<&Tuning::raises_limits>("raises_limits",
                                "As many requests run at once as fit in memory; off: at most the engine's default for "
                                "the device, unless serving.max_requests is set")
         .Label("Runs more requests than the engine's default"),
     Of<&Tuning::token>("token", "Spread of the time per token in the interval"),
     Of<&Tuning::first_token>("first_token", "Spread of the first token in the interval")});
constinit const Fields Schema<Tuning>::fields(kTuningFields);

}  // namespace slipstick
