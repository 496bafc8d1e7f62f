// Requests as somebody recorded them: when each came, how long it was, and what of its prompt others share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/quantity.h"

namespace slipstick {

struct TracedRequest {
  // Since the start of the trace. None: nobody recorded it, or the request follows `delay` after the turn before it.
  std::optional<Seconds> arrival;
  std::optional<Seconds> delay;
  Count prompt = 1, output = 1;
  Count session = -1;                 // none; its requests are in the order of its turns
  std::vector<std::uint32_t> blocks;  // of the prompt, from its start: equal numbers are equal tokens after equal ones
};

// Tokens that a turn shares with what was said before it, as far as lengths tell: all of it; the prompt alone, where
// the answer was not kept whole; or nothing, where it begins anew.
inline Count ReusableOf(const TracedRequest& before, const TracedRequest& turn) {
  const Count all = before.prompt + before.output;
  return turn.prompt >= all ? all : turn.prompt >= before.prompt ? before.prompt : 0;
}

struct RequestTrace {
  std::vector<TracedRequest> requests;  // by arrival, as far as it is known
  Count block = 0;                      // tokens of a block; 0: no request has blocks
  Count sessions = 0;
  bool has_times = false;                // of every request, but those with a delay
  std::optional<double> requests_per_s;  // at which they were sent, where they have no times
  std::string format;
  std::vector<std::string> notes;  // on things left out or assumed
};

}  // namespace slipstick
