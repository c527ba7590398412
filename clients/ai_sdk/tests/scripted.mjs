// A model that answers what `answers` holds, else the same, and notes what it was sent.
import { simulateReadableStream } from "ai";
import { MockLanguageModelV4 } from "ai/test";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
/** @type {{ unified: "stop", raw: undefined }} */
const stop = { unified: "stop", raw: undefined };
/** @type {any[]} */
export const answers = [];
/** @type {string[]} */
export const requests = [];

export const scripted = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    requests.push(JSON.stringify(prompt));
    const content = [answers.shift() ?? { type: "text", text: "I see." }];
    const isCall = content[0].type === "tool-call";
    const finishReason = isCall ? { unified: /** @type {const} */ ("tool-calls"), raw: undefined } : stop;
    return { content, finishReason, usage, warnings: [] };
  },
  doStream: async ({ prompt }) => {
    requests.push(JSON.stringify(prompt));
    /** @type {import("@ai-sdk/provider").LanguageModelV4StreamPart[]} */
    const chunks = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "I " },
      { type: "text-delta", id: "1", delta: "see." },
      { type: "text-end", id: "1" },
      { type: "finish", finishReason: stop, usage },
    ];
    return { stream: simulateReadableStream({ chunks }) };
  },
});
