// Reads a file of recorded requests. Formats, each as its source writes it:
//
//   Mooncake     a request per line: timestamp (ms), input_length, output_length, hash_ids of blocks of 512 tokens
//                (kvcache-ai/Mooncake FAST25-release/traces). With session_id, and delay (ms) in place of timestamp,
//                the turns of a session (ai-dynamo/dynamo docs/dynosim/trace-formats.md): each has its full prompt (a
//                note asks where it seems to have only what it adds) and is sent when the turn before it is done.
//   Bailian      the same with chat_id and parent_chat_id, timestamp in seconds and blocks of 16 tokens
//                (alibaba-edu/qwen-bailian-usagetraces-anon, as ai-dynamo/aiperf docs/tutorials/bailian-trace.md says).
//   agent        an object per conversation: requests of t (s), in, out and hash_ids, with block_size
//                (callanjfox/kv-cache-tester docs/trace_replay_tester.md, which aiperf calls weka_trace).
//   benchmark    a result of `vllm bench serve --save-detailed` or of SGLang's bench_serving --output-details:
//                input_lens, output_lens and, where there are any, start_times; else request_rate and max_concurrency
//                (vllm/benchmarks/serve.py, python/sglang/bench_serving.py).
//
// If the file does not state the size of a block, it follows from the lengths and the numbers of blocks, where these
// cover the prompts; else it is the format's own.
#pragma once

#include <string_view>

#include "core/base/issue.h"
#include "core/simulation/request_trace.h"

namespace slipstick {

inline constexpr std::size_t kLongestTrace = 64'000'000;  // bytes

// The path of an issue is the line in the file.
Result<RequestTrace> ReadTrace(std::string_view text);

}  // namespace slipstick
