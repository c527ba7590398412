/** The client of Palimpsest: `fetch` with keys, retries and problems as errors. Types: client.d.ts. */

const AGAIN = new Set([429, 502, 503, 504]);
const POSITION = "Palimpsest-Position";
const environment = globalThis.process?.env ?? {};

/** An answer that is no success, or no answer at all (`status` 0). */
export class PalimpsestError extends Error {
  constructor(status, problem, { retryAfter, idempotencyKey, cause } = {}) {
    super(problem.detail, { cause });
    this.name = "PalimpsestError";
    Object.assign(this, { status, problem, retryAfter, idempotencyKey });
    this.type = problem.type ?? "about:blank";
    this.errors = problem.errors ?? [];
  }
}

export class Client {
  #settings;
  // What this client and those for other agents wrote last: their reads see it on replicas too.
  #latest = { position: undefined };

  constructor(settings = {}) {
    const { PALIMPSEST_URL, PALIMPSEST_API_KEY, PALIMPSEST_AGENT } = environment;
    const defaults = { tries: 4, timeout: 60_000, within: 30_000, fetch: globalThis.fetch };
    this.#settings = {
      ...defaults,
      baseUrl: PALIMPSEST_URL ?? "http://127.0.0.1:8000",
      apiKey: PALIMPSEST_API_KEY,
      agent: PALIMPSEST_AGENT || undefined,
      ...settings,
    };
    const { agent } = this.#settings;
    if (agent !== undefined && !/^[\x21-\x7e]{1,128}$/.test(agent)) {
      const others = "percent-encode others, as in Zo%C3%AB";
      throw new RangeError(`agent: give 1 to 128 printable ASCII characters without blanks; ${others}`);
    }
  }

  /** Return a client for another agent. */
  agent(name) {
    const other = new Client({ ...this.#settings, agent: name });
    other.#latest = this.#latest;
    return other;
  }

  get(route, options) {
    return this.#call("GET", route, options);
  }

  post(route, options) {
    return this.#call("POST", route, options);
  }

  patch(route, options) {
    return this.#call("PATCH", route, options);
  }

  delete(route, options) {
    return this.#call("DELETE", route, options);
  }

  /** Yield the items of a list, over all its pages. */
  async *items(route, options = {}) {
    let cursor = options.query?.cursor;
    do {
      const page = await this.get(route, { ...options, query: { ...options.query, cursor } });
      yield* page.items ?? page.versions;
      cursor = page.next_cursor;
    } while (cursor);
  }

  async #call(method, route, options = {}) {
    const { tries, within } = this.#settings;
    const key = takesKey(method, route) ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const isRepeatable = method === "GET" || route === "/v1/search" || key !== undefined;
    const began = Date.now();
    for (let tried = 1; ; tried++) {
      const outcome = await this.#try(method, route, options, key);
      if (!(outcome instanceof PalimpsestError)) return outcome;
      const pause = isRepeatable || outcome.status === 429 ? findPause(outcome, tried) : undefined;
      const elapsed = Date.now() - began;
      if (pause === undefined || tried >= tries || elapsed + pause > within) throw outcome;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** Return the answer, or the error that it is. */
  async #try(method, route, options, idempotencyKey) {
    const { baseUrl, timeout, fetch } = this.#settings;
    const url = baseUrl.replace(/\/$/, "") + buildPath(route, options);
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    const isRead = method === "GET" || route === "/v1/search";
    const position = isRead ? this.#latest.position : undefined;
    const headers = this.#listHeaders(options, idempotencyKey, body, position);
    try {
      const signal = AbortSignal.timeout(timeout);
      // Followed to another host, a redirect would carry the key there.
      const response = await fetch(url, { method, headers, body, signal, redirect: "error" });
      this.#notePosition(response.headers.get(POSITION));
      const isJson = /json/.test(response.headers.get("content-type") ?? "");
      const answer = isJson ? await response.json() : await response.text();
      if (response.ok) return answer;
      const detail = `${url} does not answer like Palimpsest (status ${response.status}).`;
      const retryAfter = readRetryAfter(response);
      const problem = isJson ? answer : { detail };
      return new PalimpsestError(response.status, problem, { retryAfter, idempotencyKey });
    } catch (cause) {
      const detail = `no answer from ${baseUrl}: ${cause.cause?.message ?? cause.message}`;
      return new PalimpsestError(0, { detail }, { idempotencyKey, cause });
    }
  }

  #notePosition(text) {
    const { position } = this.#latest;
    if (text && (!position || rank(text) > rank(position))) this.#latest.position = text;
  }

  #listHeaders(options, idempotencyKey, body, position) {
    const headers = {
      "X-Agent-Id": this.#settings.agent,
      "X-API-Key": this.#settings.apiKey,
      "Idempotency-Key": idempotencyKey,
      "If-Match": options.ifMatch,
      [POSITION]: position,
      "Content-Type": body && "application/json",
    };
    return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  }
}

/** Return a position in the write-ahead log as a number. */
function rank(position) {
  const [high, low] = position.split("/");
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** Calls about keys, and the search, take no Idempotency-Key. */
function takesKey(method, route) {
  return method !== "GET" && route !== "/v1/search" && !route.startsWith("/v1/keys");
}

/** Return the milliseconds until the next try; undefined if another one cannot succeed. */
function findPause({ status, retryAfter, type }, tried) {
  if (status !== 0 && !AGAIN.has(status)) return undefined;
  if (status === 503 && retryAfter === undefined && type !== "about:blank") return undefined;
  if (retryAfter !== undefined) return retryAfter * 1000;
  return Math.min(8000, 250 * 2 ** (tried - 1)) * (0.5 + Math.random() / 2);
}

function readRetryAfter(response) {
  const seconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  return Number.isNaN(seconds) ? undefined : seconds;
}

function encodePart(part) {
  // A URL cannot hold these: `fetch` would call another route.
  if (["", ".", ".."].includes(String(part))) throw new TypeError(`"${part}" is no part of a path`);
  return encodeURIComponent(part);
}

function buildPath(route, { path = {}, query = {} }) {
  const filled = route.replace(/{(\w+)}/g, (_, name) => encodePart(path[name]));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().filter((one) => one != null).map((one) => [name, String(one)]),
  );
  return pairs.length ? `${filled}?${new URLSearchParams(pairs)}` : filled;
}
