// The roofline preset against calculations by hand. Rates of the device: 1,000 TFLOP/s, 4 TB/s, 400 GB/s per link with
// 1 us. Every utilization is a half, so an operator takes the longer of FLOPs / 5e14 and bytes / 2e12, a transfer 1 us
// + bytes / 2e11.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/json.h"
#include "core/evaluation/evaluate.h"
#include "core/scenario/parse_scenario.h"

namespace slipstick {
namespace {

constexpr double kPeak = 5e14, kMemory = 2e12, kLink = 2e11, kAlpha = 1e-6;

double Roof(double flops, double bytes) { return std::max(flops / kPeak, bytes / kMemory); }
// Operands and result in 16 bits, the result in `output` bytes per element.
double Product(double m, double n, double k, double output = 2, double groups = 1) {
  return Roof(groups * 2 * m * n * k, groups * (2 * n * k + m * (2 * k + output * n)));
}
// Attention over heads 128 wide. A score is 2 x 2 x 128 FLOPs forward and 5 x 2 x 128 backward. `operands`: bytes of Q,
// K, V and the output, which cross the memory once forward and twice backward. L2 (half of 9.8 TB/s) also carries a key
// and a value, 512 bytes, per 128 queries. Shared memory has three times its bandwidth for twice the traffic.
constexpr double kL2 = 4.9e12;
double Core(double scores, double operands) {
  return std::max(Roof(scores * 512, operands), (scores * 512 / 128 + operands) / kL2);
}
double CoreBackward(double scores, double operands) {
  return std::max(Roof(scores * 1280, 2 * operands), 2 * (scores * 512 / 128 + operands) / kL2);
}
// Textbook times of an all-gather or reduce-scatter of `bytes`, the faster of ring and recursive halving or doubling,
// and of a pairwise all-to-all.
double HalfAllReduce(double ranks, double bytes) {
  return std::log2(ranks) * kAlpha + (ranks - 1) / ranks * bytes / kLink;
}
double OneTrip(double ranks, double bytes) { return (ranks - 1) * kAlpha + (ranks - 1) / ranks * bytes / kLink; }
// All-reduce by the faster of ring and double binary tree, whose latency is shorter above two ranks.
double AllReduce(double ranks, double bytes) {
  return 2 * std::log2(ranks) * kAlpha + 2 * (ranks - 1) / ranks * bytes / kLink;
}

// Adam reads and writes weight and moments in 32 bits (24 bytes), the gradient and the 16-bit weight (10). The norm of
// all gradients before it and their zeroing after it take 6.
double Update(double parameters) { return (24 + 10 + 6) * parameters / kMemory; }

Json Report(const std::string& model, const std::string& training, const std::string& serving,
            const std::string& more = "") {
  const std::string half = R"("utilization": {"compute": 0.5, "memory": 0.5, "network": 0.5})";
  const auto part = [&](const std::string& members, const std::string& stack) {
    return members.empty() ? "null" : "{\"" + stack + R"(": {"preset": "roofline", )" + half + "}, " + members + "}";
  };
  const Result<Json> request = ParseJson(
      R"({"cost": null, "model": )" + model +
      R"(, "cluster": {"preset": "dgx-h100", "devices": 8, "device": {"peak": {"bf16": "1000 TFLOP/s"},
      "memory": {"bandwidth": "4 TB/s"}}, "networks": [{"bandwidth": "400 GB/s", "latency": "1 us"}])" +
      more + R"(}, "training": )" + part(training, "framework") + R"(, "serving": )" + part(serving, "engine") + "}");
  EXPECT_TRUE(request);
  const Result<Scenario> scenario = ParseScenario(*request);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.issues.front().path + ": " + scenario.issues.front().message);
  if (!scenario) return Json::object();
  ReportDetail detail;
  detail.operators = true;
  const Result<Json> report = Evaluate(*scenario, detail);
  EXPECT_TRUE(report);
  return report ? *report : Json::object();
}

void ExpectTime(double time, double by_hand, const std::string& what) {
  EXPECT_NEAR(time / by_hand, 1, 1e-9) << what << " " << by_hand;
}

void ExpectOperator(const Json& operators, const std::string& name, double by_hand) {
  for (const Json& row : operators) {
    if (row["name"] == name) return ExpectTime(row["time_s"].get<double>(), by_hand, name);
  }
  ADD_FAILURE() << "no operator " << name;
}

// GPT on one device: 2 layers of 4,096 with 32 heads, an MLP of 16,384, vocabulary 51,200; sequences of 2,048, one per
// micro-batch.
TEST(Roofline, AStepOfADenseModelMatchesHandCalculation) {
  const double s = 2048, h = 4096, f = 16384, vocabulary = 51200, layers = 2, micro_batches = 4;
  const Json report = Report(
      R"({"layers": 2, "hidden": 4096, "heads": 32, "ffn": 16384, "vocab": 51200, "gated": false, "norm": "layer",
                                 "biases": "none", "position": "learned", "tied_embeddings": true})",
      R"("sequence": 2048, "global_batch": 4, "devices": 1, "mapping": {})", "");
  const Json& training = report["training"];
  // Forward and input gradient have the same FLOPs and bytes; a weight gradient is added to fp32: 8 bytes per element.
  const double qkv = Product(s, 3 * h, h), output = Product(s, h, h), up = Product(s, f, h), down = Product(s, h, f);
  ExpectOperator(training["operators"], "QKV projection", qkv);
  ExpectOperator(training["operators"], "output projection", output);
  ExpectOperator(training["operators"], "gate+up projection", up);
  ExpectOperator(training["operators"], "down projection", down);
  const double weights = Product(3 * h, h, s, 8) + Product(h, h, s, 8) + Product(f, h, s, 8) + Product(h, f, s, 8);
  ExpectOperator(training["operators"], "down projection, weight gradient", Product(h, f, s, 8));
  const double scores = 32 * s * (s + 1) / 2;
  const double core = Core(scores, 4 * s * h * 2), core_backward = CoreBackward(scores, 4 * s * h * 2);
  ExpectOperator(training["operators"], "attention core", core);
  ExpectOperator(training["operators"], "attention core, backward", core_backward);
  // Two norms (4 and 8 bytes per element), two residual additions (12), one pass over Q, K, V and the output (2), GELU
  // (4 and 6).
  const Json& rows = training["operators"];
  const double passes = (2 * s * h * 4 + s * h * 12 + 4 * s * h * 2 + s * f * 4) / kMemory,
               passes_backward = (2 * s * h * 8 + s * h * 12 + 4 * s * h * 2 + s * f * 6) / kMemory;
  ExpectOperator(rows, "element-wise", passes);
  ExpectOperator(rows, "element-wise, backward", passes_backward);
  // Softmax and loss pass 6 bytes per logit, 0.4 of them forward; the embedding 12 bytes per element, a third forward.
  const double head = Product(s, vocabulary, h) + 0.4 * 6 * s * vocabulary / kMemory + 4 * s * h / kMemory;
  const double forward = micro_batches * (layers * (qkv + output + up + down + core + passes) + head);
  ExpectTime(training["time_s"]["forward"].get<double>(), forward, "forward");
  const double input_gradients = Product(s, h, 3 * h) + Product(s, h, h) + Product(s, h, f) + Product(s, f, h);
  const double head_backward = Product(s, h, vocabulary) + Product(vocabulary, h, s, 8) +
                               0.6 * 6 * s * vocabulary / kMemory + 8 * s * h / kMemory;
  const double backward =
      micro_batches * (layers * (input_gradients + weights + core_backward + passes_backward) + head_backward);
  ExpectTime(training["time_s"]["backward"].get<double>(), backward, "backward");
  // Weights, two norm parameters per element of the stream, and the learned positions.
  const double optimizer = Update(layers * (4 * h * h + 2 * h * f + 4 * h) + vocabulary * h + 2 * h + s * h);
  ExpectTime(training["time_s"]["optimizer"].get<double>(), optimizer, "optimizer");
  ExpectTime(training["step_time_s"].get<double>(), forward + backward + optimizer, "step");
  // MFU counts the whole peak, of which the utilizations allow half.
  EXPECT_LT(training["model_flops_utilization"].get<double>(), 0.5);
}

constexpr const char* kLlama =
    R"({"layers": 4, "hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "ffn": 14336, "vocab": 128256})";

// Llama with 8 KV heads over tp 8 with sequence parallelism: an all-gather and a reduce-scatter around attention and
// MLP, each way.
TEST(Roofline, TensorParallelLlamaPaysTheTextbooksCollectives) {
  const double s = 4096, h = 4096;
  const Json report =
      Report(kLlama, R"("sequence": 4096, "global_batch": 2, "mapping": {"tp": 8, "sequence_parallel": true})", "");
  const Json& training = report["training"];
  ExpectOperator(training["operators"], "QKV projection", Product(s, (4096 + 2 * 1024) / 8.0, h));
  ExpectOperator(training["operators"], "gate+up projection", Product(s, 2 * 14336 / 8.0, h));
  // Each rank has 4 query heads and one KV head: Q and output, K and V.
  ExpectOperator(training["operators"], "attention core", Core(4 * s * (s + 1) / 2, 2 * s * 128 * (4 + 1) * 2));
  const double layer = 2 * 2 * 2 * HalfAllReduce(8, s * h * 2);
  ExpectTime(training["time_s"]["tp"].get<double>(), 2 * 4 * layer, "tp");
}

// A decode step of 8 sequences and a prefill of one prompt over tp 8.
TEST(Roofline, ServingALlamaMatchesHandCalculation) {
  const double h = 4096, f = 14336 / 8.0, batch = 8, vocabulary = 128256 / 8.0;
  const Json report = Report(kLlama, "",
                             R"("prompt": 1024, "output": 129, "batch": 8, "mapping": {"tp": 8},
                                "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"})");
  const Json& serving = report["serving"];
  for (const auto& [phase, rows] : {std::pair{"decode", batch}, std::pair{"prefill", 1024.0}}) {
    const Json& operators = serving["operators"][phase];
    ExpectOperator(operators, "QKV projection", Product(rows, 6144 / 8.0, h));
    ExpectOperator(operators, "output projection", Product(rows, h, h / 8));
    ExpectOperator(operators, "gate+up projection", Product(rows, 2 * f, h));
    ExpectOperator(operators, "down projection", Product(rows, h, f));
    ExpectOperator(operators, "all-reduce", AllReduce(8, rows * h * 2));
    // Two norms with a residual addition (6 bytes), SwiGLU (6 bytes per inner element).
    ExpectOperator(operators, "norms, activation, residual", (2 * rows * h * 6 + rows * f * 6) / kMemory);
    double sum = 0;
    for (const Json& row : operators) sum += row["time_s"].get<double>() * row["count"].get<double>();
    ExpectTime(serving[phase == std::string("decode") ? "decode_step_s" : "prefill_s"].get<double>(), sum, phase);
  }
  ExpectOperator(serving["operators"]["decode"], "LM head", Product(batch, vocabulary, h));
  // The mean context of a decode step is the prompt's 1,024 tokens and half the output. Each rank has four query heads
  // and one KV head.
  const double context = 1024 + 129 / 2.0;
  ExpectOperator(serving["operators"]["decode"], "attention",
                 Roof(batch * 4 * context * 512, batch * context * 256 * 2));
  // In prefill, compute takes longest.
  ExpectOperator(serving["operators"]["prefill"], "attention", 4 * 1024 * 1025 / 2.0 * 512 / kPeak);
}

// Mixtral's shape over ep 8: a device holds one expert of each layer, which gets 8 ranks x s x 2 / 8 rows under even
// load.
TEST(Roofline, ExpertsAreGemmsBetweenTwoAllToAlls) {
  const double s = 2048, h = 4096, f = 14336, layers = 2;
  const Json report = Report(R"({"layers": 2, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 32000,
                                 "moe": {"experts": 8, "top_k": 2, "expert_ffn": 14336, "dense_layers": 0, "imbalance": 1}})",
                             R"("sequence": 2048, "global_batch": 8, "mapping": {"ep": 8, "dp": 8})", "");
  const Json& training = report["training"];
  ExpectOperator(training["operators"], "experts, gate+up", Product(2 * s, 2 * f, h));
  ExpectOperator(training["operators"], "experts, down", Product(2 * s, h, f));
  // One copy per token and expert, for dispatch and combine, forward and backward.
  const double ep = layers * 4 * OneTrip(8, 2 * s * h * 2);
  ExpectTime(training["time_s"]["ep"].get<double>(), ep, "ep");
  // The whole step. Per layer and direction: norms (4 and 8 bytes per element), residual additions (12), Q, K, V and
  // the output (2), SwiGLU (6 and 10) and the permutation of tokens (8 and 16) of two experts' rows; two matrices
  // outside the layers.
  const double qkv = 4096 + 2 * 1024, vocabulary = 32000, scores = 32 * s * (s + 1) / 2, operands = s * (qkv + h) * 2;
  const double passes = (2 * s * h * 4 + s * h * 12 + operands + 2 * s * f * 6 + 2 * s * h * 8) / kMemory,
               passes_backward = (2 * s * h * 8 + s * h * 12 + operands + 2 * s * f * 10 + 2 * s * h * 16) / kMemory;
  ExpectOperator(training["operators"], "element-wise", passes);
  ExpectOperator(training["operators"], "element-wise, backward", passes_backward);
  const auto products = [&](const auto& time) {
    return time(s, qkv, h) + time(s, h, h) + time(s, 8., h) + time(2 * s, 2 * f, h) + time(2 * s, h, f);
  };
  const auto forward_of = [](double m, double n, double k) { return Product(m, n, k); };
  const auto backward_of = [](double m, double n, double k) { return Product(m, k, n) + Product(n, k, m, 8); };
  const double loss = 6 * s * vocabulary / kMemory, table = 12 * s * h / kMemory;
  const double forward = layers * (products(forward_of) + Core(scores, operands) + passes) + Product(s, vocabulary, h) +
                         0.4 * loss + table / 3;
  const double backward = layers * (products(backward_of) + CoreBackward(scores, operands) + passes_backward) +
                          Product(s, h, vocabulary) + Product(vocabulary, h, s, 8) + 0.6 * loss + 2 * table / 3;
  ExpectTime(training["time_s"]["forward"].get<double>(), forward, "forward");
  ExpectTime(training["time_s"]["backward"].get<double>(), backward, "backward");
  // The eight devices share all weights except the experts: the 16-bit gradients of those are reduced.
  const double dense = layers * (h * qkv + h * h + 8 * h + 2 * h) + 2 * vocabulary * h + h,
               experts = layers * 3 * h * f;
  const double dp = AllReduce(8, 2 * dense), optimizer = Update(dense + experts);
  ExpectTime(training["time_s"]["dp"].get<double>(), dp, "dp");
  ExpectTime(training["step_time_s"].get<double>(), forward + backward + ep + dp + optimizer, "step");
}

TEST(Roofline, AStatedLibraryStays) {
  const std::string training = R"("sequence": 2048, "global_batch": 8, "mapping": {"tp": 8})";
  const double textbook = Report(kLlama, training, "")["training"]["time_s"]["tp"].get<double>();
  const double measured =
      Report(kLlama, training, "", R"(, "collectives": {"library": "measured"})")["training"]["time_s"]["tp"]
          .get<double>();
  const double stated =
      Report(kLlama, training, "", R"(, "collectives": {"library": "alpha_beta"})")["training"]["time_s"]["tp"]
          .get<double>();
  EXPECT_EQ(textbook, stated);
  EXPECT_NE(textbook, measured);
}

}  // namespace
}  // namespace slipstick
