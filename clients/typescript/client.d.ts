import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];

type Method = "get" | "post" | "patch" | "delete";
type Routes<M extends Method> = {
  [R in keyof paths]: paths[R] extends Record<M, { responses: unknown }> ? R : never;
}[keyof paths];
type Operation<R extends keyof paths, M extends Method> = NonNullable<paths[R][M]>;

type Content<T> = T extends { content: infer C } ? C[keyof C] : never;
type Success<O> = O extends { responses: infer A } ? Content<A[keyof A & (200 | 201 | 202)]> : never;
type Part<O, Name extends "path" | "query"> = O extends { parameters: infer P }
  ? Name extends keyof P ? P[Name] : never
  : never;
type Body<O> = O extends { requestBody: infer B }
  ? { body: Content<B> }
  : O extends { requestBody?: infer B } ? { body?: Content<NonNullable<B>> } : { body?: undefined };

/** The parameters of a call: required where the operation requires them. */
export type Options<O> = Body<O> & {
  idempotencyKey?: string;
  ifMatch?: string;
} & ([Part<O, "path">] extends [never | undefined] ? { path?: undefined } : { path: Part<O, "path"> })
  & (undefined extends Part<O, "query"> ? { query?: Part<O, "query"> } : { query: Part<O, "query"> });

type Arguments<O> = {} extends Options<O> ? [options?: Options<O>] : [options: Options<O>];
type Item<Page> = Page extends { items: (infer I)[] } | { versions: (infer I)[] } ? I : never;

export interface Settings {
  /** Default: PALIMPSEST_URL, else http://127.0.0.1:8000. */
  baseUrl?: string;
  /** Default: PALIMPSEST_API_KEY. */
  apiKey?: string;
  /** Default: PALIMPSEST_AGENT, else what the service chooses. */
  agent?: string;
  /** How often a call is tried. */
  tries?: number;
  /** Milliseconds after which a try has failed. */
  timeout?: number;
  /** Milliseconds after which no further try begins. */
  within?: number;
  fetch?: typeof globalThis.fetch;
}

/** An answer that is no success, or no answer at all (`status` 0). */
export class PalimpsestError extends Error {
  readonly status: number;
  readonly type: string;
  readonly problem: Partial<Schemas["Problem"]>;
  readonly errors: { at: string; reason: string }[];
  /** Seconds after which the service wants to be asked again. */
  readonly retryAfter?: number;
  /** Of a write: repeat the call with it, and it is executed at most once. */
  readonly idempotencyKey?: string;
}

/** A client of a running service. Routes, parameters and answers are those of its OpenAPI document. */
export class Client {
  constructor(settings?: Settings);
  /** Return a client for another agent. */
  agent(name: string): Client;
  get<R extends Routes<"get">>(
    route: R, ...options: Arguments<Operation<R, "get">>
  ): Promise<Success<Operation<R, "get">>>;
  post<R extends Routes<"post">>(
    route: R, ...options: Arguments<Operation<R, "post">>
  ): Promise<Success<Operation<R, "post">>>;
  patch<R extends Routes<"patch">>(
    route: R, ...options: Arguments<Operation<R, "patch">>
  ): Promise<Success<Operation<R, "patch">>>;
  delete<R extends Routes<"delete">>(
    route: R, ...options: Arguments<Operation<R, "delete">>
  ): Promise<Success<Operation<R, "delete">>>;
  /** Yield the items of a list, over all its pages. */
  items<R extends Routes<"get">>(
    route: R, ...options: Arguments<Operation<R, "get">>
  ): AsyncGenerator<Item<Success<Operation<R, "get">>>>;
}
