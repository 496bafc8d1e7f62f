// Image and video diffusion transformers: tokens, work and memory by hand, and the settings that divide or change them.
#include "core/diffusion/diffusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/schema.h"
#include "core/scenario/request.h"
#include "tests/support/answers.h"

namespace slipstick::testing {
namespace {

const Assignments kFlux{"cluster=dgx-h100", "diffusion.model=flux.1-dev"};
const Assignments kWan{"cluster=dgx-h100", "diffusion.model=wan2.1-t2v-14b"};
const Assignments kHunyuan{"cluster=dgx-h100", "diffusion.model=hunyuanvideo"};

Json Report(const Assignments& assignments) {
  const Result<Json> request = ReadRequest("", assignments);
  EXPECT_TRUE(request);
  return Ask(*request);
}
double Figure(const Assignments& assignments, const std::string& figure) {
  return Number(Report(assignments), "diffusion." + figure);
}

// A token covers 16 pixels per side, so an image has 64 x 64. A clip of 129 frames has 1 + 128 / 4 latent frames.
TEST(Diffusion, TokensAreLatentPatches) {
  EXPECT_EQ(Figure(kFlux, "tokens"), 64 * 64);
  EXPECT_EQ(Figure(kFlux + Assignments{"diffusion.width=2048", "diffusion.height=512"}, "tokens"), 128 * 32);
  EXPECT_EQ(Figure(kHunyuan, "tokens"), 33 * 80 * 45);
  EXPECT_EQ(Figure(kWan, "tokens"), 21 * 80 * 45);
  EXPECT_EQ(Figure(kWan + Assignments{"diffusion.frames=1"}, "tokens"), 80 * 45);
}

double StepFlops(const Assignments& assignments) {
  const auto with = [&](const char* steps) { return Figure(assignments + Assignments{steps}, "flops"); };
  return with("diffusion.steps=3") - with("diffusion.steps=2");
}

// Each of 57 blocks multiplies a token by 12 h^2 weights, two FLOP each, and all pairs of 4,608 tokens. Published:
// 3,719.50 TFLOP in 50 steps (TaylorSeer, arXiv 2503.06923, table 2).
TEST(Diffusion, AStepOfFluxComputesAsPublished) {
  const double h = 3072, tokens = 4096 + 512;
  const double products = 57 * 2 * 12 * h * h * tokens + 2 * (19 * 12 + 38 * 3) * h * h;
  const double attention = 57 * 4 * tokens * tokens * h;
  EXPECT_NEAR(StepFlops(kFlux), products + attention, 1e-6 * products);
  EXPECT_NEAR(50 * StepFlops(kFlux), 3719.50e12, 0.01 * 3719.50e12);
}

// Self-attention over 75,600 tokens, cross-attention to 512, in two passes of 40 blocks.
TEST(Diffusion, AGuidedStepOfWanHasTwoPasses) {
  const double h = 5120, ffn = 13824, tokens = 75600, text = 512;
  const double pass =
      40 * (2 * tokens * (6 * h * h + 2 * h * ffn) + 2 * text * 2 * h * h + 4 * tokens * (tokens + text) * h);
  EXPECT_NEAR(StepFlops(kWan), 2 * pass, 1e-6 * pass);
  EXPECT_NEAR(StepFlops(kWan + Assignments{"diffusion.guided=false"}), pass, 1e-6 * pass);
}

// A joint block has 36 h^2 weights, of which the modulation (6 h^2 per stream) is computed once per image, and attends
// over all pairs of 4,429 tokens. The second attention of 13 blocks has 4 h^2 weights and three vectors of modulation,
// and attends over all pairs of 4,096 tokens.
TEST(Diffusion, ASecondAttentionSeesTheImageOnly) {
  const Assignments medium{"cluster=dgx-h100", "diffusion.model=stable-diffusion-3.5-medium"};
  const double h = 1536, image = 4096, tokens = image + 333;
  const double joint = 2 * 12 * h * h * tokens + 2 * 12 * h * h + 4 * tokens * tokens * h;
  const double second = 2 * 4 * h * h * image + 2 * 3 * h * h + 4 * image * image * h;
  EXPECT_NEAR(StepFlops(medium), 2 * (24 * joint + 13 * second), 1e-6 * StepFlops(medium));
  EXPECT_NEAR(StepFlops(medium + Assignments{"diffusion.model.dual_blocks=0"}), 2 * 24 * joint, 1e-6 * 24 * joint);
}

// 333 text tokens do not split in two: both ranks compute all of them, in 38 blocks of 12 h^2.
TEST(Diffusion, EveryRankComputesTextThatDoesNotDivide) {
  const Assignments large{"cluster=dgx-h100", "diffusion.model=stable-diffusion-3.5-large"};
  const double h = 2432, more = StepFlops(large + Assignments{"diffusion.ulysses=2"}) - StepFlops(large);
  const double modulation = 2 * 12 * h * h;
  EXPECT_NEAR(more, 2 * 38 * (2 * 12 * h * h * 333 + modulation), 1e-6 * more);
  // 512 text tokens do split: only the modulation of each block is computed twice.
  const double flux = StepFlops(kFlux + Assignments{"diffusion.ulysses=2"}) - StepFlops(kFlux);
  EXPECT_NEAR(flux, 2 * (19 * 12 + 38 * 3) * 3072.0 * 3072.0, 1e-3 * flux);
}

// Operations of FLUX's blocks, counted in diffusers. Each stream of a joint block has 54: two of modulation, two norms
// of four, three products, 32 for norm and rotary embedding of queries and keys, one to concatenate, the output, two
// gated sums of two and three for the MLP. The block adds one attention. A single block has 47.
TEST(Diffusion, TheHostLaunchesWhatIsNotCompiled) {
  const Assignments slow = kFlux + Assignments{"diffusion.compiled=false", "diffusion.launch=1 ms"};
  const double blocks = 57, operations = 19 * (2 * 54 + 1) + 38 * 47;
  EXPECT_NEAR(Figure(slow, "step_s"), 1e-3 * operations, 1e-9);
  // Ulysses: four exchanges with a copy before and after each. Ring: each further part adds an attention and eleven
  // operations to add up its output.
  EXPECT_NEAR(Figure(slow + Assignments{"diffusion.ulysses=2"}, "step_s"), 1e-3 * (operations + blocks * 12), 1e-9);
  EXPECT_NEAR(Figure(slow + Assignments{"diffusion.ring=2"}, "step_s"), 1e-3 * (operations + blocks * 12), 1e-9);
  EXPECT_NEAR(Figure(slow + Assignments{"diffusion.ring=4"}, "step_s"), 1e-3 * (operations + blocks * 32), 1e-9);
  // Compiled code does not wait for the host, and neither does a device that is slower than the host.
  EXPECT_EQ(Figure(kFlux + Assignments{"diffusion.launch=1 ms"}, "time_s.launches"), 0);
  EXPECT_EQ(Figure(kFlux + Assignments{"diffusion.compiled=false"}, "time_s.launches"), 0);
  EXPECT_GT(Figure(kFlux + Assignments{"diffusion.compiled=false", "diffusion.ulysses=8"}, "time_s.launches"), 0);
  // A guided step whose two passes run as one batch is launched once.
  const Assignments guided = slow + Assignments{"diffusion.guided=true"};
  EXPECT_NEAR(Figure(guided, "step_s"), 2e-3 * operations, 1e-9);
  EXPECT_NEAR(Figure(guided + Assignments{"diffusion.model.batched_guidance=true"}, "step_s"), 1e-3 * operations, 1e-9);
}

// A decoder of FLUX's shape does 4.65 million multiplications per pixel: levels of 512, 512, 256 and 128 channels.
TEST(Diffusion, TheDecoderCountsItsConvolutions) {
  const double steps = 2 * StepFlops(kFlux), all = Figure(kFlux + Assignments{"diffusion.steps=2"}, "flops");
  const double w = 128, taps = 9;
  const double per_pixel =
      taps * (w * w * 4 + 2 * w * w + 5 * w * w) + taps / 4 * (16 * w * w + 8 * w * w + 5 * 4 * w * w) +
      taps / 16 * (16 * w * w + 16 * w * w + 5 * 16 * w * w) + taps / 64 * (10 * 16 * w * w + 16 * 4 * w);
  const double text = 2 * 512 * 4885371136.0;
  EXPECT_NEAR(all - steps - text, 2 * per_pixel * 1024 * 1024, 0.001 * (all - steps - text));
  EXPECT_NEAR(per_pixel, 4.65e6, 0.02 * 4.65e6);
}

// Overlapping tiles are computed twice; a clip's convolutions take longer than products of their size, an image's do not.
TEST(Diffusion, TheDecoderOfAClipTakesItsConvolutionsAndTiles) {
  const auto decoder = [](const Assignments& model, const char* member) {
    return Figure(model + Assignments{member}, "time_s.decoder");
  };
  EXPECT_NEAR(decoder(kWan, "diffusion.decoder_overlap=2"), 2 * decoder(kWan, "diffusion.decoder_overlap=1"),
              0.01 * decoder(kWan, "diffusion.decoder_overlap=1"));
  const double fast = decoder(kWan, "diffusion.convolutions=1"), half = decoder(kWan, "diffusion.convolutions=0.5"),
               quarter = decoder(kWan, "diffusion.convolutions=0.25");
  EXPECT_NEAR(quarter - half, 2 * (half - fast), 1e-6 * fast);
  EXPECT_GT(half, 1.5 * fast);
  EXPECT_EQ(decoder(kFlux, "diffusion.convolutions=1"), decoder(kFlux, "diffusion.convolutions=0.5"));
}

// A device draws its TDP while it computes and its idle power while it waits for the host.
TEST(Diffusion, ADeviceThatWaitsDrawsItsIdlePower) {
  const Json busy = Report(kFlux);
  EXPECT_NEAR(Number(busy, "diffusion.device_energy_j"), 700 * Number(busy, "diffusion.latency_s"), 1e-6);
  const Json waits = Report(kFlux + Assignments{"diffusion.compiled=false", "diffusion.launch=1 ms"});
  const double idle = Number(waits, "scenario.cluster.device.idle"), latency = Number(waits, "diffusion.latency_s"),
               waiting = Number(waits, "diffusion.time_s.launches");
  EXPECT_NEAR(Number(waits, "diffusion.device_energy_j"), 700 * (latency - waiting) + idle * waiting, 1e-6);
  EXPECT_GT(waiting, latency / 2);
}

// Every figure of a clip in the report has an explanation that leads to the run's own inputs.
TEST(Diffusion, RatesAreExplained) {
  for (const char* figure : {"items_per_hour", "video_s_per_hour", "latency_s"}) {
    const Answer answer = EvaluateAnswer(R"({"version": 3})", kWan, std::string("diffusion.") + figure);
    ASSERT_TRUE(answer.issues.empty()) << figure;
    EXPECT_NE(answer.text.find("diffusion.steps"), std::string::npos) << figure;
  }
}

TEST(Diffusion, PartsAddUpToTheTime) {
  for (const Assignments& one : {kFlux, kWan + Assignments{"diffusion.ulysses=4", "diffusion.offload=true"}}) {
    const Json report = Report(one);
    double sum = 0;
    for (const auto& [part, time] : Find(report, "diffusion.time_s")->items()) sum += time.get<double>();
    EXPECT_NEAR(sum, Number(report, "diffusion.latency_s"), 1e-9 * sum);
  }
}

// Each device has a quarter of the tokens or of the heads; only the exchange is added.
TEST(Diffusion, SequenceParallelismSharesTheWork) {
  const Json one = Report(kHunyuan);
  for (const char* way : {"diffusion.ulysses=4", "diffusion.ring=4"}) {
    const Json four = Report(kHunyuan + Assignments{way});
    EXPECT_NEAR(Number(four, "diffusion.time_s.attention"), Number(one, "diffusion.time_s.attention") / 4,
                0.01 * Number(one, "diffusion.time_s.attention"))
        << way;
    EXPECT_GT(Number(four, "diffusion.latency_s"), Number(one, "diffusion.latency_s") / 4) << way;
    EXPECT_EQ(Number(four, "diffusion.devices"), 4) << way;
    EXPECT_GT(Number(four, "diffusion.device_energy_j"), Number(one, "diffusion.device_energy_j")) << way;
  }
  // Four messages of 118,800 + 256 tokens over four ranks, in 60 blocks and 50 steps; a quarter of each stays on its
  // rank.
  const double bytes = 50 * 60 * 4 * (118800.0 + 256) / 4 * 3072 * 2 * 3 / 4;
  const double exchange = Figure(kHunyuan + Assignments{"diffusion.ulysses=4"}, "time_s.communication");
  EXPECT_GT(exchange, bytes / 450e9);
  EXPECT_LT(exchange, 2 * bytes / 450e9);
}

// Each of 57 blocks hides its exchange behind its own attention, so a block's share does not depend on the 38 single
// blocks.
TEST(Diffusion, ARingIsHiddenByTheAttentionOfItsOwnBlock) {
  const Assignments slow = kFlux + Assignments{"diffusion.ring=2", "cluster.networks.0.bandwidth=20 GB/s"};
  const double both = Figure(slow, "time_s.communication"),
               joint = Figure(slow + Assignments{"diffusion.model.single_blocks=0"}, "time_s.communication");
  EXPECT_GT(joint, 0);
  EXPECT_NEAR(both / 57, joint / 19, 1e-9 * joint);
}

TEST(Diffusion, GuidanceInParallelHalvesAStep) {
  const Assignments guided = kWan + Assignments{"diffusion.guidance_parallel=true"};
  EXPECT_NEAR(Figure(guided, "step_s"), Figure(kWan, "step_s") / 2, 1e-9);
  EXPECT_EQ(Figure(guided, "devices_per_replica"), 2);
}

TEST(Diffusion, MoreDevicesMakeMoreClips) {
  const Json one = Report(kWan), eight = Report(kWan + Assignments{"diffusion.devices=8"});
  EXPECT_NEAR(Number(eight, "diffusion.items_per_hour"), 8 * Number(one, "diffusion.items_per_hour"), 1e-9);
  EXPECT_EQ(Number(eight, "diffusion.latency_s"), Number(one, "diffusion.latency_s"));
  // 81 frames at 16 a second.
  EXPECT_NEAR(Number(one, "diffusion.video_s_per_hour") * Number(one, "diffusion.latency_s"), 3600 * 81 / 16.0, 1e-6);
  EXPECT_TRUE(Find(Report(kFlux), "diffusion.video_s_per_hour")->is_null());
}

// Resident: two transformers of 14.2 billion parameters in 16 bit, umT5 and the decoder. Offloaded: one transformer at
// a time.
TEST(Diffusion, PartsThatTakeTurnsAreCopied) {
  const Assignments two{"cluster=dgx-h100", "diffusion.model=wan2.2-t2v-a14b"};
  const Json resident = Report(two), turns = Report(two + Assignments{"diffusion.offload=true"});
  const double weights = Number(resident, "diffusion.memory_bytes.weights");
  EXPECT_NEAR(weights, 2 * 28.576983168e9 + 11.362e9, 0.01 * weights);
  EXPECT_NEAR(Number(turns, "diffusion.memory_bytes.weights"), 28.577e9, 0.01 * 28.577e9);
  EXPECT_NEAR(Number(turns, "diffusion.time_s.copies"),
              weights / Number(turns, "scenario.cluster.device.host.bandwidth"), 1e-6);
  EXPECT_EQ(Number(resident, "diffusion.time_s.copies"), 0);
}

TEST(Diffusion, AModelThatDoesNotFitSaysSo) {
  const Assignments small{"cluster=single-rtx-4090", "diffusion.model=flux.1-dev"};
  const Json report = Report(small);
  EXPECT_FALSE(Find(report, "diffusion.feasible")->get<bool>());
  EXPECT_NE(TextOf(*Find(report, "diffusion.infeasible.0.message")).find("diffusion.offload"), std::string::npos);
  EXPECT_TRUE(
      Find(Report(small + Assignments{"diffusion.offload=true", "diffusion.precision=fp8"}), "diffusion.feasible")
          ->get<bool>());
}

TEST(Diffusion, NeverFasterThanThePeak) {
  for (const char* precision : {"diffusion.precision=bf16", "diffusion.precision=fp8"}) {
    for (const Assignments& one : {kFlux, kHunyuan, kWan}) {
      const Json report = Report(one + Assignments{precision});
      EXPECT_GT(Number(report, "diffusion.latency_s"), Number(report, "diffusion.flops") / 1979e12);
      EXPECT_LE(Number(report, "diffusion.device_energy_j"), 700.001 * Number(report, "diffusion.latency_s"));
    }
  }
  EXPECT_LT(Figure(kFlux + Assignments{"diffusion.precision=fp8"}, "latency_s"), Figure(kFlux, "latency_s"));
  EXPECT_GT(Figure(kFlux + Assignments{"diffusion.compiled=false"}, "latency_s"), Figure(kFlux, "latency_s"));
}

// Asked alone, diffusion is the only question. If the request also states a model or serving, the others stay.
TEST(Diffusion, IsTheOnlyQuestionUnlessOthersAreWritten) {
  const Json alone = Report(kFlux);
  EXPECT_TRUE(alone["training"].is_null());
  EXPECT_TRUE(alone["serving"].is_null());
  EXPECT_EQ(Number(alone, "cost.devices"), 1);
  EXPECT_TRUE(Report(kFlux + Assignments{"model=llama-3.1-8b"})["serving"].is_object());
  EXPECT_TRUE(Report(kFlux + Assignments{"serving.prompt=100"})["serving"].is_object());
}

struct Fault {
  Assignments request;
  const char* path;
};

// Each fault is refused at its path with at least one fix.
TEST(Diffusion, ImpossibleRunsHaveFixes) {
  const std::vector<Fault> faults{
      {kFlux + Assignments{"diffusion.frames=16"}, "diffusion.frames"},
      {kFlux + Assignments{"diffusion.width=1000"}, "diffusion.width"},
      {kFlux + Assignments{"diffusion.guidance_parallel=true"}, "diffusion.guidance_parallel"},
      {kFlux + Assignments{"diffusion.ulysses=5"}, "diffusion.ulysses"},
      {kFlux + Assignments{"diffusion.ulysses=3", "diffusion.devices=4"}, "diffusion.devices"},
      {{"cluster=dgx-h100", "model=flux.1-dev"}, "model.preset"},
      {{"cluster=dgx-h100", "model=flux.1-dev", "serving.prefix_hit=0.5"}, "model.preset"},
      {kFlux + Assignments{"diffusion.model.heads=7"}, "diffusion.model.heads"}};
  for (const Fault& fault : faults) {
    const Result<Json> request = ReadRequest("", fault.request);
    ASSERT_TRUE(request);
    const Json answer = Ask(*request);
    ASSERT_TRUE(answer.contains("issues")) << fault.path;
    const Json& issue = answer["issues"][0];
    EXPECT_EQ(TextOf(issue["path"]), fault.path);
    ASSERT_FALSE(issue["fixes"].empty()) << fault.path;
    for (const Json& fix : issue["fixes"]) EXPECT_FALSE(fix.empty()) << fault.path;
  }
  // Inputs of a KV cache are unknown here.
  for (const char* member : {"diffusion.prefix_hit=0.5", "diffusion.kv_offload={}", "diffusion.speculative={}"})
    EXPECT_TRUE(Report(kFlux + Assignments{member}).contains("issues")) << member;
}

// PixArt has cross-attention blocks only.
TEST(Diffusion, AModelWithoutBlocksIsOfferedTheDefaultModel) {
  const Json answer =
      Report({"cluster=dgx-h100", "diffusion.model=pixart-sigma-xl-2", "diffusion.model.cross_blocks=0"});
  ASSERT_TRUE(answer.contains("issues"));
  const Json& issue = answer["issues"][0];
  EXPECT_EQ(TextOf(issue["path"]), "diffusion.model.joint_blocks");
  ASSERT_EQ(issue["fixes"].size(), 2U) << JsonText(issue);
  EXPECT_EQ(TextOf(issue["fixes"][1]["value"]), Standard<DiffusionModel>().preset) << JsonText(issue);
}

TEST(Diffusion, TheFixForAModelOfImagesAsksForImages) {
  const Result<Json> request = ReadRequest("", {"cluster=dgx-h100", "model=flux.1-dev"});
  Fix fix{{"diffusion.model", "\"flux.1-dev\""}, {{"training", "null"}, {"serving", "null"}, {"model", ""}}};
  const Json report = Ask(WithFix(*request, fix));
  EXPECT_GT(Number(report, "diffusion.latency_s"), 0);
  EXPECT_TRUE(report["training"].is_null());
}

}  // namespace
}  // namespace slipstick::testing
