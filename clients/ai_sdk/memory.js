// @ts-check
/** The AI SDK's middleware and tools on the client of Palimpsest. Types: memory.d.ts. */

import { jsonSchema, tool } from "ai";

/** @typedef {import("@ai-sdk/provider").LanguageModelV4CallOptions} Params */
/** @typedef {import("@ai-sdk/provider").LanguageModelV4Prompt} Prompt */
/** @typedef {import("@ai-sdk/provider").LanguageModelV4StreamPart} StreamPart */

const CONTEXT = "[memory context begins]"; // the first line of each context

/** @type {typeof import("./memory.js").createMemory} */
export function createMemory({ client, sessionId = "ai-sdk", budgetTokens = 1000 }) {
  /** @param {Params} params */
  function choose(params) {
    const options = params.providerOptions?.palimpsest ?? {};
    return {
      client: options.agent === undefined ? client : client.agent(encodeURI(String(options.agent))),
      sessionId: String(options.sessionId ?? sessionId),
    };
  }

  /**
   * Store the user's latest words and the answer; a step that calls tools is no answer yet.
   * @param {Params} params
   * @param {string} answer
   * @param {string} finishReason
   */
  async function capture(params, answer, finishReason) {
    if (finishReason === "tool-calls") return;
    const { client, sessionId } = choose(params);
    const said = [
      { role: /** @type {const} */ ("user"), content: readLatest(params.prompt) },
      { role: /** @type {const} */ ("assistant"), content: answer },
    ];
    const messages = said.filter(({ content }) => content.trim());
    if (messages.length) {
      await client.post("/v1/messages", { body: { session_id: sessionId, messages } });
    }
  }

  return {
    specificationVersion: "v4",

    async transformParams({ params }) {
      const query = readLatest(params.prompt);
      const options = { query: { query: query || undefined, budget_tokens: budgetTokens } };
      const answer = await choose(params).client.get("/v1/context", options);
      const text = typeof answer === "string" ? answer : answer.text;
      return text ? { ...params, prompt: addContext(params.prompt, text) } : params;
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const texts = result.content.map((part) => (part.type === "text" ? part.text : ""));
      await capture(params, texts.join(""), result.finishReason.unified);
      return result;
    },

    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      let answer = "";
      /** @type {TransformStream<StreamPart, StreamPart>} */
      const listener = new TransformStream({
        async transform(part, controller) {
          if (part.type === "text-delta") answer += part.delta;
          if (part.type === "finish") await capture(params, answer, part.finishReason.unified);
          controller.enqueue(part);
        },
      });
      return { stream: stream.pipeThrough(listener), ...rest };
    },
  };
}

/** @type {typeof import("./memory.js").createMemoryTools} */
export function createMemoryTools(client) {
  return {
    searchMemory: tool({
      description: "Search what is known about the user, also as of an earlier day.",
      inputSchema: jsonSchema({
        type: "object",
        properties: {
          question: { type: "string", description: "What to look for." },
          asOf: {
            type: "string",
            description: "A day, such as 2025-06-30: what was true then. Default: now.",
          },
        },
        required: ["question"],
        additionalProperties: false,
      }),
      /** @param {{ question: string, asOf?: string }} input */
      async execute({ question, asOf }) {
        const body = { query: question, limit: 10, as_of: asOf };
        const { results } = await client.post("/v1/search", { body });
        return results.map(({ memory }) => memory.content ?? "");
      },
    }),
  };
}

/**
 * Return the user's latest words.
 * @param {Prompt} prompt
 */
function readLatest(prompt) {
  const message = prompt.findLast(({ role }) => role === "user");
  if (message?.role !== "user") return "";
  const texts = message.content.map((part) => (part.type === "text" ? part.text : ""));
  return texts.filter((text) => text && !text.startsWith(CONTEXT)).join("\n");
}

/**
 * Return the prompt with a context before the user's latest words.
 * @param {Prompt} prompt
 * @param {string} text
 * @returns {Prompt}
 */
function addContext(prompt, text) {
  const place = prompt.findLastIndex(({ role }) => role === "user");
  return prompt.map((message, at) =>
    at === place && message.role === "user"
      ? { ...message, content: [{ type: "text", text }, ...message.content] }
      : message,
  );
}
