#include "core/base/field_table.h"
#include "core/post_training/post_training.h"

namespace slipstick {

constexpr FieldRow kPostTrainingFields[] = {
    Of<&PostTraining::algorithm>("algorithm",
                                 "Algorithm: grpo; ppo adds a critic, a model of the same size that is trained too"),
    Of<&PostTraining::prompts>("prompts", "Prompts per step").Between(1, 1 << 20),
    Of<&PostTraining::responses_per_prompt>("responses_per_prompt", "Responses per prompt (group size)")
        .Between(1, 1 << 12),
    Of<&PostTraining::epochs>("epochs", "Epochs: times that training passes over the samples of a step")
        .Between(1, 64)
        .Advanced(),
    Of<&PostTraining::max_response>("max_response", "Longest response in tokens, where generation stops; off: no limit")
        .Label("Max. response tokens")
        .Length()
        .Between(1, 1 << 28),
    Of<&PostTraining::length_variation>(
        "length_variation",
        "Spread of the response lengths (lognormal around serving.output): standard deviation over the mean, "
        "before the longest are cut; unused where serving.lengths states lengths")
        .Label("Spread of response lengths")
        .Between(0, 8),
    Of<&PostTraining::old_log_probs>(
        "old_log_probs",
        "Log-probabilities of the policy before the update, recomputed by the training framework; off: the "
        "engine's own are used")
        .Label("Recompute policy log-probs")
        .Advanced(),
    Of<&PostTraining::reference>("reference",
                                 "Reference model for the KL penalty: one more forward pass over the samples")
        .Label("Reference model (KL penalty)"),
    Of<&PostTraining::reward_model>("reward_model",
                                    "Reward model of the policy's size: one more forward pass; off: a rule, at no cost")
        .Label("Reward model"),
    Of<&PostTraining::placement>(
        "placement", "Placement: generation and training take turns on all devices, or each has a pool of its own"),
    Of<&PostTraining::steps_off>(
        "steps_off",
        "Off-policy steps: 0 is synchronous; 1 generates the next samples while training on the last, with pools")
        .Label("Off-policy steps")
        .Between(0, 1),
    Of<&PostTraining::generation_devices>("generation_devices", "Devices of the generation pool; off: the best split")
        .Label("Generation devices")
        .Between(1, 1 << 24),
    Of<&PostTraining::step_overhead>(
        "step_overhead",
        "Host time per decode step besides the engine's own: the RL framework reads back the log-probs of "
        "what was sampled")
        .In(kMs)
        .Label("Host time per decode step")
        .Between(0, 1000)
        .Advanced(),
    Of<&PostTraining::engine_switch>(
        "engine_switch", "Time for the serving engine to sleep and to wake up, per step, where it shares devices")
        .In(kS)
        .Label("Engine sleep and wake-up")
        .Between(0, 3600)
        .Advanced(),
    Of<&PostTraining::swap_rate>(
        "swap_rate", "Rate of copies to host memory and back, per device: models that wait for their turn lie there")
        .Label("Swap rate")
        .In(kGBps)
        .Above(0)
        .AtMost(100'000)
        .Advanced(),
    Of<&PostTraining::sync_rate>(
        "sync_rate",
        "Rate at which a device of the serving engine takes new weights, of the whole model, where the network is "
        "not slower; default: 38 GB/s colocated, 90 GB/s between pools")
        .Label("Weight update rate")
        .In(kGBps)
        .Above(0)
        .AtMost(100'000)
        .Advanced()};
constinit const Fields Schema<PostTraining>::fields(kPostTrainingFields);

}  // namespace slipstick
