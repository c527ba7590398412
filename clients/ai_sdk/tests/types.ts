// What a program that uses the package is compiled against.
import { generateText, streamText, wrapLanguageModel, isStepCount, type LanguageModel } from "ai";
import { Client } from "palimpsest-memory-client";
import { createMemory, createMemoryTools, type CallOptions } from "palimpsest-memory-ai-sdk";

const client = new Client({ agent: "ada" });
const memory = createMemory({ client, sessionId: "chat-12", budgetTokens: 500 });
declare const plain: Parameters<typeof wrapLanguageModel>[0]["model"];
const model: LanguageModel = wrapLanguageModel({ model: plain, middleware: memory });
const palimpsest: CallOptions = { agent: "bob", sessionId: "chat-13" };
const { text } = await generateText({
  model,
  tools: createMemoryTools(client),
  stopWhen: isStepCount(3),
  prompt: "Where do I live?",
  providerOptions: { palimpsest },
});
const said: string = text;
for await (const part of streamText({ model, prompt: said }).textStream) console.log(part);

// @ts-expect-error: the client is needed
createMemory({ sessionId: "chat-12" });
// @ts-expect-error: the budget is a number
createMemory({ client, budgetTokens: "500" });
