// Questions that people who run, buy, train and design these systems ask in public threads, each as a command. The
// expected answers come from elsewhere: a physical bound, arithmetic on figures of the same answer, or a published
// measurement. Questions without an answer yet are listed as such.
import assert from "node:assert/strict";
import test from "node:test";
import { ask } from "./questions/asking.js";
import { DESIGN } from "./questions/design.js";
import { ONE_SERVER } from "./questions/one_server.js";
import { SERVING } from "./questions/serving.js";
import { TRAINING } from "./questions/training.js";

const QUESTIONS = [...SERVING, ...ONE_SERVER, ...TRAINING, ...DESIGN].sort((a, b) => a.number - b.number);

for (const row of QUESTIONS) {
  if (row.missing) test.todo(`${row.number}. ${row.question} (${row.missing})`);
  else test(`${row.number}. ${row.question}`, () => row.holds(ask(row.command, row.input)));
}

test("of 34 questions, 32 or more are answered", () => {
  assert.deepEqual(
    QUESTIONS.map(({ number }) => number),
    Array.from({ length: 34 }, (_, i) => i + 1),
  );
  assert.ok(QUESTIONS.filter(({ missing }) => !missing).length >= 32);
});
