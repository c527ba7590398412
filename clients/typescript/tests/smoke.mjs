// Against a running service: node tests/smoke.mjs URL
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Client, PalimpsestError } from "../client.js";

const client = new Client({ baseUrl: process.argv[2], agent: `node-${crypto.randomUUID()}` });
const slot = { key: "home", entity: "user" };
const store = (value, valid_from) =>
  client.post("/v1/memories", { body: { content: `Lives in ${value}`, value, valid_from, ...slot } });

const first = await store("Porto", "2020-01-01");
assert.equal(first.operation, "ADD");
assert.equal((await store("Lisbon", "2026-01-05")).operation, "UPDATE");
const search = async (as_of) =>
  (await client.post("/v1/search", { body: { query: "home", as_of } })).results.map((hit) => hit.memory.value);
assert.deepEqual(await search(), ["Lisbon"]);
assert.deepEqual(await search("2021"), ["Porto"]);

const path = { memory_id: first.memory.id };
const values = [];
for await (const version of client.items("/v1/memories/{memory_id}/history", { path })) values.push(version.value);
assert.deepEqual(values, ["Porto", "Lisbon"]);
const listed = [];
for await (const memory of client.items("/v1/memories", { query: { limit: 1, include_superseded: true } }))
  listed.push(memory.id);
assert.equal(listed.length, 2);

assert.throws(() => client.agent("Zoë"), /printable ASCII.*Zo%C3%AB/);
const isNotFound = (error) => error instanceof PalimpsestError && error.status === 404 && /no memory/.test(error.message);
await assert.rejects(client.agent("somebody-else").get("/v1/memories/{memory_id}", { path }), isNotFound);
await assert.rejects(client.post("/v1/memories", { body: { content: " " } }), (error) => error.errors[0].at === "content");
await assert.rejects(client.get("/v1/preferences/{key}", { path: { key: ".." } }), TypeError);
assert.match(await client.get("/metrics"), /palimpsest_/);

// A write is sent again with the same key.
const keys = [];
const server = createServer((request, response) => {
  keys.push(request.headers["idempotency-key"]);
  if (keys.length === 1) return request.socket.destroy();
  const status = keys.length === 2 ? 503 : 201;
  response.writeHead(status, { "content-type": "application/json", "retry-after": "0" });
  response.end(JSON.stringify({ operation: "ADD", type: "urn:x", detail: "Busy." }));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const scripted = new Client({ baseUrl: `http://127.0.0.1:${server.address().port}` });
assert.equal((await scripted.post("/v1/memories", { body: { content: "x" } })).operation, "ADD");
assert.equal(keys.length, 3);
assert.equal(new Set(keys).size, 1);
server.closeAllConnections();
server.close();

// A read carries the latest position of the writes before, those for other agents included.
const sent = [];
const answers = ["0/10", "0/9", "1/0"];
const fetch = async (_url, { method, headers }) => {
  sent.push(headers["Palimpsest-Position"]);
  const position = method === "GET" ? {} : { "Palimpsest-Position": answers.shift() };
  return Response.json({}, { headers: position });
};
const writer = new Client({ baseUrl: "http://scripted", fetch });
await writer.get("/v1/memories");
await writer.post("/v1/memories", { body: {} });
await writer.post("/v1/memories", { body: {} });
await writer.get("/v1/memories");
await writer.agent("other").post("/v1/memories", { body: {} });
await writer.get("/v1/memories");
assert.deepEqual(sent, [undefined, undefined, undefined, "0/10", undefined, "1/0"]);
console.log("ok");
