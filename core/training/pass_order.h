// Order of a device's passes under a pipeline schedule. No order depends on times, so a faster pass never lengthens a
// step.
//   GPipe        all forward, all backward                                Huang et al. 2019
//   1F1B         p - i forward first, then one of each                    Narayanan et al. 2021
//   interleaved  2(p - 1 - i) + (v - 1)p chunks first                     Narayanan et al. 2021
//   ZB-H1        p - i forward first; weight gradients i passes late      Qi et al., Zero Bubble Pipeline
//                                                                       Parallelism, 2023
//   ZB-V         two chunks in a V, the authors' handcrafted schedule     Qi et al. 2023
//   DualPipe     micro-batches from both ends; a forward and a            DeepSeek-V3 technical report, 2024,
//                backward pass of opposite directions run together        and its code
// The last two are defined for at least 2p - 1 and 2p micro-batches; with fewer, the passes of missing micro-batches
// are skipped.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/training_stage/schedule_types.h"

namespace slipstick {

enum class PassKind : std::int8_t { kForward, kBackward, kWeight };

struct Pass {
  int visit = 0;  // virtual stage
  int micro_batch = 0;
  int direction = 0;  // dualpipe: 1 for the micro-batches that entered at the last device
  PassKind kind = PassKind::kForward;
};

// Passes that run as one: they start when all their inputs have arrived, and send their results together.
struct PassGroup {
  std::array<Pass, 3> passes;
  std::size_t size = 0;
};

// Generates the order from the schedule's loops, whose number does not depend on the micro-batches.
class PassOrder {
 public:
  PassOrder(const PipelineShape& shape, Count device);
  // Writes the next group; false at the end.
  bool Next(PassGroup& group);

 private:
  // The micro-batches of one chunk or direction, in order.
  struct Lane {
    int visit = 0, from = 0, to = 0;  // micro-batches [from, to)
    std::array<int, 3> done{};        // by pass kind
  };
  struct Step {
    PassKind kind;
    int lane;
    bool joined = false;  // runs in the same group as the previous step
  };
  struct Loop {
    Count times;
    std::size_t first, last;  // indices in steps_
  };
  void Repeat(Count times, const std::vector<Step>& steps);
  void Gpipe(const PipelineShape& shape);
  void Interleaved(const PipelineShape& shape, int device);
  void ZbH1(const PipelineShape& shape, int device);
  void ZbV(const PipelineShape& shape, int device);
  void DualPipe(const PipelineShape& shape, int device);

  bool both_ways_ = false;
  std::vector<Lane> lanes_;
  std::vector<Step> steps_;
  std::vector<Loop> loops_;
  std::size_t loop_ = 0, step_ = 0;  // next to run
  Count round_ = 0;
};

}  // namespace slipstick
