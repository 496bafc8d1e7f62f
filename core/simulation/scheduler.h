// One attention group of an engine: which requests run, what the next step computes, and which requests are preempted.
// It is independent of the model: the caller supplies times and bytes.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/field.h"
#include "core/base/quantity.h"
#include "core/simulation/context_cache.h"
#include "core/simulation/prefix_blocks.h"

namespace slipstick {

inline constexpr Count kAllOfIt = std::numeric_limits<Count>::max();

// A request as its user sends it.
struct SentRequest {
  Count prompt = 1, output = 1;
  Count cached = 0;  // tokens of the prompt that hit the prefix cache
  bool is_measured = true;
  Count kind = 0;                           // class of the load's mixture
  Count session = -1, group = 0, turn = 1;  // -1: none; a session stays with the attention group that has its context
  Count reusable = kAllOfIt;                // tokens of the session's context with which the prompt begins
  BlockNumbers blocks{};                    // of the prompt
};

struct SimulatedRequest : SentRequest {
  FoundContext found{};  // of the session's context or the prompt's blocks, on admission
  Count hit = -1;        // tokens of the prompt that were cached at its first admission
  Seconds sent{};        // by the user
  Seconds admitted{};    // when it entered its first step
  Seconds first{}, last{};
  // While the request runs.
  Seconds ready{};       // at the scheduler; when its context is loaded; after its prefill, with its first token
  Count to_prefill = 0;  // tokens that a prefill must compute: the prompt and, after a preemption, the generated tokens
  Count prefilled = 0;   // of these
  Count generated = 0;
  Count used_blocks = 0;  // leading blocks of `blocks` in shared use: found, or computed and found by others
};

struct SchedulerRules {
  double step_tokens = 8192;    // prompt tokens per step
  bool prefills_first = false;  // a step either prefills or decodes; it prefills whenever a request can be admitted
  bool splits_prompts = true;   // a prompt may be split over several steps
  double max_sequences = 2048;  // maximum running sequences
  Count collect_steps = 0;      // maximum steps that a request waits to be prefilled with others, while others decode
  double collect_tokens = 0;    // tokens that end this wait
  double reserved = 0;          // share of the future outputs for which admission keeps room; 1 never preempts
  // Load time of contexts from host memory and from SSD, if a request waits for them while others go on.
  std::function<Seconds(Bytes host, Bytes ssd)> load_apart{};
};

// Blocks of prompts that the group keeps for other requests.
struct BlockRoom {
  Count tokens = 1;
  Bytes bytes;
  Bytes host{}, ssd{};  // room of the tiers below device memory
};

// Memory of one group.
struct KvCacheRoom {
  Bytes room;
  std::function<Bytes(Count held_tokens)> bytes_of;
  std::optional<ContextMemory> contexts{};  // of sessions between two turns
  std::optional<BlockRoom> blocks{};
};

// Why a request that has arrived is not prefilled in a step.
enum class HeldBack { kMemory, kSequences, kStepTokens };
inline constexpr std::size_t kHeldBack = 3;
ENUM_NAMES(HeldBack, {kMemory, "memory"}, {kSequences, "sequences"}, {kStepTokens, "prefill"});

// Statistics of a group.
struct GroupCounts {
  Count preemptions = 0;
  Seconds first_preemption;
  Bytes most_held;                           // by running requests, maximum
  std::array<Count, kHeldBack> held_back{};  // steps, by reason
};

// Contents of a step.
struct StepWork {
  double decoded = 0, context = 0;  // sequences, and their mean context
  double prompts = 0, tokens = 0,
         cached = 0;              // prompts or parts of them: number, mean length, mean tokens before them
  double prefilling_groups = 1;   // attention groups that each have this work
  double running = 0;             // sequences that decode in this or the next step
  Bytes from_host{}, from_ssd{};  // loaded contexts of its prompts
  [[nodiscard]] bool IsEmpty() const { return decoded <= 0 && prompts <= 0; }
};

class Scheduler {
 public:
  Scheduler(SchedulerRules rules, KvCacheRoom room, std::vector<SimulatedRequest>& requests)
      : rules_(rules), room_(std::move(room)), requests_(&requests) {
    if (room_.contexts) contexts_.emplace(*room_.contexts, room_.bytes_of);
    if (room_.blocks) blocks_.emplace();
  }

  void Enqueue(std::size_t request) { waiting_.push_back(request); }
  [[nodiscard]] std::size_t Load() const { return waiting_.size() + prefilling_.size() + decoding_.size(); }
  // Whether a step could prefill, with the requests that were ready by `seen`.
  [[nodiscard]] bool CanPrefill(Seconds seen) const;
  // Composes the next step. If `decodes` is false, it only prefills.
  StepWork Plan(Seconds now, Seconds seen, bool decodes);
  // Ends the planned step at `end`; its first tokens are available at `first`. Appends the requests that are done.
  void Finish(Seconds end, Seconds first, std::vector<std::size_t>& done);
  // The earliest time after `now` at which a waiting running request continues; infinite if none waits.
  [[nodiscard]] Seconds NextReady(Seconds now) const;
  [[nodiscard]] const GroupCounts& counts() const { return counts_; }

 private:
  struct Part {
    std::size_t request;
    Count tokens;
  };
  SimulatedRequest& At(std::size_t request) { return (*requests_)[request]; }
  [[nodiscard]] const SimulatedRequest& At(std::size_t request) const { return (*requests_)[request]; }
  [[nodiscard]] Bytes Charge(const SimulatedRequest& request) const;
  [[nodiscard]] Bytes Held() const;  // by running requests
  [[nodiscard]] std::size_t Running() const { return prefilling_.size() + decoding_.size(); }
  [[nodiscard]] bool CanAdmit(std::size_t request) const;
  void Preempt(Seconds now);
  void KeepIdleIn(Bytes room);
  void Publish(SimulatedRequest& request);
  void ReleaseBlocks(SimulatedRequest& request);
  // Prompt tokens that a step with room for `budget` tokens computes; 0: none.
  [[nodiscard]] Count PartOf(const SimulatedRequest& request, double budget) const;
  [[nodiscard]] bool IsCollecting(Seconds seen);
  // Takes the kept context or blocks; a part below device memory is loaded in the request's step, or before it.
  void TakeFound(Seconds now, SimulatedRequest& request);
  // Sets the cached tokens of a prompt that is about to be admitted.
  void LookUp(SimulatedRequest& request) const;
  void PlanPrefills(Seconds now, Seconds seen, double budget);
  [[nodiscard]] StepWork Work() const;

  SchedulerRules rules_;
  KvCacheRoom room_;
  std::vector<SimulatedRequest>* requests_;
  std::deque<std::size_t> waiting_;
  std::vector<std::size_t> prefilling_, decoding_;  // in order of admission
  Bytes charged_;
  Seconds link_free_;  // when all loads so far are done
  std::optional<ContextCache> contexts_;
  std::optional<PrefixBlocks> blocks_;
  // For the first waiting request: blocks of its prompt that others use, valid for one version of the blocks.
  struct Shared {
    std::size_t request = 0;
    Count version = -1, blocks = 0;
  };
  mutable Shared shared_;
  GroupCounts counts_;
  Count collected_steps_ = 0;
  // The planned step.
  std::vector<Part> parts_;
  std::vector<std::size_t> decoded_;
  Bytes from_host_, from_ssd_;
};

}  // namespace slipstick
