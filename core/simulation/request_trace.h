// Recorded requests: their arrivals and lengths, and the parts of their prompts that others share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/quantity.h"

namespace slipstick {

struct TracedRequest {
  // Since the start of the trace. Absent: not recorded, or the request follows `delay` after the previous turn.
  std::optional<Seconds> arrival;
  std::optional<Seconds> delay;
  Count prompt = 1, output = 1;
  Count session = -1;                 // -1: none; requests of a session are in the order of its turns
  std::vector<std::uint32_t> blocks;  // of the prompt, in order: equal numbers are equal tokens after equal ones
};

// Tokens that a turn shares with the previous turn, as far as the lengths show: its whole context; only its prompt, if
// the answer was not kept as a whole; or nothing, if the turn starts over.
inline Count ReusableOf(const TracedRequest& before, const TracedRequest& turn) {
  const Count all = before.prompt + before.output;
  return turn.prompt >= all ? all : turn.prompt >= before.prompt ? before.prompt : 0;
}

struct RequestTrace {
  std::vector<TracedRequest> requests;  // sorted by arrival, as far as known
  Count block = 0;                      // tokens of a block; 0: no request has blocks
  Count sessions = 0;
  bool has_times = false;                // all requests have one, except those with a delay
  std::optional<double> requests_per_s;  // rate at which they were sent, if they have no times
  std::optional<Count> most_at_once;     // then the next request waits until one is done
  std::string format;
  std::vector<std::string> notes;  // about omissions and assumptions
};

}  // namespace slipstick
