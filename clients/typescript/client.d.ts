import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];

type Method = "get" | "post" | "patch" | "delete";
type Routes<M extends Method> = {
  [R in keyof paths]: paths[R] extends Record<M, { responses: unknown }> ? R : never;
}[keyof paths];
type Operation<R extends keyof paths, M extends Method> = NonNullable<paths[R][M]>;

type Content<T> = T extends { content: infer C }
  ? C extends { "application/json": infer J } ? J : C[keyof C]
  : never;
type Success<O> = O extends { responses: infer A } ? Content<A[keyof A & (200 | 201 | 202)]> : never;

type BriefName = keyof Schemas & `Brief${string}`;
type IsBrief<T> = true extends {
  [N in BriefName]: [T] extends [Schemas[N]] ? ([Schemas[N]] extends [T] ? true : false) : false;
}[BriefName] ? true : false;
// A receipt of an erasure is the same in both views.
type OnlyBrief<T> = T extends unknown
  ? (IsBrief<T> extends true ? T : T extends Schemas["ErasureAnswer"] ? T : never)
  : never;
type WithoutBrief<T> = T extends unknown ? (IsBrief<T> extends true ? never : T) : never;
type OrElse<T, Other> = [T] extends [never] ? Other : T;
/** What a call answers: with `view: "brief"` the brief form, if the answer has one, else the full. */
type Answer<O, A extends unknown[]> = A extends [{ query: { view: "brief" } }]
  ? OrElse<OnlyBrief<Success<O>>, Success<O>>
  : A extends [{ query: { view: infer V } }]
    ? "brief" extends V ? Success<O> : WithoutBrief<Success<O>>
    : WithoutBrief<Success<O>>;
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
  get<R extends Routes<"get">, A extends Arguments<Operation<R, "get">>>(
    route: R, ...options: A
  ): Promise<Answer<Operation<R, "get">, A>>;
  post<R extends Routes<"post">, A extends Arguments<Operation<R, "post">>>(
    route: R, ...options: A
  ): Promise<Answer<Operation<R, "post">, A>>;
  patch<R extends Routes<"patch">, A extends Arguments<Operation<R, "patch">>>(
    route: R, ...options: A
  ): Promise<Answer<Operation<R, "patch">, A>>;
  delete<R extends Routes<"delete">, A extends Arguments<Operation<R, "delete">>>(
    route: R, ...options: A
  ): Promise<Answer<Operation<R, "delete">, A>>;
  /** Yield the items of a list, over all its pages. */
  items<R extends Routes<"get">, A extends Arguments<Operation<R, "get">>>(
    route: R, ...options: A
  ): AsyncGenerator<Item<Answer<Operation<R, "get">, A>>>;
}
