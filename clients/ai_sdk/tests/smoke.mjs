// Calls with a scripted model, on the service whose address is the argument.
import assert from "node:assert/strict";
import { generateText, isStepCount, streamText, wrapLanguageModel } from "ai";
import { Client } from "palimpsest-memory-client";
import { createMemory, createMemoryTools } from "palimpsest-memory-ai-sdk";
import { answers, requests, scripted } from "./scripted.mjs";

const client = new Client({ baseUrl: process.argv[2], agent: `ai-sdk-${crypto.randomUUID()}` });
const middleware = createMemory({ client, sessionId: "chat-12" });
const model = wrapLanguageModel({ model: scripted, middleware });

/** @param {Client} client */
async function listCaptures(client) {
  const captures = [];
  for await (const capture of client.items("/v1/captures")) captures.push(capture);
  return captures;
}

// What was said reaches later prompts as it holds now.
const first = await generateText({ model, prompt: "I live in Porto." });
assert.equal(first.text, "I see.");
await streamText({ model, prompt: "I moved to Lisbon." }).consumeStream();
await generateText({ model, prompt: "Where do I live?" });
assert.doesNotMatch(requests[0], /memory context/);
assert.match(requests[1], /I live in Porto/);
assert.match(requests[2], /I moved to Lisbon/);
assert.doesNotMatch(requests[2], /Porto/);

const captures = await listCaptures(client);
assert.deepEqual(captures.map(({ session_id, total }) => [session_id, total]), Array(3).fill(["chat-12", 2]));

// The model searches the memory as of a day; the step that calls is not stored as an answer.
await client.post("/v1/memories", { body: { content: "I work at Acme", key: "job", value: "Acme", valid_from: "2020" } });
await client.post("/v1/memories", { body: { content: "I work at Initech", key: "job", value: "Initech", valid_from: "2025" } });
const input = JSON.stringify({ question: "Where do I work?", asOf: "2021-05-01" });
answers.push({ type: "tool-call", toolCallId: "1", toolName: "searchMemory", input });
await generateText({
  model,
  tools: createMemoryTools(client),
  stopWhen: isStepCount(3),
  prompt: "Where did I work in 2021?",
});
assert.match(requests[4], /"tool-result".*I work at Acme/);
assert.equal((await listCaptures(client)).length, 4);

// A call may name the user and the conversation.
const bob = `Zoë@ai-sdk/${crypto.randomUUID()}`;
const providerOptions = { palimpsest: { agent: bob, sessionId: "chat-13" } };
await generateText({ model, prompt: "I play the cello.", providerOptions });
assert.doesNotMatch(requests[5], /Lisbon/);
const [capture] = await listCaptures(client.agent(encodeURI(bob)));
assert.equal(capture.session_id, "chat-13");
console.log("ok");
