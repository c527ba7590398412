import type { LanguageModelMiddleware, Tool } from "ai";
import type { Client } from "palimpsest-memory-client";

export interface MemorySettings {
  /** Its agent is whose memory it is, unless a call names another. */
  client: Client;
  /** The conversation that messages belong to, unless a call names another. */
  sessionId?: string;
  /** The most tokens that the memory takes in a prompt. Default: 1000. */
  budgetTokens?: number;
}

/** What `providerOptions.palimpsest` of a call may hold. */
export type CallOptions = {
  /** Whose memory it is. */
  agent?: string;
  /** The conversation that the messages belong to. */
  sessionId?: string;
};

/**
 * Middleware for `wrapLanguageModel`.
 *
 * Puts what the memory holds before the user's latest words, in what the model is sent alone. Once
 * the model has answered, stores both messages and the facts that the user stated.
 */
export function createMemory(settings: MemorySettings): LanguageModelMiddleware;

/** Tools for `generateText` and `streamText`. */
export function createMemoryTools(client: Client): {
  /** Searches the memory, also as of an earlier day. */
  searchMemory: Tool<{ question: string; asOf?: string }, string[]>;
};
