// A scenario and recorded requests to play on it.
export const REQUEST = { model: { preset: "llama-3.1-8b" }, cluster: { preset: "dgx-h100" } };

// Requests at `rate` per second that all share their first block of 512 tokens.
export function traceOf(count, rate) {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const spread = (mean) => Math.max(1, Math.round(-mean * Math.log(random())));
  let at = 0;
  const lines = Array.from({ length: count }, (_, i) => {
    at += -Math.log(random()) / rate;
    const prompt = Math.min(60_000, 100 + spread(2000));
    const blocks = Array.from({ length: Math.ceil(prompt / 512) }, (_, k) => (k === 0 ? 0 : i * 128 + k));
    return { timestamp: Math.round(at * 1000), input_length: prompt, output_length: spread(250), hash_ids: blocks };
  });
  return lines.map((line) => JSON.stringify(line)).join("\n");
}
