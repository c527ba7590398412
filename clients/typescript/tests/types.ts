// Compiled, never run: the types of calls and answers. Each @ts-expect-error is a mistake that they catch.
import { Client, PalimpsestError, type Schemas } from "../client.js";

export async function tellStory(client: Client): Promise<string[]> {
  const stored = await client.post("/v1/memories", { body: { content: "I live in Lisbon" } });
  const operation: Schemas["Operation"] | null = stored.operation;
  const id: string = stored.memory?.id ?? String(operation);
  const found = await client.post("/v1/search", { body: { query: "home", as_of: "2021" } });
  const texts: (string | null)[] = found.results.map((hit) => hit.memory.content);
  await client.post("/v1/memories/{memory_id}/retract", { path: { memory_id: id } });
  await client.patch("/v1/memories/{memory_id}", {
    path: { memory_id: id }, body: { tags: ["home"] }, ifMatch: stored.memory?.etag,
  });
  for await (const memory of client.items("/v1/memories", { query: { limit: 2 } })) {
    texts.push(memory.content);
  }
  const brief = await client.get("/v1/search", { query: { q: "home", view: "brief" } });
  texts.push(...(brief.results ?? []).map((hit) => hit.content ?? null));
  for await (const memory of client.items("/v1/memories", { query: { view: "brief" } })) {
    const stale: boolean | undefined = memory.stale;
    texts.push(String(stale));
    // @ts-expect-error the full view has it
    texts.push(memory.etag);
  }
  const captured = await client.post("/v1/messages", {
    body: { session_id: "s", messages: [] }, query: { view: "brief" },
  });
  texts.push(...(captured.facts ?? []).map((fact) => fact.content ?? null));
  // @ts-expect-error of the full view
  texts.push(captured.messages);
  // @ts-expect-error a hit in brief is no memory within a hit
  texts.push(...(brief.results ?? []).map((hit) => hit.memory.content));
  const ready: Schemas["Health"] = await client.get("/readyz");

  // @ts-expect-error a fact has a content
  await client.post("/v1/memories", { body: { contents: "x" } });
  // @ts-expect-error the body is missing
  await client.post("/v1/memories");
  // @ts-expect-error the id is missing
  await client.get("/v1/memories/{memory_id}");
  // @ts-expect-error no such route
  await client.get("/v1/memory");
  // @ts-expect-error nothing is deleted there
  await client.delete("/v1/memories");
  // @ts-expect-error no such field
  return [...texts.map(String), ready.status, found.hits];
}

export const isMissing = (error: unknown): boolean =>
  error instanceof PalimpsestError && error.status === 404;
