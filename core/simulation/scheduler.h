// One attention group of an engine: which requests run, what the next step holds, who is preempted. Knows no model:
// times and bytes come from outside.
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

struct SimulatedRequest {
  Count prompt = 1, output = 1;
  Count cached = 0;    // tokens of the prompt that hit the prefix cache
  Count kind = 0;      // class of the load's mixture
  Count session = -1;  // none
  Count group = 0;     // of the session
  Count turn = 1;
  Count reusable = kAllOfIt;  // tokens of the session's context that the prompt begins with
  FoundContext found;         // of the session's context, on admission
  BlockNumbers blocks;        // of the prompt
  Count hit = -1;             // tokens of the prompt that were cached when it was admitted first
  Seconds sent;               // by the user
  Seconds admitted;           // to its first step
  Seconds first, last;
  bool is_measured = true;
  // While it runs.
  Seconds ready;         // at the scheduler; when its context is loaded; after its prefill, with its first token
  Count to_prefill = 0;  // tokens that a prefill must hold: the prompt and, after a preemption, what was generated
  Count prefilled = 0;   // of them
  Count generated = 0;
  Count used_blocks = 0;  // of `blocks`, from the first on: found, or computed and found by others
};

struct SchedulerRules {
  double step_tokens = 8192;    // of prompts in a step
  bool prefills_first = false;  // a step prefills or decodes, and prefills whenever a request may be admitted
  bool splits_prompts = true;   // a prompt may be spread over steps
  double max_sequences = 2048;  // running at once
  Count collect_steps = 0;      // that a request waits for others to be prefilled with, while others decode
  double collect_tokens = 0;    // so many end this wait
  double reserved = 0;          // share of the outputs yet to come for which admission keeps room; 1 never preempts
  // Of contexts from host memory and from SSD, where a request waits for them while others go on.
  std::function<Seconds(Bytes host, Bytes ssd)> load_apart{};
};

// Blocks of prompts that the group keeps for other requests.
struct BlockRoom {
  Count tokens = 1;
  Bytes bytes;
};

// Memory of one group.
struct KvCacheRoom {
  Bytes room;
  std::function<Bytes(Count held_tokens)> bytes_of;
  std::optional<ContextMemory> contexts{};  // of sessions that wait between two turns
  std::optional<BlockRoom> blocks{};
};

// Why a request that has come is not prefilled in a step.
enum class HeldBack { kMemory, kSequences, kStepTokens };
inline constexpr std::size_t kHeldBack = 3;
ENUM_NAMES(HeldBack, {kMemory, "memory"}, {kSequences, "sequences"}, {kStepTokens, "prefill"});

// What a group went through.
struct GroupCounts {
  Count preemptions = 0;
  Seconds first_preemption;
  Bytes most_held;                           // by running requests
  std::array<Count, kHeldBack> held_back{};  // steps
};

// What a step holds.
struct StepWork {
  double decoded = 0, context = 0;  // sequences, and their mean context
  double prompts = 0, tokens = 0,
         cached = 0;              // prompts or parts of them: how many, mean length, mean tokens before them
  double running = 0;             // sequences that decode in this or the next step
  Bytes from_host{}, from_ssd{};  // contexts of its prompts that are loaded
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
  // Composes the next step. With `decodes` false it only prefills.
  StepWork Plan(Seconds now, Seconds seen, bool decodes);
  // Ends the planned step: `end`, and the time at which first tokens are out. Appends the requests that are done.
  void Finish(Seconds end, Seconds first, std::vector<std::size_t>& done);
  // The earliest time after `now` at which a running request continues; infinite if none waits so.
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
  // Tokens of a prompt that a step with room for `budget` takes; 0: none.
  [[nodiscard]] Count PartOf(const SimulatedRequest& request, double budget) const;
  [[nodiscard]] bool IsCollecting(Seconds seen);
  // Takes the kept context of its session; one from below the device is loaded in its step, or before.
  void TakeContext(Seconds now, SimulatedRequest& request);
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
  // Of the first that waits: blocks of its prompt that others use, as of a version of the blocks.
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
