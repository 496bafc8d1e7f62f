// Recorded requests in the formats of their sources, and faulty files.
#include "core/replay/read_trace.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slipstick {
namespace {

RequestTrace TraceOf(const std::string& text) {
  Result<RequestTrace> trace = ReadTrace(text);
  for (const Issue& issue : trace.issues) ADD_FAILURE() << issue.path << ": " << issue.message;
  return trace ? std::move(*trace) : RequestTrace{};
}

Issue FirstIssueOf(const std::string& text) {
  const Result<RequestTrace> trace = ReadTrace(text);
  EXPECT_FALSE(trace) << text;
  return trace.issues.empty() ? Issue{} : trace.issues.front();
}

using Blocks = std::vector<std::uint32_t>;

// The second and the twelfth line of FAST25-release/traces/conversation_trace.jsonl, cut to short prompts: blocks of 512.
TEST(ImportTrace, ReadsMooncakesLines) {
  const RequestTrace trace = TraceOf(
      "{\"timestamp\": 3000, \"input_length\": 1600, \"output_length\": 490, \"hash_ids\": [0, 14, 15, 16]}\n"
      "\n"
      "{\"timestamp\": 6000, \"input_length\": 915, \"output_length\": 355, \"hash_ids\": [0, 462]}\n");
  ASSERT_EQ(trace.requests.size(), 2U);
  EXPECT_EQ(trace.format, "mooncake");
  EXPECT_EQ(trace.block, 512);
  EXPECT_TRUE(trace.has_times);
  EXPECT_EQ(trace.requests[0].arrival->base(), 0) << "from the first request on";
  EXPECT_EQ(trace.requests[1].arrival->base(), 3);
  EXPECT_EQ(trace.requests[0].prompt, 1600);
  EXPECT_EQ(trace.requests[0].output, 490);
  EXPECT_EQ(trace.requests[0].blocks, (Blocks{0, 1, 2, 3}));
  EXPECT_EQ(trace.requests[1].blocks, (Blocks{0, 4}));
}

// 2048 tokens in 32 blocks: Dynamo's converters write blocks of 64.
TEST(ImportTrace, TakesTheSizeOfABlockFromTheirNumber) {
  std::string ids;
  for (int i = 0; i < 32; ++i) ids += (i > 0 ? "," : "") + std::to_string(i);
  EXPECT_EQ(TraceOf("{\"timestamp\":0,\"input_length\":2048,\"output_length\":1,\"hash_ids\":[" + ids + "]}").block,
            64);
  EXPECT_EQ(TraceOf("{\"timestamp\":0,\"input_length\":2000,\"output_length\":1,\"hash_ids\":[" + ids + "]}").block,
            64);
}

// AIPerf: "prefix-only … `hash_ids` lists only the cached prefix". Three blocks of 512 before 10,000 tokens are not three
// of 4,096.
TEST(ImportTrace, TakesThePrefixOfAPromptForWhatItIs) {
  std::string text;
  for (int i = 0; i < 3; ++i)
    text +=
        "{\"timestamp\":" + std::to_string(i) + ",\"input_length\":10000,\"output_length\":9,\"hash_ids\":[0,1,2]}\n";
  const RequestTrace trace = TraceOf(text);
  EXPECT_EQ(trace.block, 512);
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_EQ(trace.notes[0],
            "hash_ids cover 15 % of the prompt tokens, in blocks of 512 tokens; the other tokens are shared with no "
            "request");
}

// Three prompts of other lengths whose numbers of blocks follow them tell a size larger than the format's own.
TEST(ImportTrace, TakesTheSizeThatAllLengthsImply) {
  const RequestTrace trace = TraceOf(
      "{\"timestamp\":0,\"input_length\":2048,\"output_length\":1,\"hash_ids\":[0,1]}\n"
      "{\"timestamp\":1,\"input_length\":3000,\"output_length\":1,\"hash_ids\":[0,1,2]}\n"
      "{\"timestamp\":2,\"input_length\":5120,\"output_length\":1,\"hash_ids\":[0,1,2,3,4]}\n");
  EXPECT_EQ(trace.block, 1024);
  ASSERT_EQ(trace.notes.size(), 1U);
  EXPECT_NE(trace.notes[0].find("The file does not state the size of a block: 1024 tokens"), std::string::npos);
}

TEST(ImportTrace, SortsByArrival) {
  const RequestTrace trace = TraceOf(
      "{\"timestamp\":2000,\"input_length\":2,\"output_length\":1}\n{\"timestamp\":1000,\"input_length\":1,\"output_"
      "length\":1}");
  EXPECT_EQ(trace.requests[0].prompt, 1);
  EXPECT_EQ(trace.requests[1].arrival->base(), 1);
}

// Dynamo's turns: a later turn is sent 500 ms after the previous answer.
TEST(ImportTrace, ReadsTheTurnsOfSessions) {
  const RequestTrace trace = TraceOf(
      "{\"session_id\":\"a\",\"timestamp\":1000,\"input_length\":2048,\"output_length\":128}\n"
      "{\"session_id\":\"b\",\"timestamp\":1500,\"input_length\":100,\"output_length\":5}\n"
      "{\"session_id\":\"a\",\"delay\":500,\"input_length\":3000,\"output_length\":64}\n");
  ASSERT_EQ(trace.requests.size(), 3U);
  EXPECT_EQ(trace.sessions, 2);
  // A turn without a time has that of the previous one.
  EXPECT_EQ(trace.requests[1].prompt, 3000);
  EXPECT_FALSE(trace.requests[1].arrival);
  EXPECT_EQ(trace.requests[1].delay->base(), 0.5);
  EXPECT_EQ(trace.requests[1].session, trace.requests[0].session);
  EXPECT_NE(trace.requests[2].session, trace.requests[0].session);
}

// 20,000 tokens, and 600 more per turn after answers of 300: whole prompts are 20,900 and 21,800.
TEST(ImportTrace, AsksWhetherTurnsAreDeltas) {
  const auto session = [](int second, int third) {
    return "{\"session_id\":1,\"timestamp\":0,\"input_length\":20000,\"output_length\":300}\n"
           "{\"session_id\":1,\"delay\":5000,\"input_length\":" +
           std::to_string(second) +
           ",\"output_length\":300}\n{\"session_id\":1,\"delay\":5000,\"input_length\":" + std::to_string(third) +
           ",\"output_length\":300}\n";
  };
  const RequestTrace deltas = TraceOf(session(600, 600));
  ASSERT_EQ(deltas.notes.size(), 1U);
  EXPECT_NE(deltas.notes[0].find("2 of 2 later turns are shorter"), std::string::npos) << deltas.notes[0];
  EXPECT_TRUE(TraceOf(session(20'900, 21'800)).notes.empty());
  EXPECT_TRUE(TraceOf(session(20'900, 600)).notes.empty()) << "one that starts over";
}

// The two lines of AIPerf's guide: times in seconds, and a chat that continues another.
TEST(ImportTrace, ReadsBailiansChats) {
  const RequestTrace trace = TraceOf(
      "{\"chat_id\": 159, \"parent_chat_id\": -1, \"timestamp\": 61.114, \"input_length\": 521, \"output_length\": "
      "132, "
      "\"type\": \"text\", \"turn\": 1}\n"
      "{\"chat_id\": 160, \"parent_chat_id\": 159, \"timestamp\": 62.5, \"input_length\": 676, \"output_length\": 80, "
      "\"type\": \"text\", \"turn\": 2}\n"
      "{\"chat_id\": 161, \"parent_chat_id\": -1, \"timestamp\": 63, \"input_length\": 20, \"output_length\": 8}\n");
  EXPECT_EQ(trace.format, "bailian");
  EXPECT_NEAR(trace.requests[1].arrival->base(), 1.386, 1e-9);
  EXPECT_EQ(trace.requests[0].session, trace.requests[1].session);
  EXPECT_NE(trace.requests[0].session, trace.requests[2].session);
}

// Agents' conversations: equal block numbers in two conversations are different blocks unless the file says otherwise.
TEST(ImportTrace, ReadsAgentsConversations) {
  const std::string conversation =
      "{\"id\":\"x\",\"block_size\":64,\"tool_tokens\":12,\"requests\":["
      "{\"t\":0.0,\"type\":\"s\",\"in\":150,\"out\":7,\"hash_ids\":[1,2],\"input_types\":[\"text\"]},"
      "{\"t\":15.0,\"type\":\"n\",\"in\":220,\"out\":9,\"hash_ids\":[1,2,3],\"stop\":\"tool_use\"},"
      "{\"t\":20.0,\"type\":\"subagent\",\"requests\":[{\"t\":0,\"in\":3,\"out\":4}]}]";
  const RequestTrace apart = TraceOf(conversation + "}\n" + conversation + "}\n");
  ASSERT_EQ(apart.requests.size(), 4U);
  EXPECT_EQ(apart.format, "agent");
  EXPECT_EQ(apart.block, 64);
  EXPECT_EQ(apart.sessions, 2);
  EXPECT_EQ(apart.requests[0].blocks, (Blocks{0, 1}));
  EXPECT_EQ(apart.requests[1].blocks, (Blocks{3, 4}));
  EXPECT_EQ(apart.requests[2].blocks, (Blocks{0, 1, 2}));
  EXPECT_EQ(apart.requests[2].arrival->base(), 15);
  EXPECT_EQ(apart.notes.size(), 1U) << "the sub-agents";
  const std::string global = conversation + ",\"hash_id_scope\":\"global\"}\n";
  EXPECT_EQ(TraceOf(global + global).requests[1].blocks, (Blocks{0, 1}));
}

// A detailed benchmark result with members that the reader ignores. A failed request has no output.
TEST(ImportTrace, ReadsResultsOfBenchmarks) {
  const RequestTrace vllm = TraceOf(
      "{\"date\": \"20260901\", \"request_rate\": 4.0, \"duration\": 3.5,\n \"input_lens\": [100, 200, 300],\n"
      " \"output_lens\": [10, 0, 30], \"start_times\": [7.25, 7.5, 8.25],\n"
      " \"itls\": [[0.01, 0.02], [], [0.03]], \"generated_texts\": [\"a]}\", \"\", \"c\"]}");
  ASSERT_EQ(vllm.requests.size(), 2U);
  EXPECT_EQ(vllm.format, "benchmark");
  EXPECT_EQ(vllm.requests[1].prompt, 300);
  EXPECT_EQ(vllm.requests[1].output, 30);
  EXPECT_EQ(vllm.requests[1].arrival->base(), 1);
  EXPECT_EQ(vllm.notes.size(), 1U);

  const RequestTrace sglang = TraceOf(
      "{\"backend\":\"sglang\",\"request_rate\":2.5,\"input_lens\":[5,6],\"output_lens\":[7,8],\"ttfts\":[0.1,0.2]}\n"
      "{\"backend\":\"sglang\",\"request_rate\":5,\"input_lens\":[5],\"output_lens\":[7]}\n");
  EXPECT_EQ(sglang.requests.size(), 2U) << "the first of two runs";
  EXPECT_FALSE(sglang.has_times);
  EXPECT_EQ(sglang.requests_per_s, 2.5);
  EXPECT_EQ(sglang.notes.size(), 1U);
  EXPECT_FALSE(TraceOf("{\"request_rate\":\"inf\",\"input_lens\":[5],\"output_lens\":[7]}").requests_per_s);
}

TEST(ImportTrace, ReadsAListOfRequests) {
  EXPECT_EQ(TraceOf("[{\"timestamp\":0,\"input_length\":2,\"output_length\":1},\n"
                    "{\"timestamp\":1,\"input_length\":2,\"output_length\":1}]")
                .requests.size(),
            2U);
}

TEST(HostileTrace, FaultsHaveTheirLine) {
  const std::string good = "{\"timestamp\":0,\"input_length\":2,\"output_length\":1}\n";
  EXPECT_EQ(FirstIssueOf(good + good + "{\"timestamp\":0,").path, "line 3");
  EXPECT_EQ(FirstIssueOf(good + "\n{\"timestamp\":0,\"input_length\":2}\n").path, "line 3");
  EXPECT_EQ(FirstIssueOf(good + "{\"timestamp\":0,\"input_length\":-2,\"output_length\":1}").path, "line 2");
  EXPECT_EQ(FirstIssueOf(good + "{\"timestamp\":0,\"input_length\":2.5,\"output_length\":1}").path, "line 2");
  EXPECT_EQ(FirstIssueOf(good + "{\"timestamp\":0,\"input_length\":\"2\",\"output_length\":1}").path, "line 2");
  EXPECT_EQ(FirstIssueOf(good + "{\"timestamp\":0,\"input_length\":1e300,\"output_length\":1}").path, "line 2");
  EXPECT_EQ(FirstIssueOf(good + "{\"input_length\":2,\"output_length\":1}").path, "line 2") << "a time is missing";
  EXPECT_EQ(FirstIssueOf(good + "{\"input_lens\":[2],\"output_lens\":[1]}").path, "line 2") << "another format";
  EXPECT_EQ(FirstIssueOf(good + "3\n[]\nnull\n{\"conversations\":[]}").path, "line 5");
  EXPECT_EQ(FirstIssueOf("{\"input_lens\":[2,3],\"output_lens\":[1]}").path, "line 1");
  for (const char* wrong : {"1", "[1.5]", "[\"a\"]", "[true]"}) {
    const std::string ids = std::string(",\"hash_ids\":") + wrong + "}";
    EXPECT_EQ(FirstIssueOf(good + "{\"timestamp\":0,\"input_length\":2,\"output_length\":1" + ids).path, "line 2")
        << wrong;
  }
  EXPECT_EQ(FirstIssueOf("{\"input_lens\":[\"a\"],\"output_lens\":[1]}").path, "line 1");
  EXPECT_EQ(FirstIssueOf("[\n{\"timestamp\":0,\n\"input_length\":2,]").path, "line 3");
}

TEST(HostileTrace, NothingToReadIsAnIssue) {
  for (const char* text :
       {"", "\n\n", "[]", "3", "\"a\"", "{}", "{\"requests\":[]}", "{\"input_lens\":[],\"output_lens\":[]}"})
    FirstIssueOf(text);
}

TEST(HostileTrace, MoreBlocksThanThePromptHasTokens) {
  EXPECT_FALSE(ReadTrace("{\"timestamp\":0,\"input_length\":2,\"output_length\":1,\"hash_ids\":[1,2,3]}"));
  EXPECT_FALSE(ReadTrace("{\"block_size\":64,\"requests\":[{\"t\":0,\"in\":60,\"out\":1,\"hash_ids\":[1,2,3]}]}"));
}

TEST(HostileTrace, SizesAreLimited) {
  EXPECT_FALSE(ReadTrace(std::string(kLongestTrace + 1, ' ')));
  std::string many = "{\"requests\":[{}";
  for (int i = 0; i < 200'000; ++i) many += ",{}";
  EXPECT_FALSE(ReadTrace(many + "]}"));
  EXPECT_FALSE(ReadTrace(std::string(1'000'000, '[')));
}

TEST(HostileTrace, AsManyIssuesAsAPersonReads) {
  std::string wrong;
  for (int i = 0; i < 1000; ++i) wrong += "{\"input_length\":0}\n";
  EXPECT_LE(ReadTrace(wrong).issues.size(), 12U);
}

}  // namespace
}  // namespace slipstick
