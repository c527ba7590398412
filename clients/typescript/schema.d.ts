// Written by scripts/generate_types.py from the OpenAPI document; do not edit.

export interface components {
  schemas: {
    /** An acceptance, and what it is about if the review names several memories. */
    AcceptRequest: {
      /** A reason, for people. */
      note?: string | null;
      /** The ids of the candidates that the review is right about. A review that leaves a choice needs them. */
      memories?: string[] | null;
    };
    /** Who calls, and what the key of the call allows. */
    ActorOut: {
      /** The name in the log: `root`, `anonymous`, `key:` and an id, or `token:` … */
      actor: string;
      /** The kinds of calls that the key allows. */
      scopes: components["schemas"]["Scope"][];
      /** Ids of agents; `acme/*`: all below; `*`: all. */
      agents: string[];
      /** The agent of a call that names none; null if every call must name one. */
      agent: string | null;
      /** The highest trust that calls with this key may give, 0 to 100. */
      trust_ceiling: number;
      /** When it ends; null: never. */
      expires_at: string | null;
    };
    /** An agent, and how much it knows. */
    AgentOut: {
      /** Whose memories these are: the value of X-Agent-Id. */
      agent_id: string;
      /** When it was first written to. */
      created_at: string;
      /** The known time of its last write. */
      last_known_at: string | null;
      /** What becomes of changes; null: as the settings say. */
      mode: components["schemas"]["Mode"] | null;
      /** The time zone of the dates in its words; null: as the settings say. */
      timezone: string | null;
      /** Versions stored, those that no longer hold included. */
      memories: number;
    };
    /** What to change about an agent. What is left out stays. */
    AgentPatch: {
      /** live, shadow or frozen; null: as the settings say. */
      mode?: components["schemas"]["Mode"] | null;
      /** The time zone in which the dates in its words are read, by its IANA name, such as Europe/Lisbon; null: as the settings say. */
      timezone?: string | null;
    };
    /** Agents in order of their ids. */
    AgentsAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["AgentOut"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor: string | null;
    };
    /** An answer to one question. */
    AnswerItem: {
      /** The handle in the question, `4f2a01`, or the id of its review. */
      question: string;
      /** The letters of what ended, or is so; `none`, or an empty list, for none. */
      choice: string[] | string;
      /** Why, for the log. */
      note?: string | null;
    };
    /** What one answer came to. */
    AnsweredOut: {
      /** As the call named it. */
      question: string;
      /** Null if no review waits or waited under that name. */
      review_id: string | null;
      /** What came of it: the answer to the write, or a problem. */
      result: components["schemas"]["WriteAnswer"] | components["schemas"]["Problem"];
    };
    /** One result per answer, in order: what a decision answers, or a problem. */
    AnswersAnswer: {
      /** One result for each entry, in order. */
      results: components["schemas"]["AnsweredOut"][];
    };
    /** Answers of the agent's own model, each for itself. */
    AnswersRequest: {
      /** One for each question. */
      answers: components["schemas"]["AnswerItem"][];
    };
    /** Proposals of one relation, judge and confidence band. */
    BandOut: {
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** Which judge proposed them. */
      decided_by: string;
      /** The band is a tenth wide. */
      confidence_from: number;
      /** How many changes were proposed. */
      proposed: number;
      /** How many of them a person accepted. */
      accepted: number;
      /** How many of them a person rejected. */
      rejected: number;
      /** How many reviews wait. */
      pending: number;
      /** How many were never decided, because what they were about changed. */
      expired: number;
      /** Closed because another decision settled them. */
      overtaken: number;
      /** Accepted among the accepted and rejected. */
      precision: number | null;
      /** The latest reviews of the band. */
      examples: string[];
    };
    /** One result per item, in order: what a single store answers, or a problem. */
    BatchAnswer: {
      /** How many of the items left a change that was not made and waits for a decision, by the source of its review, most first; empty if none did. `cap`: one store, or judges within an hour, may end no more; a `history` has no cap of an hour. */
      waiting: Record<string, number>;
      /** One result for each entry, in order. */
      results: (components["schemas"]["StoreAnswer"] | components["schemas"]["Problem"])[];
    };
    /** Facts to store in order. Each item is a store request; one that cannot be stored fails alone unless `atomic`. An item takes no `dry_run`. */
    BatchRequest: {
      /** The entries of this page. */
      items: components["schemas"]["StoreRequest"][];
      /** true: one bad item refuses the whole batch. Default: a bad item fails alone. */
      atomic?: boolean;
      /** The items are a history that the caller vouches for: judges may end as many memories as they find, and these endings do not count against `PALIMPSEST_MAX_CLOSURES_PER_HOUR`. The key needs a trust ceiling of 100. */
      history?: boolean;
    };
    /** What was believed of a version's place in the chain, for a stretch of known time. */
    BeliefOut: {
      /** The known time from which it was believed. */
      known_from: string;
      /** Null: it is still believed. If a version's last belief here ended, it left the chain. */
      known_until: string | null;
      /** When it became true in the world. */
      valid_from: string;
      /** Null: no end was believed. */
      valid_until: string | null;
      /** The end that was stated. */
      said_until: string | null;
      /** It covered what came before it, and ended none of it. */
      temporary: boolean;
      /** The times in which it did not hold, because temporary memories covered it. */
      covered: components["schemas"]["CoverOut"][];
      /** true: it was believed never to have been true. */
      withdrawn: boolean;
      /** When it was retracted; null: it was not. */
      retracted_at: string | null;
      /** The memory that replaced it; null: none has. */
      superseded_by: string | null;
    };
    /** The beliefs by which versions stand or stood in a chain. Each covers a rectangle: from `valid_from` to `valid_until`, as believed from `known_from` to `known_until`. */
    BeliefsAnswer: {
      /** The chain of successive versions of one fact; all of them have the same. */
      chain_id: string;
      /** What stands or once stood in the chain, in the order of `created_at`. */
      versions: components["schemas"]["BelievedVersionOut"][];
      /** True if the earliest were left out: of over 200 versions or 2,000 beliefs. */
      truncated: boolean;
    };
    /** A version that stands or once stood in a chain, with the beliefs by which it did. */
    BelievedVersionOut: {
      /** Its id. */
      id: string;
      /** Null if it was erased. */
      content: string | null;
      /** What sort of statement: fact, preference, decision or constraint. */
      kind: components["schemas"]["Kind"];
      /** When it became known to the service. */
      created_at: string;
      /** When it was erased; null: it was not. */
      erased_at: string | null;
      /** In the order in which they became known. */
      beliefs: components["schemas"]["BeliefOut"][];
    };
    /** What one answer came to. */
    BriefAnswered: {
      /** As the call named it. */
      question: string;
      /** Left out if there is no such review. */
      review_id?: string | null;
      /** What deciding it came to. */
      result: components["schemas"]["BriefWriteAnswer"] | components["schemas"]["Problem"];
    };
    /** One result per answer, in order. */
    BriefAnswersAnswer: {
      /** One result for each entry, in order. */
      results: components["schemas"]["BriefAnswered"][];
    };
    /** One result per item, in order. */
    BriefBatchAnswer: {
      /** How many changes wait for a decision, by the source of their reviews. */
      waiting?: Record<string, number>;
      /** One result for each entry, in order. */
      results: (components["schemas"]["BriefStoreAnswer"] | components["schemas"]["Problem"])[];
    };
    /** A stored memory that the question may concern; `sentence` has its text. */
    BriefCandidate: {
      /** Its letter in the question, by which an answer chooses it. */
      letter: string;
      /** The memory concerned. */
      memory_id: string;
    };
    /** How far the messages of a call are read, and the facts. */
    BriefCaptureAnswer: {
      /** Left out on a dry run. */
      capture_id?: string | null;
      /** How it stands. */
      state: components["schemas"]["CaptureState"];
      /** Messages of this capture, without the repeated ones. */
      total: number;
      /** How many of them have been read. */
      done: number;
      /** In the order of the messages. */
      facts: components["schemas"]["BriefCapturedFact"][];
      /** Why the model's answer, or a part of it, was not used. */
      trouble?: string | null;
      /** What stopped it last. */
      error?: string | null;
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run?: boolean;
    };
    /** How far the messages of a call are read. */
    BriefCaptureSummary: {
      /** What GET /v1/captures/ID takes. */
      capture_id: string;
      /** Left out where the session was erased. */
      session_id?: string | null;
      /** How it stands. */
      state: components["schemas"]["CaptureState"];
      /** Its messages, without the repeated ones. */
      total: number;
      /** How many of them have been read. */
      done: number;
      /** When it arrived. */
      received_at: string;
      /** What stopped it last. */
      error?: string | null;
    };
    /** A fact that was read from a message, and what became of it. */
    BriefCapturedFact: {
      /** The place of its message in the call, from 0. */
      position: number;
      /** Left out where it was erased. */
      content?: string | null;
      /** Left out where it waits as a review, or for a `problem`. */
      operation?: components["schemas"]["Operation"] | null;
      /** The memory that says it. */
      memory_id?: string | null;
      /** What it ended. Left out in answers of later calls. */
      superseded?: components["schemas"]["SupersededOut"][];
      /** What undoes it. */
      log_id?: string | null;
      /** The review that waits for a person. */
      review_id?: string | null;
      /** Why it could not be stored. */
      problem?: string | null;
      /** An earlier capture has its message, and stored it. */
      repeated?: boolean;
    };
    /** A page of captures, newest first. */
    BriefCapturesAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["BriefCaptureSummary"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor?: string | null;
    };
    /** What holds, as text for a prompt. */
    BriefContextAnswer: {
      /** The words. */
      text: string;
      /** Tokens of the text, by estimate. */
      tokens: number;
      /** How many others hold that did not fit. */
      left_out?: number;
      /** The questions in the text. */
      questions?: components["schemas"]["ContextQuestionOut"][];
    };
    /** One result per review, in order. */
    BriefDecideAnswer: {
      /** One result for each entry, in order. */
      results: components["schemas"]["BriefDecided"][];
    };
    /** What became of one review. */
    BriefDecided: {
      /** The review; null where there is none. */
      review_id: string;
      /** What deciding it came to. */
      result: components["schemas"]["BriefWriteAnswer"] | components["schemas"]["Problem"];
    };
    /** The line of a memory, oldest first, and the operations on it. */
    BriefHistoryAnswer: {
      /** The version that holds at as_of. */
      current?: string | null;
      /** The versions, oldest first. */
      versions: components["schemas"]["BriefMemory"][];
      /** Where it goes on in another chain. */
      joints?: components["schemas"]["JointOut"][];
      /** What changed them. */
      operations: components["schemas"]["BriefOperation"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor?: string | null;
    };
    /** A page of memories. */
    BriefListAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["BriefMemory"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor?: string | null;
      /** The order is that of the strengths at this time, if it is there. */
      strength_as_of?: string | null;
    };
    /** A version in brief. */
    BriefMemory: {
      /** Its id. */
      id: string;
      /** Left out where it was erased. */
      content?: string | null;
      /** How it stands at the moment of the answer. */
      status: components["schemas"]["Status"];
      /** When it became true in the world. */
      valid_from: string;
      /** Left out where no end is known. */
      valid_until?: string | null;
      /** What it rests on has ended: look whether it is still right. */
      stale?: boolean;
    };
    /** One operation. */
    BriefOperation: {
      /** Its id. */
      id: string;
      /** What was done: ADD, UPDATE, NOOP and so on. */
      operation: components["schemas"]["Operation"];
      /** The memory that it made or changed. */
      target_memory_id?: string | null;
      /** The reasons in words. */
      reasoning: string;
      /** When it became known to the service. */
      created_at: string;
    };
    /** A part of a text that was split, and what storing it came to. */
    BriefPart: {
      /** The words. */
      text: string;
      /** What storing it came to. */
      answer: components["schemas"]["BriefWriteAnswer"] | components["schemas"]["Problem"];
    };
    /** A memory found, and how well it matches. */
    BriefResult: {
      /** Its id. */
      id: string;
      /** Left out where it was erased. */
      content?: string | null;
      /** How it stands at the moment of the answer. */
      status: components["schemas"]["Status"];
      /** When it became true in the world. */
      valid_from: string;
      /** Left out where no end is known. */
      valid_until?: string | null;
      /** What it rests on has ended: look whether it is still right. */
      stale?: boolean;
      /** The chance that it answers the question, 0 to 1, beside the others that may. */
      score: number;
      /** The reviews that wait and concern it. */
      in_question?: string[];
    };
    /** What undoing did; `superseded` names what it withdrew. */
    BriefRevertAnswer: {
      /** Left out where the agent is frozen and the fact waits as a review. */
      operation?: components["schemas"]["Operation"] | null;
      /** The memory concerned; null where there is none to show. */
      memory?: components["schemas"]["BriefMemory"] | null;
      /** What it ended. */
      superseded?: components["schemas"]["SupersededOut"][];
      /** What undoes it. Left out on a dry run. */
      log_id?: string | null;
      /** The review that waits for a person. */
      review_id?: string | null;
      /** That review, for the agent's own model. */
      question?: string | null;
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run?: boolean;
      /** Secrets that were taken out of the request. */
      redacted?: number;
      /** What should be known before acting on it. */
      hints?: string[];
      /** What rests on a memory that it ended. */
      stale?: string[];
      /** The operations undone, newest first. */
      reverted: string[];
    };
    /** What was undone, newest first; on a dry run, what would be. */
    BriefRevertsAnswer: {
      /** The operations undone. */
      reverted: string[];
      /** What undoing each of them did. */
      results: components["schemas"]["BriefWriteAnswer"][];
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run?: boolean;
    };
    /** A change that waits for a person, or waited. */
    BriefReview: {
      /** Its id. */
      id: string;
      /** How it stands at the moment of the answer. */
      status: components["schemas"]["ReviewStatus"];
      /** Where it comes from, such as a file or a tool. */
      source: components["schemas"]["ReviewSource"];
      /** The question, with both texts. */
      sentence: string;
      /** What the question may concern. */
      candidates?: components["schemas"]["BriefCandidate"][];
      /** The fact that was stored beside, for now. */
      memory_id?: string | null;
      /** What the person said who decided it. */
      note?: string | null;
      /** When it became known to the service. */
      created_at: string;
    };
    /** A review with what accepting it now would do. */
    BriefReviewDetail: {
      /** Its id. */
      id: string;
      /** How it stands at the moment of the answer. */
      status: components["schemas"]["ReviewStatus"];
      /** Where it comes from, such as a file or a tool. */
      source: components["schemas"]["ReviewSource"];
      /** The question, with both texts. */
      sentence: string;
      /** What the question may concern. */
      candidates?: components["schemas"]["BriefCandidate"][];
      /** The fact that was stored beside, for now. */
      memory_id?: string | null;
      /** What the person said who decided it. */
      note?: string | null;
      /** When it became known to the service. */
      created_at: string;
      /** What it is about, as it stands. */
      before?: components["schemas"]["BriefMemory"][];
      /** The same, once it is accepted. */
      after?: components["schemas"]["BriefMemory"][];
      /** Why it cannot be accepted as things are. */
      obstacle?: string | null;
    };
    /** A page of reviews, newest first. */
    BriefReviewsAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["BriefReview"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor?: string | null;
    };
    /** Best first. */
    BriefSearchAnswer: {
      /** One result for each entry, in order. */
      results: components["schemas"]["BriefResult"][];
      /** Messages, if they were to be searched. */
      turns?: components["schemas"]["BriefTurn"][];
      /** The time that the query asks about. */
      window?: components["schemas"]["WindowOut"] | null;
      /** Others were found: narrow the search. */
      truncated?: boolean;
    };
    /** What a store did; of a text that was split, what the first of its parts did. */
    BriefStoreAnswer: {
      /** Left out where the agent is frozen and the fact waits as a review. */
      operation?: components["schemas"]["Operation"] | null;
      /** The memory concerned; null where there is none to show. */
      memory?: components["schemas"]["BriefMemory"] | null;
      /** What it ended. */
      superseded?: components["schemas"]["SupersededOut"][];
      /** What undoes it. Left out on a dry run. */
      log_id?: string | null;
      /** The review that waits for a person. */
      review_id?: string | null;
      /** That review, for the agent's own model. */
      question?: string | null;
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run?: boolean;
      /** Secrets that were taken out of the request. */
      redacted?: number;
      /** What should be known before acting on it. */
      hints?: string[];
      /** What rests on a memory that it ended. */
      stale?: string[];
      /** The parts of a text that was split, in order. */
      parts?: components["schemas"]["BriefPart"][];
    };
    /** A message that was found. */
    BriefTurn: {
      /** Who spoke. */
      role: components["schemas"]["Role"];
      /** Its name. */
      name?: string | null;
      /** The fact in words. */
      content: string;
      /** When it was said. */
      said_at: string;
      /** The chance that it answers the question, 0 to 1, beside the others that may. */
      score: number;
    };
    /** What a write did. */
    BriefWriteAnswer: {
      /** Left out where the agent is frozen and the fact waits as a review. */
      operation?: components["schemas"]["Operation"] | null;
      /** The memory concerned; null where there is none to show. */
      memory?: components["schemas"]["BriefMemory"] | null;
      /** What it ended. */
      superseded?: components["schemas"]["SupersededOut"][];
      /** What undoes it. Left out on a dry run. */
      log_id?: string | null;
      /** The review that waits for a person. */
      review_id?: string | null;
      /** That review, for the agent's own model. */
      question?: string | null;
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run?: boolean;
      /** Secrets that were taken out of the request. */
      redacted?: number;
      /** What should be known before acting on it. */
      hints?: string[];
      /** What rests on a memory that it ended. */
      stale?: string[];
    };
    /** A stored memory the fact was compared with; `relation` is null where nothing certain can be said. */
    CandidateOut: {
      /** Its id. */
      id: string;
      /** The fact in words. */
      content: string;
      /** Cosine of the two texts, -1 to 1. */
      similarity: number | null;
      /** How the fact stands to this one; null: it was not judged. */
      relation: components["schemas"]["Relation"] | null;
      /** How sure the judge was, 0 to 1; null: it was not judged. */
      confidence: number | null;
      /** The reasons in words. */
      reasoning: string | null;
      /** The reasons that rules found, each with a confidence. */
      signals: components["schemas"]["SignalOut"][];
      /** Why the two cannot be about the same thing. */
      vetoes: string[];
    };
    /** The messages of a call, how far they are read, and the facts of each. */
    CaptureAnswer: {
      /** Null on a dry run. */
      capture_id: string | null;
      /** Null if the session was erased. */
      session_id: string | null;
      /** How it stands. */
      state: components["schemas"]["CaptureState"];
      /** What was asked to read the facts. */
      extract: components["schemas"]["ExtractBy"];
      /** What read them. `rules` if the model failed for a part of them. */
      extractor: components["schemas"]["ExtractBy"] | null;
      /** Why the model's answer, or a part of it, was not used. */
      trouble: string | null;
      /** The trust of the facts. */
      trust: number;
      /** Secrets that were taken out of the messages. */
      redacted: number;
      /** Messages of this capture, without the repeated ones. */
      total: number;
      /** How many of them have been read. */
      done: number;
      /** Messages of the call that an earlier capture has. */
      repeated: number;
      /** What stopped it last. */
      error: string | null;
      /** When it arrived. */
      received_at: string;
      /** A worker reads it then, if no further messages of the session come before. */
      due_at: string | null;
      /** When it ended; null: not yet. */
      finished_at: string | null;
      /** Whether nothing was stored, because the call asked what would be. */
      dry_run: boolean;
      /** The messages, each with the facts read from it and what became none. */
      messages: components["schemas"]["CapturedMessageOut"][];
    };
    /** How a capture stands: a worker goes on with a pending one. */
    CaptureState: "pending" | "done" | "failed";
    /** A fact that was read from a message, and what became of it. */
    CapturedFactOut: {
      /** Null if it was erased, or if the message is too old. */
      content: string | null;
      /** The words that it rests on, the speaker's own first. Facts of one sentence have the same quotes. */
      quotes: components["schemas"]["QuoteOut"][];
      /** Null if the agent is frozen and it waits as a review, or for a `problem`. */
      operation: components["schemas"]["Operation"] | null;
      /** The memory that says it. */
      memory_id: string | null;
      /** The operation in the log; null where none was written. */
      log_id: string | null;
      /** The review; null where there is none. */
      review_id: string | null;
      /** Why it could not be stored. */
      problem: string | null;
      /** What storing it came to. Null in answers of later calls. */
      answer: components["schemas"]["WriteAnswer"] | components["schemas"]["Problem"] | null;
    };
    /** A message, the facts that were read from it, and what of it became no fact. */
    CapturedMessageOut: {
      /** Its place in the call, from 0. */
      position: number;
      /** The id that the caller gave it; null: none. */
      id: string | null;
      /** Who spoke. */
      role: components["schemas"]["Role"];
      /** The name of the speaker; null: none. */
      name: string | null;
      /** As it is stored: without secrets, and with spaces for parts that were erased. Null if no word is left, or if it is too old. */
      content: string | null;
      /** When it was said. */
      at: string;
      /** The capture that has it. */
      capture_id: string;
      /** True if an earlier capture has it. It was not stored again. */
      repeated: boolean;
      /** False while its facts are not read yet. */
      done: boolean;
      /** The facts that were read from it, and what became of each. */
      facts: components["schemas"]["CapturedFactOut"][];
      /** The parts that became no fact, each with the reason. */
      skipped: components["schemas"]["SkippedOut"][];
    };
    /** Captures, newest first; the messages of each stand in the capture itself. */
    CapturesAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["ListedCapture"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor: string | null;
    };
    /** How many versions chains have; withdrawn ones are not counted. */
    ChainLengthsOut: {
      /** The shortest first, all of them. */
      histogram: components["schemas"]["LengthOut"][];
      /** The longest first. */
      longest: components["schemas"]["LongChainOut"][];
    };
    /** How often another value followed. */
    ChurnOut: {
      /** Null where no key was given. */
      slot: components["schemas"]["SlotOut"] | null;
      /** Null where the slot holds one value at a time: then all its chains are one line of values. */
      chain_id: string | null;
      /** Text of the newest value; null where it was erased. */
      content: string | null;
      /** The value that holds now. */
      current: string | null;
      /** Of what came. A slot whose values are of several kinds has an entry for each. */
      kind: components["schemas"]["Kind"];
      /** How often the value changed. */
      changes: number;
      /** In valid time. */
      first_changed_at: string;
      /** In valid time. */
      last_changed_at: string;
      /** The values, newest first; 20 at most. */
      memory_ids: string[];
      /** How many values there are in all. */
      versions: number;
    };
    /** Which judges are asked (rules, the local judge, a language model). */
    Classify: "off" | "rules" | "signals" | "cascade" | "model";
    /** What holds, by kind, most useful first: as text for a prompt, and as items in the order of the text. */
    ContextAnswer: {
      /** The context as text, ready for a prompt. */
      text: string;
      /** Tokens of the text, by the same estimate. */
      tokens: number;
      /** The memories of the text, by kind. */
      items: Record<string, components["schemas"]["ContextItemOut"][]>;
      /** How many others hold that did not fit. Equal texts count once where both were read. In a large agent, which has an index, no more than 3,000 are counted. */
      left_out: number;
      /** The open questions at the end of the text: POST /v1/reviews/answers. */
      questions: components["schemas"]["ContextQuestionOut"][];
      /** The valid time that the answer describes: what was true then. */
      as_of: string;
      /** The known time that the answer describes: as far as was known then. */
      known_at: string;
    };
    /** A memory, the line it takes in the text, how useful it is, 0 to 1, and what should be known before acting on it. */
    ContextItemOut: {
      /** The memory concerned; null where there is none to show. */
      memory: components["schemas"]["MemoryOut"];
      /** The line of the text that stands for it. */
      line: string;
      /** What it was chosen by: strength, and nearness to the query. */
      usefulness: number;
      /** The reviews that wait and ask whether it ended, or whether it ends another. */
      in_question: string[];
      /** `unstable_slot`, `flip_flop`: ask before acting on it. */
      hints: components["schemas"]["HintOut"][];
    };
    /** A question that waits, and the line it takes in the text. */
    ContextQuestionOut: {
      /** The review; null where there is none. */
      review_id: string;
      /** What names it in an answer, as the id of the review does. */
      handle: string;
      /** The line of the text that stands for it. */
      line: string;
      /** The memories that its letters stand for. */
      letters: Record<string, string>;
    };
    /** What a sweep came to, so far. */
    CountsOut: {
      /** Memories ended in favour of another. */
      superseded?: number;
      /** Memories that one with a stated end covers until then. */
      covered?: number;
      /** Memories withdrawn because another says the same. */
      duplicates?: number;
      /** Memories ended because another tells of their end. */
      retracted?: number;
      /** Pairs of memories made into one. */
      merged?: number;
      /** Questions to a person. */
      reviews?: number;
      /** Memories to be looked at again: their judges failed, or something moved meanwhile. */
      postponed?: number;
    };
    /** A time in which a memory does not hold because temporary memories cover it. */
    CoverOut: {
      /** From then on it does not hold. */
      since: string;
      /** From then on the memory holds again. */
      until: string;
    };
    /** The words that date a memory, and the time in which it holds by them. */
    DatedByOut: {
      /** The words that were read. */
      text: string;
      /** The place of the words in the content: characters from 0, the end excluded. */
      span: number[];
      /** Null where the words do not say it, or the request did. */
      from: string | null;
      /** Null where the words do not say it, or the request did. */
      until: string | null;
      /** The unit in which the date was named. */
      precision: components["schemas"]["Precision"];
    };
    /** One result per review, in order: what a single decision answers, or a problem. */
    DecideAnswer: {
      /** One result for each entry, in order. */
      results: components["schemas"]["DecidedOut"][];
    };
    /** Several decisions at once: these reviews, or the newest pending ones that match, `limit` at most. */
    DecideRequest: {
      /** `accept` or `reject`. */
      decision: "accept" | "reject";
      /** The reviews to decide. */
      ids?: string[] | null;
      /** Decide every waiting review that fits, instead of those named by `ids`. */
      filter?: components["schemas"]["ReviewFilterFields"] | null;
      /** With filter: how many at most. */
      limit?: number | null;
      /** To accept: the candidates that are chosen, by the id of their review. */
      memories?: Record<string, string[]> | null;
      /** A reason, for people. */
      note?: string | null;
    };
    /** What became of one review. */
    DecidedOut: {
      /** The review that was decided. */
      review_id: string;
      /** What came of it: the answer to the write, or a problem. */
      result: components["schemas"]["WriteAnswer"] | components["schemas"]["Problem"];
    };
    /** Why the operation was chosen. */
    DecisionOut: {
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** How sure it is, 0 to 1. */
      confidence: number;
      /** Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer. */
      decided_by: string;
      /** The reasons in words. */
      reasoning: string;
      /** The reasons that rules found, each with a confidence. */
      signals: components["schemas"]["SignalOut"][];
    };
    /** A decision, with what the person wants to say about it. */
    DecisionRequest: {
      /** A reason, for people. */
      note?: string | null;
    };
    /** One try to send a message. */
    DeliveryOut: {
      /** The header `webhook-id`: the id of the event. */
      message_id: string;
      /** `ping`, or `operation.` and the operation. */
      type: string;
      /** Whose event it was; null for a ping. */
      agent_id: string | null;
      /** Which try of this message it was, from 1. */
      attempt: number;
      /** When it was sent. */
      at: string;
      /** The status of the answer; null: there was none. */
      status: number | null;
      /** Why it was not taken; null: it was. */
      problem: string | null;
      /** How long it took, in milliseconds. */
      duration_ms: number;
    };
    /** What a text was read to be about. It finds candidates and decides nothing; a key that the caller gives wins. */
    DerivedSlotOut: {
      /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
      entity: string;
      /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
      key: string;
      /** The value that was read. */
      value: string;
    };
    /** What does not hold; nothing where all is well. */
    DoctorAnswer: {
      /** The rules that something breaks; empty where all is well. */
      problems: components["schemas"]["HealthProblem"][];
      /** How many more there are than the 1,000 told. */
      left_out: number;
    };
    /** What ended. */
    EndAnswer: {
      /** The memories that ended. None: there was nothing to end, or it ended before. */
      ended: string[];
      /** How many others of it hold at that moment or later: those that live longer, or begin after `at`. */
      kept: number;
      /** The known time of the last of its operations; null where nothing ended. */
      known_at: string | null;
      /** The operation of each memory that ended, in their order. */
      log_ids: string[];
    };
    /** When it ended, and why. */
    EndRequest: {
      /** When it ended. Default: now; what has not begun by now is then withdrawn. */
      at?: string | null;
      /** Why, for the log. */
      reason?: string | null;
    };
    /** A memory that another is tied to, and that has ended since the tie was made. */
    EndedOut: {
      /** The memory concerned. */
      memory_id: string;
      /** How the two are tied; the link may go either way. */
      type: components["schemas"]["LinkType"];
      /** How it ended. */
      status: components["schemas"]["Status"];
      /** When it stopped being true; of one `reverted` or `erased`, when that became known. */
      ended_at: string;
    };
    /** What was erased, with a receipt. */
    ErasureAnswer: {
      /** What was done: ADD, UPDATE, NOOP and so on. */
      operation: components["schemas"]["Operation"];
      /** The memories that were erased. */
      erased: string[];
      /** Digests of what was erased, which prove it to whoever has a copy. */
      receipt: components["schemas"]["ReceiptOut"];
      /** The known time of this write. */
      known_at: string;
      /** The operation in the log; null where none was written. */
      log_id: string;
      /** Archive files that still hold what was erased, because they could not be removed; retention tries again. */
      archives_pending: string[];
    };
    /** What to erase: exactly one of a chain, a session, the agent. */
    ErasureRequest: {
      /** A fact with all its versions: the id of its chain, or of any version. */
      chain_id?: string | null;
      /** All that was said in a session. */
      session_id?: string | null;
      /** Everything of this agent: repeat its id to confirm. */
      agent_id?: string | null;
      /** Erase also what the texts were merged into. */
      cascade?: boolean;
    };
    /** The operations of the log, and what happened beside them. */
    EventKind: "ADD" | "UPDATE" | "DELETE" | "MERGE" | "SUPERSEDE" | "NOOP" | "AMEND" | "REVERT" | "ERASE" | "KEPT_APART" | "NOT_DONE" | "PROPOSED" | "DECIDED";
    /** One thing that happened to the memory's chain: an operation, a review, or a fact that was kept apart from it. */
    EventOut: {
      /** What sort of statement: fact, preference, decision or constraint. */
      kind: components["schemas"]["EventKind"];
      /** When it became known. */
      at: string;
      /** The moment in valid time that it is about: a start, or an end that moved. */
      valid: string | null;
      /** It in words, for people. */
      sentence: string;
      /** The operation in the log; null where none was written. */
      log_id: string | null;
      /** The review; null where there is none. */
      review_id: string | null;
      /** Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer. */
      decided_by: string | null;
      /** Who wrote the operation, as `actor` in the log. */
      actor: string | null;
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** How sure it is, 0 to 1. */
      confidence: number | null;
      /** The reasons that rules found, each with a confidence. */
      signals: components["schemas"]["SignalOut"][];
      /** The memories concerned. */
      memory_ids: string[];
    };
    /** Events in their order, and where to go on. */
    EventsAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["FeedEvent"][];
      /** Send it as `after` with the next call. */
      after: string;
      /** Up to this time, operations have left the log for archives, and the events begin behind it. Null: nothing is left out. */
      archived_until: string | null;
    };
    /** What reads facts from messages; `off`: nothing. */
    ExtractBy: "network" | "model" | "off";
    /** One operation in ids, without any text: `GET /v1/log/{id}` has the whole of it. */
    FeedEvent: {
      /** The operation; where to go on from, too. */
      id: string;
      /** When it became known to the service. */
      at: string;
      /** What was done: ADD, UPDATE, NOOP and so on. */
      operation: components["schemas"]["Operation"];
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** The memory that it wrote or is about. */
      memory_id: string | null;
      /** The memories that it read to decide, or changed; those that it erased. */
      memory_ids: string[];
      /** The memories whose place another one took by this operation. */
      superseded: string[];
      /** The review that it left. */
      review_id: string | null;
      /** The review that it decided. */
      decided_review_id: string | null;
      /** The operation that it undid. */
      reverts: string | null;
      /** Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer. */
      decided_by: components["schemas"]["Judge"];
      /** Who wrote it: the caller's key, `anonymous` without one, or a sweep. */
      actor: string | null;
    };
    /** One thing that a sweep did or asks. The log tells the whole of it: its actor is `sweep:` with the sweep's id. */
    FindingOut: {
      /** What was done: ADD, UPDATE, NOOP and so on. */
      operation: components["schemas"]["Operation"];
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** The memory in whose favour. */
      memory_id: string | null;
      /** The memories that end, or would. */
      others: string[];
      /** How sure it is, 0 to 1. */
      confidence: number;
      /** The reasons that rules found, each with a confidence. */
      signals: string[];
      /** Whether a person is asked. */
      review: boolean;
    };
    /** A value that came back after one other: A, B, A. */
    FlipFlopOut: {
      /** Null where no key was given. */
      slot: components["schemas"]["SlotOut"] | null;
      /** Null where the slot holds one value at a time: then all its chains are one line of values. */
      chain_id: string | null;
      /** Text of the newest value; null where it was erased. */
      content: string | null;
      /** The value that holds now. */
      current: string | null;
      /** Of the value that came back last. */
      kind: components["schemas"]["Kind"];
      /** How often a value came back. */
      returns: number;
      /** The latest return: A, B, and A again. */
      latest: components["schemas"]["ValueOut"][];
      /** The values that came back, newest first; 20 at most. */
      memory_ids: string[];
    };
    /** All is well. */
    Health: {
      /** `ok` or `ready`. */
      status: string;
    };
    /** A rule that something breaks. */
    HealthProblem: {
      /** Whose memories these are: the value of X-Agent-Id. */
      agent_id: string;
      /** Which rule: chains, beliefs, log, links, hashes, vectors, ...; docs/operate/doctor.md lists them. */
      check: string;
      /** The memories, operations, reviews or keys that break it. */
      ids: string[];
      /** What is wrong, in plain words. */
      problem: string;
      /** Whether `palimpsest doctor --repair` can put it right. */
      repairable: boolean;
    };
    /** What a hint warns of. */
    HintName: "unstable_slot" | "flip_flop" | "conflicts_with_constraint" | "similar_rejected_before" | "ends_nothing_stored" | "forgets_nothing_stored" | "repetition_not_joined" | "date_left_open" | "language_not_read";
    /** What should be known before acting on a fact. */
    HintOut: {
      /** What the hint warns of. */
      name: components["schemas"]["HintName"];
      /** It in words, for people. */
      sentence: string;
      /** The memories concerned. */
      memory_ids: string[];
    };
    /** The line of a memory, oldest first, and the operations on it: its chain, and the versions of other chains that came before or after it. All pages of one history show the same picture. */
    HistoryAnswer: {
      /** The chain of the memory that was asked for. */
      chain_id: string;
      /** The version that holds at as_of, on whichever page: of the memory's chain, else of those that took its place. */
      current: string | null;
      /** The versions, oldest first. */
      versions: components["schemas"]["MemoryOut"][];
      /** Where versions of this page were superseded by one of another chain. */
      joints: components["schemas"]["JointOut"][];
      /** The operations that made and changed these versions, oldest first. */
      operations: components["schemas"]["OperationOut"][];
      /** For `cursor`: a long history goes on there. Null on its last page. */
      next_cursor: string | null;
      /** Where operations were archived since the chain began: the known time of the last. Up to then, some may be missing. */
      log_archived_until: string | null;
      /** The valid time that the answer describes: what was true then. */
      as_of: string;
      /** The known time that the answer describes: as far as was known then. */
      known_at: string;
    };
    /** What holds now. */
    HoldingOut: {
      /** How many memories. */
      memories: number;
      /** By the kind of memory. */
      by_kind: Record<string, number>;
      /** How many memories of each tier. */
      by_tier: Record<string, number>;
      /** How many memories of each lifespan. */
      by_lifespan: Record<string, number>;
      /** The strengths of those that hold, 0 to 1. */
      strength: components["schemas"]["StrengthsOut"];
    };
    /** What a history tells of itself, as believed now. A section that was not asked for is null. */
    InsightsAnswer: {
      /** By slot or chain, and kind; the most changes first. */
      churn: components["schemas"]["ChurnOut"][] | null;
      /** By slot or chain; the most returns first. */
      flip_flops: components["schemas"]["FlipFlopOut"][] | null;
      /** How long values hold. */
      lifetimes: components["schemas"]["LifetimesOut"] | null;
      /** By judge and confidence; the most undone first. */
      retire_rates: components["schemas"]["RetireRateOut"][] | null;
      /** The one that errs most first. */
      signals: components["schemas"]["SignalRecordOut"][] | null;
      /** Those with most against them first, then those affirmed longest ago. */
      stale_constraints: components["schemas"]["StaleConstraintOut"][] | null;
      /** How many versions the chains have. */
      chain_lengths: components["schemas"]["ChainLengthsOut"] | null;
      /** When the sections of a large agent were counted, except stale_constraints; null: now. */
      counted_at: string | null;
      /** Of a large agent, the newest 5,000 memories, operations and reviews of the window at most are counted: what became known from this time on. Sections that were counted at `counted_at` count everything. Null: all of the window was counted. */
      counted_since: string | null;
      /** Where operations of that window were archived: the known time of the last. Retire rates and signals do not count them. */
      log_archived_until: string | null;
      /** The valid time that the answer describes: what was true then. */
      as_of: string;
      /** The known time that the answer describes: as far as was known then. */
      known_at: string;
    };
    /** A new key, with its secret. */
    IssuedKeyOut: {
      /** The id of the key, which is no secret. */
      id: string;
      /** Its name. */
      name: string;
      /** The kinds of calls that the key allows. */
      scopes: components["schemas"]["Scope"][];
      /** The agents that the key is for: ids, `acme/*` for all with that beginning, or `*`. */
      agents: string[];
      /** The highest trust that calls with this key may give, 0 to 100. */
      trust_ceiling: number;
      /** When it became known to the service. */
      created_at: string;
      /** `root`, `command`, or `key:` and the id of a key. */
      created_by: string;
      /** When it ends; null: never. */
      expires_at: string | null;
      /** When it was revoked; null: it was not. */
      revoked_at: string | null;
      /** Written once a minute. */
      last_used_at: string | null;
      /** What callers send. It is shown only here, and stored nowhere. */
      key: string;
    };
    /** A place at which a history goes on in another chain. */
    JointOut: {
      /** The version after which it goes on elsewhere. */
      superseded: string;
      /** The version of another chain that took its place. */
      by: string;
    };
    /** Who decided. */
    Judge: "caller" | "rule" | "signals" | "judge" | "model" | "fallback" | "sweep" | "reviewer" | "agent";
    /** What was said of one stored memory. */
    JudgmentOut: {
      /** The memory concerned. */
      memory_id: string;
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** How sure it is, 0 to 1. */
      confidence: number;
      /** The reasons in words. */
      reasoning: string;
      /** Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer. */
      decided_by: string;
      /** The reasons that rules found, each with a confidence. */
      signals: components["schemas"]["SignalOut"][];
    };
    /** A key, without its secret. */
    KeyOut: {
      /** The id of the key, which is no secret. */
      id: string;
      /** Its name. */
      name: string;
      /** The kinds of calls that the key allows. */
      scopes: components["schemas"]["Scope"][];
      /** The agents that the key is for: ids, `acme/*` for all with that beginning, or `*`. */
      agents: string[];
      /** The highest trust that calls with this key may give, 0 to 100. */
      trust_ceiling: number;
      /** When it became known to the service. */
      created_at: string;
      /** `root`, `command`, or `key:` and the id of a key. */
      created_by: string;
      /** When it ends; null: never. */
      expires_at: string | null;
      /** When it was revoked; null: it was not. */
      revoked_at: string | null;
      /** Written once a minute. */
      last_used_at: string | null;
    };
    /** A key to issue. */
    KeyRequest: {
      /** For people: who uses it, and what for. */
      name: string;
      /** The calls that it allows. None contains another. */
      scopes: components["schemas"]["Scope"][];
      /** Ids of agents, `acme/*` for every id that begins with `acme/`, `*` for all. */
      agents: string[];
      /** The highest trust that it may give to a fact, 0 to 100. */
      trust_ceiling?: number;
      /** When it ends. Default: never. */
      expires_at?: string | null;
    };
    /** Keys in order of their ids, those that have ended included. */
    KeysAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["KeyOut"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor: string | null;
    };
    /** What sort of statement a memory is; a constraint is never ended unless a call names it. */
    Kind: "fact" | "preference" | "decision" | "constraint";
    /** Lives of the values of one kind. */
    KindLivesOut: {
      /** How many values have ended; what never held is not counted. */
      ended: number;
      /** How many hold now; their days are not counted. */
      open: number;
      /** The mean of the days that a value held; null where none has ended. */
      mean_days: number | null;
      /** The median of the days that a value held; null where none has ended. */
      median_days: number | null;
      /** Values that have ended, newest first; 20 at most. */
      memory_ids: string[];
      /** The kind of memory that these figures are of. */
      kind: components["schemas"]["Kind"];
    };
    /** How many chains have that many versions. */
    LengthOut: {
      /** How many versions the chain has. */
      length: number;
      /** How many chains are of that length. */
      chains: number;
    };
    /** How long a memory is meant to last, shortest first: until its session ends, until its project ends, or for good. */
    Lifespan: "session" | "project" | "permanent";
    /** How long values hold. */
    LifetimesOut: {
      /** By the kind of memory. */
      by_kind: components["schemas"]["KindLivesOut"][];
      /** Of slots and chains in which a value has ended; the shortest mean first. */
      by_slot: components["schemas"]["SlotLivesOut"][];
    };
    /** The link, and the write that made it: this call, or the one that had made it before. */
    LinkAnswer: {
      /** The link. */
      relationship: components["schemas"]["RelationshipOut"];
      /** The operation in the log; null where none was written. */
      log_id: string | null;
      /** The known time of the write that made the link. */
      known_at: string;
    };
    /** A link to another memory. It ends nothing, whatever its type: to put a memory in another's place, POST .../supersede. */
    LinkRequest: {
      /** What the memory of the path is to the target. */
      type: components["schemas"]["LinkType"];
      /** `id` of the other memory: paste one from the answer to a store, a list or a search. */
      target_id: string;
    };
    /** What the source is to the target (docs/guide/relationships.md). A link of any type ends nothing. */
    LinkType: "references" | "contradicts" | "expands" | "similar" | "sequential" | "causes" | "enables" | "supersedes" | "merged_into" | "related_to";
    /** Memories, newest known first or strongest first. All pages of one list show the same picture. */
    ListAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["MemoryOut"][];
      /** Send it as `cursor` for the next page; null: this page is the last. A page of a large agent may have fewer items than `limit`, or none, and others follow. */
      next_cursor: string | null;
      /** The valid time that the answer describes: what was true then. */
      as_of: string;
      /** The known time that the answer describes: as far as was known then. */
      known_at: string;
      /** The order is that of the strengths at this time, which a worker counted; null: that of as_of, or the list is not sorted by strength. */
      strength_as_of: string | null;
    };
    /** A capture in a list: its beginning, and what was read from it. */
    ListedCapture: {
      /** Null on a dry run. */
      capture_id: string | null;
      /** Null if the session was erased. */
      session_id: string | null;
      /** How it stands. */
      state: components["schemas"]["CaptureState"];
      /** What was asked to read the facts. */
      extract: components["schemas"]["ExtractBy"];
      /** What read them. `rules` if the model failed for a part of them. */
      extractor: components["schemas"]["ExtractBy"] | null;
      /** Why the model's answer, or a part of it, was not used. */
      trouble: string | null;
      /** The trust of the facts. */
      trust: number;
      /** Secrets that were taken out of the messages. */
      redacted: number;
      /** Messages of this capture, without the repeated ones. */
      total: number;
      /** How many of them have been read. */
      done: number;
      /** Messages of the call that an earlier capture has. */
      repeated: number;
      /** What stopped it last. */
      error: string | null;
      /** When it arrived. */
      received_at: string;
      /** A worker reads it then, if no further messages of the session come before. */
      due_at: string | null;
      /** When it ended; null: not yet. */
      finished_at: string | null;
      /** Up to 200 characters of its first message; null if no word is left. */
      first_words: string | null;
      /** Facts that were read from its messages. */
      facts: number;
      /** Parts of its messages that became no fact. */
      skipped: number;
    };
    /** Operations, newest first. */
    LogAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["LogEntryOut"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor: string | null;
    };
    /** One operation, with everything it read and wrote. */
    LogEntryOut: {
      /** Its id. */
      id: string;
      /** What was done: ADD, UPDATE, NOOP and so on. */
      operation: components["schemas"]["Operation"];
      /** The memories that it started from. */
      source_memory_ids: string[];
      /** The memory that it made or changed. */
      target_memory_id: string | null;
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** How sure the judge was, 0 to 1; null: nobody was asked. */
      confidence: number;
      /** The reasons in words. */
      reasoning: string;
      /** Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer. */
      decided_by: string;
      /** Who wrote it: the caller's key, `anonymous` without one, or `sweep:` with the sweep's id; null for operations from before actors were noted. */
      actor: string | null;
      /** When it became known to the service. */
      created_at: string;
      /** The reason of the review that it left, if it left one. An ADD with one is a fact that was stored beside what it may change; in shadow mode the reason is shadow. */
      review: components["schemas"]["ReviewSource"] | null;
      /** The reasons that rules found, each with a confidence. */
      signals: unknown[];
      /** What the caller sent; null where it was erased. */
      incoming: Record<string, unknown> | null;
      /** The memories concerned, before the operation. */
      before_state: Record<string, unknown>[];
      /** The memories concerned, after the operation. */
      after_state: Record<string, unknown>[];
      /** The language model that was asked; null: none. */
      model: string | null;
      /** The version of the prompt for the model; null: none was asked. */
      prompt_version: string | null;
      /** What the judges cost. */
      usage: Record<string, unknown> | null;
      /** How long the operation took, in milliseconds. */
      duration_ms: number | null;
      /** The session (conversation) in which it was said. */
      session_id: string | null;
      /** The X-Request-Id of the call. */
      request_id: string | null;
      /** The operation that this one undid. */
      reverts: string | null;
      /** The operation that undid this one. */
      reverted_by: string | null;
      /** SHA-256 in hexadecimal over this operation and the hash of the one before; null for operations from before the log was a chain. */
      chain_hash: string | null;
      /** What each judge said of the memories in which one of them saw a change or a repetition, also if its word did not count; ten memories at most. `not_done` has what was proposed and not done, and the reason. `vetoes` say why a memory that is alike is about something else. */
      opinions: Record<string, unknown>[];
    };
    /** One of the longest chains. */
    LongChainOut: {
      /** The chain of successive versions of one fact; all of them have the same. */
      chain_id: string;
      /** The entity, category and key it is about; null: no key was named. */
      slot: components["schemas"]["SlotOut"] | null;
      /** Text of its newest version; null where it was erased. */
      content: string | null;
      /** What sort of statement: fact, preference, decision or constraint. */
      kind: components["schemas"]["Kind"];
      /** How many versions the chain has. */
      length: number;
      /** Its versions, newest first; 20 at most. */
      memory_ids: string[];
    };
    /** One version, with its status at the (as_of, known_at) of the read. */
    MemoryOut: {
      /** Its id. */
      id: string;
      /** The chain of successive versions of one fact; all of them have the same. */
      chain_id: string;
      /** Null where it was erased. */
      content: string | null;
      /** What sort of statement: fact, preference, decision or constraint. */
      kind: components["schemas"]["Kind"];
      /** How it stands at the moment of the answer. */
      status: components["schemas"]["Status"];
      /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
      entity: string;
      /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
      category: string;
      /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
      key: string | null;
      /** The value of the key, such as `Helix`, apart from the sentence. */
      value: string | null;
      /** Whether its slot holds one value at a time; null: as the key says. */
      single_valued: boolean | null;
      /** When it became true in the world. */
      valid_from: string;
      /** When it stopped being true, or will; null: it holds until further notice. */
      valid_until: string | null;
      /** The end that its words or its caller stated; null: none. */
      said_until: string | null;
      /** It was stored with a stated end: what it covers in its chain resumes then. */
      temporary: boolean;
      /** The times within which temporary memories cover it, in order. */
      covered: components["schemas"]["CoverOut"][];
      /** When its words were spoken, as far as a caller said so. */
      said_at: string;
      /** The same on all facts that were split from one sentence; null on others. */
      said_in: string | null;
      /** The words that `valid_from` or `valid_until` were read from, when stored. */
      dated_by: components["schemas"]["DatedByOut"] | null;
      /** When it was retracted; null: it was not. */
      retracted_at: string | null;
      /** When it became known to the service. */
      created_at: string;
      /** When it was erased; null: it was not. */
      erased_at: string | null;
      /** The memory that it replaced; null: none. */
      supersedes_id: string | null;
      /** The memory that replaced it; null: none has. */
      superseded_by: string | null;
      /** When it became known that something newer replaced it. */
      superseded_at: string | null;
      /** The later memory whose claim spoke against this one: set when it was superseded, too. */
      contradicted_by: string | null;
      /** The memories whose texts were merged into this one. */
      merged_from: string[];
      /** What the text was read to be about, where that is safe. */
      derived: components["schemas"]["DerivedSlotOut"] | null;
      /** `core` keeps a floor under its strength; `semantic` fades. */
      tier: components["schemas"]["Tier"];
      /** How much it matters, 0 to 1. */
      importance: number;
      /** 0 to 1 at `as_of`: importance, halved once per half-life since it was last said; core keeps 0.60. It never hides. */
      strength: number;
      /** How often it was said again. A counter of now, no part of the ETag. */
      access_count: number;
      /** When it was last said again, if that was known at `known_at`. */
      last_reinforced_at: string | null;
      /** In how many minutes it was answered to a search, a context or by its id. A counter of now. */
      use_count: number;
      /** When it was last used so, if no later than `known_at`. */
      last_accessed_at: string | null;
      /** What it rests on and what has ended since: empty, or a reason to look whether it is still right. No part of the ETag. */
      stale_because: components["schemas"]["EndedOut"][];
      /** How sure it is, 0 to 1. */
      confidence: number;
      /** How far its source is trusted, 0 to 100. Less trust ends nothing stated with more. */
      trust: number;
      /** Whether it ends with its session, with its project, or with neither. */
      lifespan: components["schemas"]["Lifespan"];
      /** Words of your own, to filter by. */
      tags: string[];
      /** Names that the fact mentions. */
      entities: string[];
      /** All that it rests on: documents, addresses, ids of your own. */
      sources: string[];
      /** Where it comes from, such as a file or a tool. */
      source: string | null;
      /** The session (conversation) in which it was said. */
      session_id: string | null;
      /** The project it belongs to, by name. */
      project: string | null;
      /** The free JSON stored with it. */
      details: Record<string, unknown>;
      /** For If-Match. */
      etag: string;
    };
    /** A message of a session. */
    MessageRequest: {
      /** A name of your own for it, unique in the session. A message whose id the session has already is not stored again. */
      id?: string | null;
      /** Who speaks. Facts are read from what users say. */
      role: components["schemas"]["Role"];
      /** The name of the speaker. */
      name?: string | null;
      /** What was said, in full. */
      content: string;
      /** When it was said. Default: now. */
      at?: string | null;
    };
    /** Messages of a session, in the order in which they were said. */
    MessagesRequest: {
      /** A name of your own for the conversation. Default: a session of the call's own, which the answer names. */
      session_id?: string | null;
      /** Together at most 100,000 characters. Each as it is here, or as an SDK writes it (docs/guide/messages.md#forms-of-messages). */
      messages: (components["schemas"]["MessageRequest"] | Record<string, unknown>)[];
      /** What reads facts from them. Default: what PALIMPSEST_EXTRACT says. `model` falls back to the rules if the model does not answer; `off` stores the messages alone. */
      extract?: components["schemas"]["ExtractBy"] | null;
      /** off: a sentence of several facts stays one. What a model reads is never split. */
      split?: "auto" | "off";
      /** true: answer with the facts. false: answer at once (202); a worker reads the messages together with the next of the session, which costs a model far less. Default: false where a model reads and PALIMPSEST_CAPTURE_QUIET_SECONDS is not 0. */
      wait?: boolean | null;
      /** true: answer with what would be done and write nothing; for messages of at most 1,000 facts. */
      dry_run?: boolean;
    };
    /** What becomes of changes: they are made; they become reviews; nothing is written at all. */
    Mode: "live" | "shadow" | "frozen";
    /** The language model, as this process found it. */
    ModelOut: {
      /** Its name. */
      name: string;
      /** When it was last asked about pairs with known answers; null before. */
      checked_at: string | null;
      /** What is wrong with it and what to do about it; null if nothing is known. */
      trouble: string | null;
    };
    /** A stored memory that the question may concern. */
    NamedMemoryOut: {
      /** Its letter in `sentence`, which it keeps. */
      letter: string;
      /** The memory concerned. */
      memory_id: string;
      /** Its text; null once it is erased. */
      content: string | null;
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** How sure it is, 0 to 1. */
      confidence: number;
      /** When it became true in the world. */
      valid_from: string | null;
    };
    /** A new webhook, with its secret. */
    NewWebhookOut: {
      /** Its id. */
      id: string;
      /** Where events are sent. */
      url: string;
      /** Whose events: an agent's id, `acme/*`, or `*` for all. */
      agents: string;
      /** Only events of these; empty: all. */
      operations: components["schemas"]["Operation"][];
      /** When it became known to the service. */
      created_at: string;
      /** Who created it, as `actor` in the log. */
      created_by: string;
      /** When its key ends, and the webhook with it; null: its key has no end. */
      expires_at: string | null;
      /** How many tries failed in a row. */
      failures: number;
      /** When what failed is tried again; null: nothing has to wait. */
      next_try_at: string | null;
      /** When it was disabled; null: it is not. */
      disabled_at: string | null;
      /** Why it was disabled. */
      disabled_because: string | null;
      /** What the receiver verifies signatures with. It is shown only here. */
      secret: string;
    };
    /** What was done, as logged. */
    Operation: "ADD" | "UPDATE" | "DELETE" | "MERGE" | "SUPERSEDE" | "NOOP" | "AMEND" | "REVERT" | "ERASE";
    /** One operation, in short. */
    OperationOut: {
      /** Its id. */
      id: string;
      /** What was done: ADD, UPDATE, NOOP and so on. */
      operation: components["schemas"]["Operation"];
      /** The memories that it started from. */
      source_memory_ids: string[];
      /** The memory that it made or changed. */
      target_memory_id: string | null;
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** How sure it is, 0 to 1. */
      confidence: number;
      /** The reasons in words. */
      reasoning: string;
      /** Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer. */
      decided_by: string;
      /** Who wrote it: the caller's key, `anonymous` without one, or `sweep:` with the sweep's id; null for operations from before actors were noted. */
      actor: string | null;
      /** When it became known to the service. */
      created_at: string;
    };
    /** What a sweep came from: a call, the clock, or stores that left memories to be looked at again, which are then all it is about. */
    Origin: "store" | "request" | "schedule";
    /** A part of a text that was split. */
    PartOut: {
      /** The words. */
      text: string;
      /** The words of the request that belong to this part alone: characters from 0, the end excluded. */
      span: number[];
      /** What storing it came to. */
      answer: components["schemas"]["WriteAnswer"] | components["schemas"]["Problem"];
    };
    /** Corrections. What is left out stays; `valid_until: null` opens the stated end. Content is never changed: supersede it. */
    PatchRequest: {
      /** When it became true in the world. Also taken as `validFrom`. */
      valid_from?: string;
      /** When it stopped being true, or will; null: it holds until further notice. Also taken as `validUntil`. */
      valid_until?: string | null;
      /** `core` keeps a floor under its strength; `semantic` fades. */
      tier?: components["schemas"]["Tier"];
      /** How much it matters, 0 to 1. */
      importance?: number;
      /** How sure it is, 0 to 1. */
      confidence?: number;
      /** Words of your own, to filter by. */
      tags?: string[];
      /** Names that the fact mentions. */
      entities?: string[];
      /** All that it rests on: documents, addresses, ids of your own. */
      sources?: string[];
      /** Where it comes from, such as a file or a tool. */
      source?: string | null;
      /** The session (conversation) in which it was said. */
      session_id?: string | null;
      /** The project it belongs to, by name. */
      project?: string | null;
      /** How far its source is trusted, 0 to 100. Less trust ends nothing stated with more. */
      trust?: number;
      /** Whether it ends with its session, with its project, or with neither. */
      lifespan?: components["schemas"]["Lifespan"];
      /** Free JSON: at most 2000 values, nested at most 8 deep, with integers of at most 30 digits and texts of at most 16000 characters, none of them NUL. */
      details?: Record<string, unknown>;
    };
    /** The unit in which a date was named: "last month" is a month, "on 5 January" a day. */
    Precision: "instant" | "day" | "week" | "month" | "quarter" | "season" | "year" | "decade";
    /** An error (RFC 9457). `detail` says what to do; further members carry ids. */
    Problem: {
      /** A name for this kind of problem, which does not change. */
      type: string;
      /** The problem in a few words. */
      title: string;
      /** The status of the answer. */
      status: number;
      /** What is the case, and what to do about it. */
      detail: string;
    } & Record<string, unknown>;
    /** A verbatim part of a message. */
    QuoteOut: {
      /** The capture that has the message. */
      capture_id: string;
      /** The place of the message in that capture, from 0. */
      position: number;
      /** The caller's own `id` of the message. */
      message_id: string | null;
      /** Who said it. */
      role: components["schemas"]["Role"];
      /** Characters of the message, from 0, secrets taken out before. */
      start: number;
      /** Where it ends: characters from 0, the end excluded. */
      end: number;
      /** Null if it was erased, or if the message is too old. */
      text: string | null;
    };
    /** The service can serve. Without its replicas it still can: the primary answers then. Without its model it can too: facts are judged without one. */
    Ready: {
      /** How it stands at the moment of the answer. */
      status: string;
      /** The read replicas of the settings. */
      replicas: components["schemas"]["ReplicaOut"][];
      /** The model of the settings; null if there is none. */
      model: components["schemas"]["ModelOut"] | null;
    };
    /** Proof of what was erased, for whoever kept the text: HMAC-SHA256 of it (UTF-8) under `key`, in hexadecimal. */
    ReceiptOut: {
      /** How the digests were made. */
      algorithm: string;
      /** Told once and kept nowhere: null where a retry gets this answer again. */
      key: string | null;
      /** A digest of each erased text, by the id of its memory. */
      digests: Record<string, string>;
    };
    /** How an incoming fact stands to a stored one. */
    Relation: "DUPLICATE" | "UPDATE" | "CONTRADICTION" | "RETRACTION" | "COMPLEMENT" | "OVERLAP" | "NONE";
    /** A link from one memory to another. */
    RelationshipOut: {
      /** The memory from which the link goes. */
      source_id: string;
      /** The memory to which the link goes. */
      target_id: string;
      /** What the source is to the target. */
      type: components["schemas"]["LinkType"];
      /** How firmly its type ties: 0.8 for similar and related_to, 1.0 for the others. */
      strength: number;
      /** The known time of the write that made it. */
      created_at: string;
      /** The operation that made it; reverting that one removes it. */
      log_id: string | null;
    };
    /** The links of a memory in both directions, latest first. All pages of one list show the same picture. */
    RelationshipsAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["RelationshipOut"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor: string | null;
      /** The known time that the answer describes: as far as was known then. */
      known_at: string;
    };
    /** A read replica, as this process sees it. */
    ReplicaOut: {
      /** Its host and port. */
      name: string;
      /** Whether reads go to it. */
      used: boolean;
      /** How old its answers may be, at most; null if that is not known. */
      lag_seconds: number | null;
      /** Why it is refused; null if it is not. Too much lag alone is no trouble. */
      trouble: string | null;
    };
    /** A memory found, how well it matches and why it holds. */
    ResultOut: {
      /** The memory concerned; null where there is none to show. */
      memory: components["schemas"]["MemoryOut"];
      /** The chance that it answers the question, 0 to 1, beside the others that may. */
      score: number;
      /** `vector`: cosine; `text`: how much the rare words in common say. */
      scores: Record<string, number>;
      /** Since when it holds and what it replaced, in a sentence. */
      why: string;
      /** The reviews that wait and ask whether it ended, or whether it ends another. */
      in_question: string[];
    };
    /** What one judge decided with a confidence in one band. */
    RetireRateOut: {
      /** Who decided: caller, rule, signals, judge, model, fallback, sweep or reviewer. */
      decided_by: string;
      /** The band begins with it. */
      confidence_from: number;
      /** The band ends before it; the last one with it. */
      confidence_to: number;
      /** Stores that were decided so, and what sweeps changed. */
      decided: number;
      /** Those of them that ended something: UPDATE, DELETE, SUPERSEDE. */
      retired: number;
      /** Retired among the decided. */
      rate: number;
      /** Of the retired, those undone since. */
      reverted: number;
      /** Of the retired: those undone first, newest first; 20 at most. */
      log_ids: string[];
    };
    /** How a memory ends without a successor: `at` a time, or as `never_true`. */
    RetractRequest: {
      /** When it stopped being true. Default: now. */
      at?: string | null;
      /** Why, for people and for the log. */
      reason?: string | null;
      /** true: it was never true; what it replaced holds again. */
      never_true?: boolean;
    };
    /** What undoing did; `superseded` names what it withdrew. */
    RevertAnswer: {
      /** Null where the agent is frozen and the fact waits as a review. */
      operation: components["schemas"]["Operation"] | null;
      /** The memory concerned; null where there is none to show. */
      memory: components["schemas"]["MemoryOut"] | null;
      /** What it ended. */
      superseded: components["schemas"]["SupersededOut"][];
      /** The relation that the write rests on, who found it and why. */
      decision: components["schemas"]["DecisionOut"];
      /** The stored memories that the fact was compared with, and what was judged. */
      candidates: components["schemas"]["CandidateOut"][];
      /** Others whose interval moved. */
      adjusted: string[];
      /** The known time of this write. */
      known_at: string;
      /** Null on a dry run. */
      log_id: string | null;
      /** The review that waits for a person, if this write left one. */
      review_id: string | null;
      /** That review as one line for the agent's own model, which answers it by POST /v1/reviews/answers; null if there is none, or if only a person may decide it. */
      question?: string | null;
      /** What the judges cost. */
      usage: components["schemas"]["UsageOut"];
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run: boolean;
      /** Secrets that were taken out of the request. */
      redacted?: number;
      /** What should be known before acting on it. */
      hints?: components["schemas"]["HintOut"][];
      /** What rests on a memory that it ended, and holds on: look whether it is still right. */
      stale?: components["schemas"]["StaleOut"][];
      /** The operations undone, newest first: with cascade, those built on it too. */
      reverted: string[];
    };
    /** How an operation is undone. */
    RevertRequest: {
      /** Undo first what was built on it; without this, 409 lists that. */
      cascade?: boolean;
      /** Of a NOOP or DELETE: store what was said as a memory of its own too. */
      store?: boolean;
    };
    /** What was undone, newest first; on a dry run, what would be. */
    RevertsAnswer: {
      /** The operations that were undone. */
      reverted: string[];
      /** What undoing each of them did. */
      results: components["schemas"]["WriteAnswer"][];
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run: boolean;
    };
    /** Which operations to undo: those that meet all criteria, of which one at least is needed. Those that were undone before are left out. */
    RevertsRequest: {
      /** These operations of the log. */
      log_ids?: string[] | null;
      /** Only operations of this kind. */
      operation?: components["schemas"]["Operation"] | null;
      /** What a sweep did. */
      sweep_id?: string | null;
      /** X-Request-Id of the call that did them: a batch, an import. */
      request_id?: string | null;
      /** Only operations of this session. */
      session_id?: string | null;
      /** `source` of the facts that were sent. */
      source?: string | null;
      /** Which judge decided. */
      decided_by?: components["schemas"]["Judge"] | null;
      /** Who wrote them, as `actor` in the log. With `since`: all that a key wrote since then. */
      actor?: string | null;
      /** From this time on. */
      since?: string | null;
      /** Up to this time. */
      until?: string | null;
      /** What stored the facts of a capture. */
      capture_id?: string | null;
      /** Undo also what was built on them; without this, 409 lists that. */
      cascade?: boolean;
      /** true: answer with what would be undone and write nothing. */
      dry_run?: boolean;
    };
    /** A review with what accepting it now would do. */
    ReviewDetailOut: {
      /** Its id. */
      id: string;
      /** How it stands at the moment of the answer. */
      status: components["schemas"]["ReviewStatus"];
      /** Where it comes from, such as a file or a tool. */
      source: components["schemas"]["ReviewSource"];
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** The question, with both texts. */
      sentence: string;
      /** The text of what is new; null once it is erased. */
      content: string | null;
      /** What the question may concern, likeliest first. While it waits, only what no other decision has ended. */
      candidates: components["schemas"]["NamedMemoryOut"][];
      /** What each judge said of each memory concerned. */
      judgments: components["schemas"]["JudgmentOut"][];
      /** The fact that was stored beside, for now. */
      memory_id: string | null;
      /** The store that a frozen agent keeps back. */
      held: Record<string, unknown> | null;
      /** The operation in the log; null where none was written. */
      log_id: string | null;
      /** The operation that the decision led to. */
      decision_log_id: string | null;
      /** A reason, for people. */
      note: string | null;
      /** When it became known to the service. */
      created_at: string;
      /** When a person decided it; null while it waits. */
      decided_at: string | null;
      /** The memory as it is without the change. */
      before: components["schemas"]["MemoryOut"][];
      /** The memory as it would be after the change. */
      after: components["schemas"]["MemoryOut"][];
      /** Why it cannot be accepted as things are. */
      obstacle: string | null;
    };
    /** What reviews are narrowed to. */
    ReviewFilterFields: {
      /** Where it comes from, such as a file or a tool. */
      source?: components["schemas"]["ReviewSource"] | null;
      /** How the incoming fact stands to the stored one. */
      relation?: components["schemas"]["Relation"] | null;
      /** The fact stored beside, or a memory that the proposal is about. */
      memory_id?: string | null;
      /** Only those whose judge was at least so sure, 0 to 1. */
      min_confidence?: number | null;
    };
    /** A change that waits for a person, or waited. */
    ReviewOut: {
      /** Its id. */
      id: string;
      /** How it stands at the moment of the answer. */
      status: components["schemas"]["ReviewStatus"];
      /** Where it comes from, such as a file or a tool. */
      source: components["schemas"]["ReviewSource"];
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** The question, with both texts. */
      sentence: string;
      /** The text of what is new; null once it is erased. */
      content: string | null;
      /** What the question may concern, likeliest first. While it waits, only what no other decision has ended. */
      candidates: components["schemas"]["NamedMemoryOut"][];
      /** What each judge said of each memory concerned. */
      judgments: components["schemas"]["JudgmentOut"][];
      /** The fact that was stored beside, for now. */
      memory_id: string | null;
      /** The store that a frozen agent keeps back. */
      held: Record<string, unknown> | null;
      /** The operation in the log; null where none was written. */
      log_id: string | null;
      /** The operation that the decision led to. */
      decision_log_id: string | null;
      /** A reason, for people. */
      note: string | null;
      /** When it became known to the service. */
      created_at: string;
      /** When a person decided it; null while it waits. */
      decided_at: string | null;
    };
    /** Why a person should look. */
    ReviewSource: "low_confidence" | "judges_disagree" | "shadow" | "frozen" | "constraint" | "cap" | "trust" | "sweep" | "fallback";
    /** How a review stands. */
    ReviewStatus: "pending" | "accepted" | "rejected" | "expired" | "overtaken";
    /** Reviews, newest first. */
    ReviewsAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["ReviewOut"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor: string | null;
    };
    /** Who speaks. Only what a user says becomes a fact. */
    Role: "user" | "assistant" | "system" | "tool";
    /** How a key is replaced. */
    RotateRequest: {
      /** Seconds for which the old key still works, so that callers can change. */
      overlap?: number;
    };
    /** A kind of call that a key allows; none contains another. */
    Scope: "read" | "write" | "review" | "erase" | "admin";
    /** Best first. */
    SearchAnswer: {
      /** The memories found, best first. */
      results: components["schemas"]["ResultOut"][];
      /** Messages, if they were to be searched. */
      turns: components["schemas"]["TurnOut"][];
      /** The time that the words of the query ask about, if they were read so. */
      window: components["schemas"]["WindowOut"] | null;
      /** True if others were found, but the answer is as large as one may be (`PALIMPSEST_MAX_ANSWER_BYTES`). Narrow the search to see them. */
      truncated: boolean;
      /** True if the agent's index found the results: one that is nearer may be missing. `exact` rules that out. */
      approximate: boolean;
      /** The valid time that the answer describes: what was true then. */
      as_of: string;
      /** The known time that the answer describes: as far as was known then. */
      known_at: string;
    };
    /** A search. Without dates: what holds now, as far as is known. */
    SearchRequest: {
      /** What sort of statement: fact, preference, decision or constraint. */
      kind?: components["schemas"]["Kind"] | null;
      /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
      entity?: string | null;
      /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
      category?: string | null;
      /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
      key?: string | null;
      /** The session (conversation) in which it was said. */
      session_id?: string | null;
      /** The project it belongs to, by name. */
      project?: string | null;
      /** The facts that were split from one sentence. */
      said_in?: string | null;
      /** Only memories with at least one of these tags. */
      tags_any?: string[];
      /** Only memories with all of these tags. */
      tags_all?: string[];
      /** Only memories of at least this importance, 0 to 1. */
      min_importance?: number | null;
      /** What to search for, in words. Also taken as `q`. */
      query: string;
      /** Only memories whose `details` hold all of this, nested too; of a list, some of its values. */
      details?: Record<string, unknown> | null;
      /** How many entries at most. */
      limit?: number;
      /** How to search: by meaning (`vector`), by words (`text`), or by both. */
      mode?: "hybrid" | "vector" | "text";
      /** Leave out results that score lower, 0 to 1. */
      min_score?: number;
      /** Leave out what hardly answers: results below a score of 0.03. */
      focus?: boolean;
      /** `turns`: search messages, too, by meaning and words. They are answered beside the results. */
      include?: "turns"[];
      /** Order of the memories found: best match first, or strongest first. It never hides one. */
      sort?: "score" | "strength";
      /** What was true at that time. Also taken as `asOf`. */
      as_of?: string | null;
      /** As far as was known at that time. Also taken as `knownAt`. */
      known_at?: string | null;
      /** Search every version, not only what holds. Also taken as `includeSuperseded`. */
      include_superseded?: boolean;
      /** Look at every memory, even if the agent has an index. An agent without one is always searched like that. */
      exact?: boolean;
      /** Read words such as "in March", "last week" or "since 2024" as the time that the question asks about: what held then is searched too, and comes first, above all what began or ended then. The answer shows the `window`. Only questions about the present are read so. */
      read_dates?: boolean;
    };
    /** What can be asked of a history. */
    Section: "churn" | "flip_flops" | "lifetimes" | "retire_rates" | "signals" | "stale_constraints" | "chain_lengths";
    /** What shadow mode would have changed, so that thresholds can be chosen before going live. */
    ShadowReport: {
      /** The proposals by relation, judge and confidence. */
      bands: components["schemas"]["BandOut"][];
    };
    /** A named reason, with its measured reliability. */
    SignalOut: {
      /** Its name. */
      name: string;
      /** How the incoming fact stands to the stored one. */
      relation: components["schemas"]["Relation"];
      /** How sure it is, 0 to 1. */
      confidence: number;
      /** The reason in words. */
      explanation: string;
    };
    /** How what one signal led to fared, and how people decided what it proposed. Compare `confidence_here` with `confidence`. */
    SignalRecordOut: {
      /** Its name. */
      name: string;
      /** Operations that it led to, alone or with others, and that stand. */
      stand: number;
      /** Operations that it led to and that were undone. */
      reverted: number;
      /** Reviews of its proposals that a person accepted. */
      accepted: number;
      /** Reviews of its proposals that a person rejected. */
      rejected: number;
      /** How many were never decided, because what they were about changed. */
      expired: number;
      /** How many reviews wait. */
      pending: number;
      /** Stores in which it fired, and another judge's word counted more. */
      overruled: number;
      /** (reverted + rejected) / (stand + reverted + accepted + rejected); null where nothing was decided. */
      error_rate: number | null;
      /** What the table of confidences says; null where it does not know the signal. */
      confidence: number | null;
      /** What these figures say by the table's formula, (right + 1) / (right + wrong + 2); null where nothing was decided. */
      confidence_here: number | null;
      /** The operations: those undone first, newest first; 20 at most. */
      log_ids: string[];
      /** The reviews: those rejected first, newest first; 20 at most. */
      review_ids: string[];
    };
    /** Why a part of a message becomes no fact (docs/guide/messages.md). */
    SkipReason: "event" | "question" | "wish" | "quotation" | "small_talk" | "code" | "table" | "log" | "request" | "assistant" | "other_role" | "repeated_context" | "unsupported" | "unclear_pronoun" | "redacted" | "left_out" | "not_personal" | "no_statement" | "language_not_read";
    /** A part of a message that became no fact. */
    SkippedOut: {
      /** The words. */
      text: string | null;
      /** Where it begins: characters from 0. */
      start: number;
      /** Where it ends: characters from 0, the end excluded. */
      end: number;
      /** Why, for people and for the log. */
      reason: components["schemas"]["SkipReason"];
    };
    /** Lives of the values of one slot or chain. */
    SlotLivesOut: {
      /** Null where no key was given. */
      slot: components["schemas"]["SlotOut"] | null;
      /** Null where the slot holds one value at a time: then all its chains are one line of values. */
      chain_id: string | null;
      /** Text of the newest value; null where it was erased. */
      content: string | null;
      /** The value that holds now. */
      current: string | null;
      /** How many values have ended; what never held is not counted. */
      ended: number;
      /** How many hold now; their days are not counted. */
      open: number;
      /** The mean of the days that a value held; null where none has ended. */
      mean_days: number | null;
      /** The median of the days that a value held; null where none has ended. */
      median_days: number | null;
      /** Values that have ended, newest first; 20 at most. */
      memory_ids: string[];
    };
    /** What values are about, in the words of the newest. */
    SlotOut: {
      /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
      entity: string;
      /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
      category: string;
      /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
      key: string;
    };
    /** One slot, in the words of its memories. */
    SlotRequest: {
      /** Default: user. */
      entity?: string | null;
      /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
      category?: string | null;
      /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
      key: string;
    };
    /** A constraint that holds and may not be meant any more. */
    StaleConstraintOut: {
      /** The memory concerned. */
      memory_id: string;
      /** The entity, category and key it is about; null: no key was named. */
      slot: components["schemas"]["SlotOut"] | null;
      /** Null where it was erased. */
      content: string | null;
      /** Since when it holds. */
      valid_from: string;
      /** When it was last stored, confirmed or corrected. */
      last_affirmed_at: string;
      /** Since then. */
      days: number;
      /** Why it is here, in words. */
      reasons: string[];
      /** Later facts that contradict it. */
      contradictions: number;
      /** Those facts, newest first; 20 at most. */
      contradicted_by: string[];
      /** Reviews that would end it and wait. */
      pending: number;
      /** Such reviews that were rejected. */
      rejected: number;
      /** Those reviews, newest first; 20 at most. */
      review_ids: string[];
    };
    /** A memory that holds, though what it rests on has ended: look whether it is still right. */
    StaleOut: {
      /** The memory concerned. */
      memory_id: string;
      /** What it rests on and what has ended since. */
      stale_because: components["schemas"]["EndedOut"][];
    };
    /** An agent in numbers, of one moment. */
    StatsOut: {
      /** Whose memories these are: the value of X-Agent-Id. */
      agent_id: string;
      /** The valid time that the answer describes: what was true then. */
      as_of: string;
      /** The known time of the oldest operation in the log. */
      first_known_at: string | null;
      /** The known time of the last write. */
      last_known_at: string | null;
      /** Versions stored, those that no longer hold included. */
      memories: number;
      /** How many versions have each status. */
      by_status: Record<string, number>;
      /** The memories that hold at that moment. */
      holding: components["schemas"]["HoldingOut"];
      /** Facts with all their versions. */
      chains: number;
      /** Slots that hold one value at a time, where several memories hold: unclassified or kept apart. */
      crowded_slots: number;
      /** Earlier beliefs kept for reads at an earlier `known_at`. */
      beliefs: number;
      /** How many links there are. */
      relationships: number;
      /** Memories whose judges gave no answer, or whose candidates moved meanwhile. */
      look_again: number;
      /** Memories that hold and rest on one that has ended (`stale_because`). */
      stale: number;
      /** Bytes of the contents in UTF-8. */
      text_bytes: number;
      /** How many operations the log has. */
      operations: number;
      /** `chain_hash` of the last operation. Keep it outside of this service: the log up to there cannot be changed without another hash. Null before the first operation. */
      log_head: string | null;
      /** Operations in the chain that `log_head` ends. */
      log_length: number;
      /** How many operations of each kind the log has. */
      by_operation: Record<string, number>;
      /** How many of them became known in the seven days before `as_of`. */
      by_operation_last_week: Record<string, number>;
      /** Who decided them. */
      by_judge: Record<string, number>;
      /** How many reviews there are, by status. */
      reviews: Record<string, number>;
    };
    /** How a version stands at a moment on both axes. */
    Status: "current" | "scheduled" | "covered" | "superseded" | "retracted" | "merged" | "expired" | "reverted" | "erased";
    /** What a store did; of a text that was split, what the first of its parts did. */
    StoreAnswer: {
      /** Null where the agent is frozen and the fact waits as a review. */
      operation: components["schemas"]["Operation"] | null;
      /** The memory concerned; null where there is none to show. */
      memory: components["schemas"]["MemoryOut"] | null;
      /** What it ended. */
      superseded: components["schemas"]["SupersededOut"][];
      /** The relation that the write rests on, who found it and why. */
      decision: components["schemas"]["DecisionOut"];
      /** The stored memories that the fact was compared with, and what was judged. */
      candidates: components["schemas"]["CandidateOut"][];
      /** Others whose interval moved. */
      adjusted: string[];
      /** The known time of this write. */
      known_at: string;
      /** Null on a dry run. */
      log_id: string | null;
      /** The review that waits for a person, if this write left one. */
      review_id: string | null;
      /** That review as one line for the agent's own model, which answers it by POST /v1/reviews/answers; null if there is none, or if only a person may decide it. */
      question?: string | null;
      /** What the judges cost. */
      usage: components["schemas"]["UsageOut"];
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run: boolean;
      /** Secrets that were taken out of the request. */
      redacted?: number;
      /** What should be known before acting on it. */
      hints?: components["schemas"]["HintOut"][];
      /** What rests on a memory that it ended, and holds on: look whether it is still right. */
      stale?: components["schemas"]["StaleOut"][];
      /** The parts of a text that was split, in order; else empty. */
      parts?: components["schemas"]["PartOut"][];
    };
    /** A fact to store. */
    StoreRequest: {
      /** The fact in words. */
      content: string;
      /** Default `fact`. */
      kind?: components["schemas"]["Kind"] | null;
      /** Who or what it is about. Default `user`. */
      entity?: string | null;
      /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
      category?: string | null;
      /** Which attribute. A key holds one value at a time unless `single_valued` is false. */
      key?: string | null;
      /** The value of the key, such as `Helix`, apart from the sentence. */
      value?: string | null;
      /** Whether its slot holds one value at a time; null: as the key says. */
      single_valued?: boolean | null;
      /** Free JSON: at most 2000 values, nested at most 8 deep, with integers of at most 30 digits and texts of at most 16000 characters, none of them NUL. Of a decision: rationale, alternatives, related_files. */
      details?: Record<string, unknown>;
      /** `core` keeps a floor under its strength; `semantic` fades. */
      tier?: components["schemas"]["Tier"] | null;
      /** 0 to 1. Default 0.5. */
      importance?: number | null;
      /** 0 to 1. Default 1. */
      confidence?: number | null;
      /** Words of your own, to filter by. */
      tags?: string[];
      /** Names that the fact mentions. */
      entities?: string[];
      /** All that it rests on: documents, addresses, ids of your own. */
      sources?: string[];
      /** Where it comes from, such as a file or a tool. */
      source?: string | null;
      /** The session (conversation) in which it was said. */
      session_id?: string | null;
      /** The project it belongs to, by name. */
      project?: string | null;
      /** 0 to 100. Default 50. */
      trust?: number | null;
      /** Whether it ends with its session or with its project. Default `permanent`: with neither. */
      lifespan?: components["schemas"]["Lifespan"] | null;
      /** When the words were spoken. Relative dates count from it. Default: now. Also taken as `saidAt`. */
      said_at?: string | null;
      /** When it became true in the world. Default: what its words say, else `said_at`. Also taken as `validFrom`. */
      valid_from?: string | null;
      /** Another name for `valid_from`. Also taken as `sourceDate`. */
      source_date?: string | null;
      /** A stated end. Default: what its words say. Also taken as `validUntil`. */
      valid_until?: string | null;
      /** The memory, or memories, that it replaces. */
      supersedes?: string[] | null;
      /** Which judges are asked; false: none but exact-duplicate detection; true or left out: as configured. */
      classify?: boolean | components["schemas"]["Classify"] | null;
      /** Whether the words are read for dates, which set `valid_from` and `valid_until` if the request does not. Default: true, but false with `classify: false`. */
      read_dates?: boolean | null;
      /** auto: a text of several facts is stored as its parts, each a fact with the other fields of the request, and all with one `said_in`. With `key`, `value` or `supersedes` it stays whole. */
      split?: "auto" | "off";
      /** true: answer with what would be done and write nothing. */
      dry_run?: boolean;
    };
    /** How strong what holds is: the mean, and the three values that cut it into quarters. Nulls where nothing holds. */
    StrengthsOut: {
      /** When the worker counted a large agent last: the `as_of` of all numbers. An agent without an index is counted at once, so this is left out. */
      as_of?: string | null;
      /** The mean. */
      mean: number | null;
      /** A quarter of them are weaker. */
      lower_quartile: number | null;
      /** Half of them are weaker. */
      median: number | null;
      /** A quarter of them are stronger. */
      upper_quartile: number | null;
    };
    /** What takes a memory's place: new `content`, or `by` alone, the id of a stored memory. */
    SupersedeRequest: {
      /** The fact in words. */
      content?: string | null;
      /** Default `fact`. */
      kind?: components["schemas"]["Kind"] | null;
      /** Who or what it is about. Default `user`. */
      entity?: string | null;
      /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
      category?: string | null;
      /** Which attribute. A key holds one value at a time unless `single_valued` is false. */
      key?: string | null;
      /** The value of the key, such as `Helix`, apart from the sentence. */
      value?: string | null;
      /** Whether its slot holds one value at a time; null: as the key says. */
      single_valued?: boolean | null;
      /** Free JSON: at most 2000 values, nested at most 8 deep, with integers of at most 30 digits and texts of at most 16000 characters, none of them NUL. Of a decision: rationale, alternatives, related_files. */
      details?: Record<string, unknown>;
      /** `core` keeps a floor under its strength; `semantic` fades. */
      tier?: components["schemas"]["Tier"] | null;
      /** 0 to 1. Default 0.5. */
      importance?: number | null;
      /** 0 to 1. Default 1. */
      confidence?: number | null;
      /** Words of your own, to filter by. */
      tags?: string[];
      /** Names that the fact mentions. */
      entities?: string[];
      /** All that it rests on: documents, addresses, ids of your own. */
      sources?: string[];
      /** Where it comes from, such as a file or a tool. */
      source?: string | null;
      /** The session (conversation) in which it was said. */
      session_id?: string | null;
      /** The project it belongs to, by name. */
      project?: string | null;
      /** 0 to 100. Default 50. */
      trust?: number | null;
      /** Whether it ends with its session or with its project. Default `permanent`: with neither. */
      lifespan?: components["schemas"]["Lifespan"] | null;
      /** When the words were spoken. Relative dates count from it. Default: now. Also taken as `saidAt`. */
      said_at?: string | null;
      /** When it became true in the world. Default: what its words say, else `said_at`. Also taken as `validFrom`. */
      valid_from?: string | null;
      /** Another name for `valid_from`. Also taken as `sourceDate`. */
      source_date?: string | null;
      /** A stated end. Default: what its words say. Also taken as `validUntil`. */
      valid_until?: string | null;
      /** The id of a stored memory that takes its place, instead of new `content`. */
      by?: string | null;
      /** Whether the words are read for dates, which set `valid_from` and `valid_until` if the request does not. */
      read_dates?: boolean;
    };
    /** A memory that a write ended. */
    SupersededOut: {
      /** Its id. */
      id: string;
      /** Null where it was erased, or on a late retry. */
      content?: string | null;
    };
    /** A sweep, how far it is, and what it found. */
    SweepOut: {
      /** The id of the sweep. */
      id: string;
      /** How it stands at the moment of the answer. */
      status: components["schemas"]["SweepStatus"];
      /** What it came from. */
      origin: components["schemas"]["Origin"];
      /** The slot it is about; null: all of them, or one whose words were erased. */
      slot: components["schemas"]["SweptSlotOut"] | null;
      /** Only memories that became known from then on; null: all. */
      since: string | null;
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run: boolean;
      /** Memories to examine; null before it is counted. */
      total: number | null;
      /** How many memories have been looked at. */
      examined: number;
      /** Of 1; null before the memories are counted. */
      progress: number | null;
      /** What came of it: numbers by outcome. */
      counts: components["schemas"]["CountsOut"];
      /** Why it failed; null: it did not. */
      error: string | null;
      /** When it became known to the service. */
      created_at: string;
      /** When it began; null: not yet. */
      started_at: string | null;
      /** When it ended; null: not yet. */
      finished_at: string | null;
      /** In the order found, 1,000 at most. */
      findings: components["schemas"]["FindingOut"][];
    };
    /** What to look at again: by default everything of the agent. */
    SweepRequest: {
      /** The agent of this call, to make sure. */
      agent_id?: string | null;
      /** This slot alone. */
      slot?: components["schemas"]["SlotRequest"] | null;
      /** What became known since then, and what is marked to be looked at again. */
      since?: string | null;
      /** true: `findings` tell what would be done, and nothing is. */
      dry_run?: boolean;
    };
    /** How a sweep stands. */
    SweepStatus: "queued" | "running" | "done" | "failed" | "cancelled";
    /** A sweep and how far it is. */
    SweepSummary: {
      /** The id of the sweep. */
      id: string;
      /** How it stands at the moment of the answer. */
      status: components["schemas"]["SweepStatus"];
      /** What it came from. */
      origin: components["schemas"]["Origin"];
      /** The slot it is about; null: all of them, or one whose words were erased. */
      slot: components["schemas"]["SweptSlotOut"] | null;
      /** Only memories that became known from then on; null: all. */
      since: string | null;
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run: boolean;
      /** Memories to examine; null before it is counted. */
      total: number | null;
      /** How many memories have been looked at. */
      examined: number;
      /** Of 1; null before the memories are counted. */
      progress: number | null;
      /** What came of it: numbers by outcome. */
      counts: components["schemas"]["CountsOut"];
      /** Why it failed; null: it did not. */
      error: string | null;
      /** When it became known to the service. */
      created_at: string;
      /** When it began; null: not yet. */
      started_at: string | null;
      /** When it ended; null: not yet. */
      finished_at: string | null;
    };
    /** Sweeps, newest first; what each found stands in the sweep itself. */
    SweepsAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["SweepSummary"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor: string | null;
    };
    /** The slot of a sweep, in the words of whoever asked. */
    SweptSlotOut: {
      /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
      entity: string | null;
      /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
      category: string | null;
      /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
      key: string;
    };
    /** Core memories keep a floor under their strength. */
    Tier: "core" | "semantic";
    /** A message that was found: what was said, which need not be so. */
    TurnOut: {
      /** Its id. */
      id: string;
      /** The capture that has the message. */
      capture_id: string;
      /** The session (conversation) in which it was said. */
      session_id: string | null;
      /** Who spoke. */
      role: components["schemas"]["Role"];
      /** Its name. */
      name: string | null;
      /** The fact in words. */
      content: string;
      /** When it was said. */
      said_at: string;
      /** The chance that it answers the question, 0 to 1, beside the others that may. */
      score: number;
    };
    /** How a capture is undone. */
    UndoRequest: {
      /** Undo also what was built on it; without this, 409 lists that. */
      cascade?: boolean;
      /** true: answer with what would be undone and write nothing. */
      dry_run?: boolean;
    };
    /** An agent whose events the webhook does not get, because they cannot be read. */
    UnreadableAgentOut: {
      /** Whose memories these are: the value of X-Agent-Id. */
      agent_id: string;
      /** When they could not be read for the first time. */
      since: string;
      /** When they are read again; null: at once. */
      next_try_at: string | null;
    };
    /** What asking a model took; zeros where none was asked. */
    UsageOut: {
      /** Calls to the language model. */
      llm_calls: number;
      /** Tokens that the model read. */
      prompt_tokens: number;
      /** Tokens that the model wrote. */
      completion_tokens: number;
      /** Milliseconds that the judges took. */
      ms: number;
      /** Why the model's answer was not used, or what of it was ignored. */
      trouble: string | null;
    };
    /** A value and since when it was true. */
    ValueOut: {
      /** The memory concerned. */
      memory_id: string;
      /** When this value began to hold. */
      valid_from: string;
    };
    /** What runs here. */
    Version: {
      /** The version of this service. */
      version: string;
      /** The model that makes the vectors of this service. */
      encoder: string;
    };
    /** How much of an answer the caller wants. */
    View: "full" | "brief";
    /** A webhook, without its secret. */
    WebhookOut: {
      /** Its id. */
      id: string;
      /** Where events are sent. */
      url: string;
      /** Whose events: an agent's id, `acme/*`, or `*` for all. */
      agents: string;
      /** Only events of these; empty: all. */
      operations: components["schemas"]["Operation"][];
      /** When it became known to the service. */
      created_at: string;
      /** Who created it, as `actor` in the log. */
      created_by: string;
      /** When its key ends, and the webhook with it; null: its key has no end. */
      expires_at: string | null;
      /** How many tries failed in a row. */
      failures: number;
      /** When what failed is tried again; null: nothing has to wait. */
      next_try_at: string | null;
      /** When it was disabled; null: it is not. */
      disabled_at: string | null;
      /** Why it was disabled. */
      disabled_because: string | null;
    };
    /** A webhook to create. */
    WebhookRequest: {
      /** Where events are sent: an https address in the public internet. */
      url: string;
      /** Whose events: an agent's id, `acme/*` for every id that begins with `acme/`, or `*` for all. Default: the agent of the call. */
      agents?: string | null;
      /** Only events of these operations. Default: all. */
      operations?: components["schemas"]["Operation"][];
    };
    /** A webhook, its last tries, and the agents whose events it does not get. */
    WebhookWithDeliveriesOut: {
      /** Its id. */
      id: string;
      /** Where events are sent. */
      url: string;
      /** Whose events: an agent's id, `acme/*`, or `*` for all. */
      agents: string;
      /** Only events of these; empty: all. */
      operations: components["schemas"]["Operation"][];
      /** When it became known to the service. */
      created_at: string;
      /** Who created it, as `actor` in the log. */
      created_by: string;
      /** When its key ends, and the webhook with it; null: its key has no end. */
      expires_at: string | null;
      /** How many tries failed in a row. */
      failures: number;
      /** When what failed is tried again; null: nothing has to wait. */
      next_try_at: string | null;
      /** When it was disabled; null: it is not. */
      disabled_at: string | null;
      /** Why it was disabled. */
      disabled_because: string | null;
      /** The last 20 tries, newest first. */
      deliveries: components["schemas"]["DeliveryOut"][];
      /** The first 20 agents whose events cannot be read. `palimpsest doctor` says what is wrong with an agent; the webhook gets the events of all others. */
      unreadable_agents: components["schemas"]["UnreadableAgentOut"][];
    };
    /** Webhooks in order of their ids. */
    WebhooksAnswer: {
      /** The entries of this page. */
      items: components["schemas"]["WebhookOut"][];
      /** Send it as `cursor` for the next page; null: this page is the last. */
      next_cursor: string | null;
    };
    /** The memory as it stands, why in a sentence or two, and all that led to it, in the order in which it became known. */
    WhyAnswer: {
      /** The memory concerned; null where there is none to show. */
      memory: components["schemas"]["MemoryOut"];
      /** Its story in a sentence. */
      summary: string;
      /** What happened to it, oldest first. */
      events: components["schemas"]["EventOut"][];
      /** True if the first events are left out, because the answer is as large as one may be (`PALIMPSEST_MAX_ANSWER_BYTES`). Ask an earlier version of its chain, at an earlier `known_at`, to see them. */
      truncated: boolean;
      /** Where operations were archived since the chain began: the known time of the last. Up to then, some may be missing. */
      log_archived_until: string | null;
      /** The parts of messages that say it: those that it was read from, and those that repeated it. `capture_id` leads to their capture. */
      quotes?: components["schemas"]["QuoteOut"][];
      /** The valid time that the answer describes: what was true then. */
      as_of: string;
      /** The known time that the answer describes: as far as was known then. */
      known_at: string;
    };
    /** The time that a question asks about. An end that its words leave open is null. */
    WindowOut: {
      /** The words of the question that name it. */
      text: string;
      /** The first moment of the time. */
      start: string | null;
      /** The first moment after the time. */
      end: string | null;
    };
    /** What a write did. On NOOP `memory` is the stored one that says it already; on DELETE the one that says the end, or null. */
    WriteAnswer: {
      /** Null where the agent is frozen and the fact waits as a review. */
      operation: components["schemas"]["Operation"] | null;
      /** The memory concerned; null where there is none to show. */
      memory: components["schemas"]["MemoryOut"] | null;
      /** What it ended. */
      superseded: components["schemas"]["SupersededOut"][];
      /** The relation that the write rests on, who found it and why. */
      decision: components["schemas"]["DecisionOut"];
      /** The stored memories that the fact was compared with, and what was judged. */
      candidates: components["schemas"]["CandidateOut"][];
      /** Others whose interval moved. */
      adjusted: string[];
      /** The known time of this write. */
      known_at: string;
      /** Null on a dry run. */
      log_id: string | null;
      /** The review that waits for a person, if this write left one. */
      review_id: string | null;
      /** That review as one line for the agent's own model, which answers it by POST /v1/reviews/answers; null if there is none, or if only a person may decide it. */
      question?: string | null;
      /** What the judges cost. */
      usage: components["schemas"]["UsageOut"];
      /** Whether nothing was written, because the call asked only what would happen. */
      dry_run: boolean;
      /** Secrets that were taken out of the request. */
      redacted?: number;
      /** What should be known before acting on it. */
      hints?: components["schemas"]["HintOut"][];
      /** What rests on a memory that it ended, and holds on: look whether it is still right. */
      stale?: components["schemas"]["StaleOut"][];
    };
  };
}

export interface paths {
  "/v1/memories": {
    /** Store one fact in plain words. It is compared with what is known: what is known already is a NOOP, a change ends what it replaces, and what is not sure waits as a review. Another value of the same `key` supersedes the old one. With `split: auto`, a text that plainly states several facts is stored as its `parts`, all of them or none. */
    post: {
      parameters: {
        path?: never;
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody: { content: { "application/json": components["schemas"]["StoreRequest"] } };
      responses: {
        201: { content: { "application/json": components["schemas"]["StoreAnswer"] | components["schemas"]["BriefStoreAnswer"] } };
        200: { content: { "application/json": components["schemas"]["StoreAnswer"] | components["schemas"]["BriefStoreAnswer"] } };
        202: { content: { "application/json": components["schemas"]["StoreAnswer"] | components["schemas"]["BriefStoreAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** List what holds, newest known or strongest first. By kind, slot, tags or session, at any point on both axes. Only a null `next_cursor` says that a list ends. A page of a large agent, which has an index, looks at no more than 10,000 memories. If few of them pass the filters, it has fewer than `limit`, maybe none, and the next page goes on behind those. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** What was true at that time. Default: now. */
          as_of?: string;
          /** As far as was known at that time. Default: all that is known. */
          known_at?: string;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
          /** Only memories whose `details` hold all of this, nested too; of a list, some of its values. As JSON: `{"ticket": 7}`. */
          details?: string;
          /** Every version, not only what holds. */
          include_superseded?: boolean;
          /** Only these memories; repeat it for each, up to 200 times. */
          ids?: string[];
          /** Newest known first, or strongest first. */
          sort?: "created" | "strength";
          /** true: only what rests on a memory that has ended (`stale_because`); false: the others. */
          stale?: boolean;
          /** How many entries at most. */
          limit?: number;
          /** `next_cursor` of the page before; filters and `sort` must stay the same. */
          cursor?: string;
          /** Look at every memory until the page is full, and sort by the strengths of now, even if the agent has an index. An agent without one is always listed like that. */
          exact?: boolean;
          /** What sort of statement: fact, preference, decision or constraint. */
          kind?: components["schemas"]["Kind"];
          /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
          entity?: string;
          /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
          category?: string;
          /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
          key?: string;
          /** The session (conversation) in which it was said. */
          session_id?: string;
          /** The project it belongs to, by name. */
          project?: string;
          /** The facts that were split from one sentence. */
          said_in?: string;
          /** Only memories with at least one of these tags. */
          tags_any?: string[];
          /** Only memories with all of these tags. */
          tags_all?: string[];
          /** Only memories of at least this importance, 0 to 1. */
          min_importance?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["ListAnswer"] | components["schemas"]["BriefListAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    patch?: never;
    delete?: never;
  };
  "/v1/memories/batch": {
    /** Store up to 1,000 facts in order, in one transaction. A bad item fails alone, or all do with `atomic`. `waiting` says at the top of the answer how many changes were not made and wait for a decision, and why. */
    post: {
      parameters: {
        path?: never;
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody: { content: { "application/json": components["schemas"]["BatchRequest"] } };
      responses: {
        200: { content: { "application/json": components["schemas"]["BatchAnswer"] | components["schemas"]["BriefBatchAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/memories/{memory_id}": {
    /** Read one version with its status at that moment. 404 where it was not known yet. */
    get: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: {
          /** What was true at that time. Default: now. */
          as_of?: string;
          /** As far as was known at that time. Default: all that is known. */
          known_at?: string;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["MemoryOut"] | components["schemas"]["BriefMemory"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** Correct metadata, `valid_from` or the stated end, never content. */
    patch: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody: { content: { "application/json": components["schemas"]["PatchRequest"] } };
      responses: {
        200: { content: { "application/json": components["schemas"]["WriteAnswer"] | components["schemas"]["BriefWriteAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** Retract a memory as of now, or erase it. History and as-of reads still show what was retracted. With `erase=true` its bytes go, and a receipt answers; the key then needs `erase` too. */
    delete: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: {
          /** true: erase its text, vector and hashes everywhere. This cannot be undone. */
          erase?: boolean;
          /** With erase: erase also what its text was merged into. */
          cascade?: boolean;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["WriteAnswer"] | components["schemas"]["BriefWriteAnswer"] | components["schemas"]["ErasureAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
  };
  "/v1/memories/{memory_id}/history": {
    /** Read all versions of a fact, from any of them. Oldest first, which one is current, and the operations. It follows supersessions into other chains, backwards and forwards, and `joints` says where. A history of more than 1,000 versions or operations, or of too many bytes, goes on behind `next_cursor`. It reaches at most 10,000 other chains in each direction. */
    get: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: {
          /** What was true at that time. Default: now. */
          as_of?: string;
          /** As far as was known at that time. Default: all that is known. */
          known_at?: string;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
          /** `next_cursor` of the page before; `as_of` and `known_at` stay the same. */
          cursor?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["HistoryAnswer"] | components["schemas"]["BriefHistoryAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/memories/{memory_id}/supersede": {
    /** Replace a memory by new content, or by a stored memory (`by`). */
    post: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody: { content: { "application/json": components["schemas"]["SupersedeRequest"] } };
      responses: {
        201: { content: { "application/json": components["schemas"]["WriteAnswer"] | components["schemas"]["BriefWriteAnswer"] } };
        200: { content: { "application/json": components["schemas"]["WriteAnswer"] | components["schemas"]["BriefWriteAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/memories/{memory_id}/retract": {
    /** End a memory without a successor. It ends at a moment (default now), or was never true. Its history stays. */
    post: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: { content: { "application/json": components["schemas"]["RetractRequest"] | null } };
      responses: {
        200: { content: { "application/json": components["schemas"]["WriteAnswer"] | components["schemas"]["BriefWriteAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/memories/{memory_id}/why": {
    /** Tell the story of a memory: what it replaced and what replaced it, who decided and why, what was kept apart, reviews and reverts. At an earlier `known_at`, nothing that came later is told. */
    get: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: {
          /** What was true at that time. Default: now. */
          as_of?: string;
          /** As far as was known at that time. Default: all that is known. */
          known_at?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["WhyAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/memories/{memory_id}/beliefs": {
    /** Read all that was ever believed of a chain: what a picture of its past is drawn from, on both axes of time. At each known time it shows what the history does. A temporary memory may change chains; each chain shows the time that it stood there. */
    get: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["BeliefsAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/memories/{memory_id}/relationships": {
    /** Link a memory to another. Nothing ends by it. When one of the two ends later, the other says so in `stale_because`, where the type is one of merged_into, expands, sequential, causes, enables, references. */
    post: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: never;
      };
      requestBody: { content: { "application/json": components["schemas"]["LinkRequest"] } };
      responses: {
        201: { content: { "application/json": components["schemas"]["LinkAnswer"] } };
        200: { content: { "application/json": components["schemas"]["LinkAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** List the links of a memory, in both directions, latest first. */
    get: {
      parameters: {
        path: {
          /** `id` of a memory: paste one from the answer to a store, a list or a search. */
          memory_id: string;
        };
        query?: {
          /** As far as was known at that time. Default: all that is known. */
          known_at?: string;
          /** How many entries at most. */
          limit?: number;
          /** `next_cursor` of the page before. */
          cursor?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["RelationshipsAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    patch?: never;
    delete?: never;
  };
  "/v1/search": {
    /** Search memories, best match first. It finds min(limit, live) of them, unless `min_score` cuts some off. Mode `text` has those that share a word with the query. A `score` is the chance that the memory answers, beside the others that may. */
    post: {
      parameters: {
        path?: never;
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody: { content: { "application/json": components["schemas"]["SearchRequest"] } };
      responses: {
        200: { content: { "application/json": components["schemas"]["SearchAnswer"] | components["schemas"]["BriefSearchAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** Search memories by GET, best match first, now or at any point on both axes of time. */
    get: {
      parameters: {
        path?: never;
        query: {
          /** What to search for. */
          q: string;
          /** What was true at that time. Default: now. */
          as_of?: string;
          /** As far as was known at that time. Default: all that is known. */
          known_at?: string;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
          /** Only memories whose `details` hold all of this, nested too; of a list, some of its values. As JSON: `{"ticket": 7}`. */
          details?: string;
          /** Every version, not only what holds. */
          include_superseded?: boolean;
          /** How many entries at most. */
          limit?: number;
          /** How to search: by meaning (`vector`), by words (`text`), or by both. */
          mode?: "hybrid" | "vector" | "text";
          /** Leave out results that score lower, 0 to 1. */
          min_score?: number;
          /** Leave out what hardly answers: results below a score of 0.03. */
          focus?: boolean;
          /** `turns`: search messages, too, by meaning and words. They are answered beside the results. */
          include?: "turns"[];
          /** Order of the memories found: best match first, or strongest first. It never hides one. */
          sort?: "score" | "strength";
          /** Look at every memory, even if the agent has an index. An agent without one is always searched like that. */
          exact?: boolean;
          /** Read words such as "in March", "last week" or "since 2024" as the time that the question asks about: what held then is searched too, and comes first, above all what began or ended then. The answer shows the `window`. Only questions about the present are read so. */
          read_dates?: boolean;
          /** What sort of statement: fact, preference, decision or constraint. */
          kind?: components["schemas"]["Kind"];
          /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
          entity?: string;
          /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
          category?: string;
          /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
          key?: string;
          /** The session (conversation) in which it was said. */
          session_id?: string;
          /** The project it belongs to, by name. */
          project?: string;
          /** The facts that were split from one sentence. */
          said_in?: string;
          /** Only memories with at least one of these tags. */
          tags_any?: string[];
          /** Only memories with all of these tags. */
          tags_all?: string[];
          /** Only memories of at least this importance, 0 to 1. */
          min_importance?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["SearchAnswer"] | components["schemas"]["BriefSearchAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    patch?: never;
    delete?: never;
  };
  "/v1/preferences/{category}/{key}": {
    /** Read the preference that holds at a moment. */
    get: {
      parameters: {
        path: {
          /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
          category: string;
          /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
          key: string;
        };
        query?: {
          /** What was true at that time. Default: now. */
          as_of?: string;
          /** As far as was known at that time. Default: all that is known. */
          known_at?: string;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
          /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
          entity?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["MemoryOut"] | components["schemas"]["BriefMemory"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/preferences/{key}": {
    /** Read a preference that was stored without a category. */
    get: {
      parameters: {
        path: {
          /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
          key: string;
        };
        query?: {
          /** What was true at that time. Default: now. */
          as_of?: string;
          /** As far as was known at that time. Default: all that is known. */
          known_at?: string;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
          /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
          entity?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["MemoryOut"] | components["schemas"]["BriefMemory"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/context": {
    /** Fill a prompt with what holds now, within a budget: constraints first, then by kind, most useful first, never anything superseded. Then up to three open questions about what it shows, which POST /v1/reviews/answers answers, and what was said about the query and became no fact. With `Accept: text/plain`, the text alone. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** What was true at that time. Default: now. */
          as_of?: string;
          /** As far as was known at that time. Default: all that is known. */
          known_at?: string;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
          /** What the prompt is about; without it, the strongest memories come first. */
          query?: string;
          /** Tokens that the text may take, headings included, by an estimate that is right to about a tenth. */
          budget_tokens?: number;
          /** With a query, leave out what hardly answers it, but for constraints and core memories. If nothing answers it, the strongest stay. */
          focus?: boolean;
          /** End the text with up to three open questions about what it shows, in at most a third of the budget. Only a context of the present has any. */
          questions?: boolean;
          /** End the text with up to three messages that are likely about the query and became no fact, if the budget has room. */
          talk?: boolean;
          /** What sort of statement: fact, preference, decision or constraint. */
          kind?: components["schemas"]["Kind"];
          /** Who or what it is about, such as `user`; part of the slot (entity, category, key), which holds one value at a time. */
          entity?: string;
          /** The area of the key, such as `tooling`; part of the slot (entity, category, key), which holds one value at a time. Empty: none. */
          category?: string;
          /** Which attribute, such as `editor`; part of the slot (entity, category, key), which holds one value at a time. */
          key?: string;
          /** The session (conversation) in which it was said. */
          session_id?: string;
          /** The project it belongs to, by name. */
          project?: string;
          /** The facts that were split from one sentence. */
          said_in?: string;
          /** Only memories with at least one of these tags. */
          tags_any?: string[];
          /** Only memories with all of these tags. */
          tags_all?: string[];
          /** Only memories of at least this importance, 0 to 1. */
          min_importance?: number;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["ContextAnswer"] | components["schemas"]["BriefContextAnswer"]; "text/plain": string } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/messages": {
    /** Store messages of a session, and the facts that are read from them. The messages are stored first. A short call that the network reads is answered with the facts. A long one is finished by a worker, and so is what a model reads, together with the next messages of the session: ask for the capture. A message whose id the session has already is not stored again. */
    post: {
      parameters: {
        path?: never;
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody: { content: { "application/json": components["schemas"]["MessagesRequest"] } };
      responses: {
        200: { content: { "application/json": components["schemas"]["CaptureAnswer"] | components["schemas"]["BriefCaptureAnswer"] } };
        202: { content: { "application/json": components["schemas"]["CaptureAnswer"] | components["schemas"]["BriefCaptureAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/captures": {
    /** List the calls that stored messages, newest first, and how far each is read. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** How it stands. */
          state?: components["schemas"]["CaptureState"];
          /** How many entries at most. */
          limit?: number;
          /** `next_cursor` of the page before. */
          cursor?: string;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
          /** The session (conversation) in which it was said. */
          session_id?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["CapturesAnswer"] | components["schemas"]["BriefCapturesAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/captures/{capture_id}": {
    /** Read the messages of a call, how far they are read, and the facts of each. */
    get: {
      parameters: {
        path: {
          /** `capture_id`: paste one from the answer to POST /v1/messages, or a list. */
          capture_id: string;
        };
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["CaptureAnswer"] | components["schemas"]["BriefCaptureAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/captures/{capture_id}/undo": {
    /** Undo what the facts of a capture did: all that stands, newest first, all or none. Its messages stay. */
    post: {
      parameters: {
        path: {
          /** `capture_id`: paste one from the answer to POST /v1/messages, or a list. */
          capture_id: string;
        };
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: { content: { "application/json": components["schemas"]["UndoRequest"] | null } };
      responses: {
        200: { content: { "application/json": components["schemas"]["RevertsAnswer"] | components["schemas"]["BriefRevertsAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/reviews": {
    /** List what waits for a person, and what was decided, newest first. Reviews that waited too long are closed, and logged, first. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** Where it comes from, such as a file or a tool. */
          source?: components["schemas"]["ReviewSource"];
          /** How the incoming fact stands to the stored one. */
          relation?: components["schemas"]["Relation"];
          /** The fact stored beside, or a memory that the proposal is about. */
          memory_id?: string;
          /** Only those whose judge was at least so sure, 0 to 1. */
          min_confidence?: number;
          /** How it stands at the moment of the answer. */
          status?: components["schemas"]["ReviewStatus"];
          /** How many entries at most. */
          limit?: number;
          /** `next_cursor` of the page before. */
          cursor?: string;
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["ReviewsAnswer"] | components["schemas"]["BriefReviewsAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/reviews/{review_id}": {
    /** Read a review, with its memories before and after accepting it now. */
    get: {
      parameters: {
        path: {
          /** `id` of a review: paste `review_id` from the answer to a store, or an `id` from the list. */
          review_id: string;
        };
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["ReviewDetailOut"] | components["schemas"]["BriefReviewDetail"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/reviews/{review_id}/accept": {
    /** Do what the review proposes. If the question leaves a choice, `memories` names what it is right about. Where its memories changed since, 409 shows a fresh proposal. Accepting again is the same as once. */
    post: {
      parameters: {
        path: {
          /** `id` of a review: paste `review_id` from the answer to a store, or an `id` from the list. */
          review_id: string;
        };
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: { content: { "application/json": components["schemas"]["AcceptRequest"] | null } };
      responses: {
        200: { content: { "application/json": components["schemas"]["WriteAnswer"] | components["schemas"]["BriefWriteAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/reviews/{review_id}/reject": {
    /** Leave everything as it is, and close the review. The decision is logged; rejecting again is the same as once. */
    post: {
      parameters: {
        path: {
          /** `id` of a review: paste `review_id` from the answer to a store, or an `id` from the list. */
          review_id: string;
        };
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: { content: { "application/json": components["schemas"]["DecisionRequest"] | null } };
      responses: {
        200: { content: { "application/json": components["schemas"]["WriteAnswer"] | components["schemas"]["BriefWriteAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/reviews/decide": {
    /** Accept or reject several reviews, each for itself: one that cannot be decided leaves the others alone. */
    post: {
      parameters: {
        path?: never;
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody: { content: { "application/json": components["schemas"]["DecideRequest"] } };
      responses: {
        200: { content: { "application/json": components["schemas"]["DecideAnswer"] | components["schemas"]["BriefDecideAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/reviews/answers": {
    /** Answer open questions as the agent's own model, each for itself. What is named by its letter ends; none closes the question. Logged as decided by `agent`, and undone like anything else. What concerns a constraint or higher trust stays for a person. */
    post: {
      parameters: {
        path?: never;
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody: { content: { "application/json": components["schemas"]["AnswersRequest"] } };
      responses: {
        200: { content: { "application/json": components["schemas"]["AnswersAnswer"] | components["schemas"]["BriefAnswersAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/shadow/report": {
    /** Report what shadow mode would have changed: by relation, judge and confidence, with examples and how people decided so far. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** Only proposals from then on. */
          since?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["ShadowReport"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/log": {
    /** List operations with what each read and wrote, newest first. Only a null `next_cursor` says that the list ends. A page looks at no more than 10,000 operations. If few of them pass `operation`, `decided_by`, `actor` or `review`, it has fewer than `limit`, maybe none, and the next page goes on behind those. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** Only operations of this kind. */
          operation?: components["schemas"]["Operation"];
          /** Operations that wrote or changed this memory. */
          memory_id?: string;
          /** Only operations that this judge decided. */
          decided_by?: components["schemas"]["Judge"];
          /** Operations that this actor wrote: the `actor` of another operation. */
          actor?: string;
          /** Operations that left a review for this reason: shadow, for example. */
          review?: components["schemas"]["ReviewSource"];
          /** Only operations known from then on. */
          since?: string;
          /** Only operations known before then. */
          until?: string;
          /** How many entries at most. */
          limit?: number;
          /** `next_cursor` of the page before. */
          cursor?: string;
          /** Only operations of this session. */
          session_id?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["LogAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/log/{log_id}": {
    /** Read an operation. 410 names the archive to which it was moved. */
    get: {
      parameters: {
        path: {
          /** `id` of an operation: paste `log_id` from the answer to a write, or an `id` from the list. */
          log_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["LogEntryOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/events": {
    /** List what happened to an agent, oldest first, in ids and without texts. Go on with `after`: nothing is missed and nothing comes twice. `wait` holds the request open until there is an event. With `Accept: text/event-stream` the answer is a stream of server-sent events that goes on after `Last-Event-ID`. 410 if operations behind `after` were archived meanwhile; `resume_after` says where to go on. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** `id` of the last event that was seen, or `after` of the last answer. `latest`: only what happens from now on. Default: from the beginning of the log. */
          after?: string | "latest";
          /** Seconds to wait for an event if there is none. A stream ignores it. */
          wait?: number;
          /** Events of one answer at most. */
          limit?: number;
          /** Only events of these operations; repeat the parameter for several. */
          operation?: components["schemas"]["Operation"][];
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["EventsAnswer"]; "text/event-stream": string } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/log/{log_id}/revert": {
    /** Undo an operation, a revert included. Reads at an earlier `known_at` stay as they were. 409 lists what was built on it. */
    post: {
      parameters: {
        path: {
          /** `id` of an operation: paste `log_id` from the answer to a write, or an `id` from the list. */
          log_id: string;
        };
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody?: { content: { "application/json": components["schemas"]["RevertRequest"] | null } };
      responses: {
        200: { content: { "application/json": components["schemas"]["RevertAnswer"] | components["schemas"]["BriefRevertAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/reverts": {
    /** Undo many operations, newest first, all or none: those of a batch, an import, a session, a source, a judge or a time, or those that are named. */
    post: {
      parameters: {
        path?: never;
        query?: {
          /** `full`: every field, also those that are null. `brief`: what an agent acts on, without empty fields. */
          view?: components["schemas"]["View"];
        };
      };
      requestBody: { content: { "application/json": components["schemas"]["RevertsRequest"] } };
      responses: {
        200: { content: { "application/json": components["schemas"]["RevertsAnswer"] | components["schemas"]["BriefRevertsAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/sessions/{session_id}/end": {
    /** End a session: every memory of it with lifespan `session` is retracted, constraints included; all others stay. An operation each; `POST /v1/reverts` with this call's X-Request-Id undoes them all. */
    post: {
      parameters: {
        path: {
          /** The session (conversation) in which it was said. */
          session_id: string;
        };
        query?: never;
      };
      requestBody?: { content: { "application/json": components["schemas"]["EndRequest"] | null } };
      responses: {
        200: { content: { "application/json": components["schemas"]["EndAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/projects/{project}/end": {
    /** End a project: the same, with its memories of lifespan `project`. */
    post: {
      parameters: {
        path: {
          /** The project it belongs to, by name. */
          project: string;
        };
        query?: never;
      };
      requestBody?: { content: { "application/json": components["schemas"]["EndRequest"] | null } };
      responses: {
        200: { content: { "application/json": components["schemas"]["EndAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/sweeps": {
    /** Look at stored memories again, as a store would: what contradicts something later ends, as far as rules, judges and caps allow. A worker does it; ask for the sweep to see how far it is. To undo it: `POST /v1/reverts` with its id as `sweep_id`. */
    post: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody?: { content: { "application/json": components["schemas"]["SweepRequest"] | null } };
      responses: {
        202: { content: { "application/json": components["schemas"]["SweepOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** List sweeps, newest first, those started by the clock and after stores included. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** How many entries at most. */
          limit?: number;
          /** `next_cursor` of the page before. */
          cursor?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["SweepsAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    patch?: never;
    delete?: never;
  };
  "/v1/sweeps/{sweep_id}": {
    /** Read how far a sweep is, and what it found. */
    get: {
      parameters: {
        path: {
          /** `id` of a sweep: paste one from the answer to a POST, or from the list. */
          sweep_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["SweepOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/sweeps/{sweep_id}/cancel": {
    /** Stop a sweep where it is. What it did stays, and can be undone; one that is over stays as it is. */
    post: {
      parameters: {
        path: {
          /** `id` of a sweep: paste one from the answer to a POST, or from the list. */
          sweep_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["SweepOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/insights": {
    /** Report what keeps changing and which judges err: churn, flip-flops, lives of values, retired and given back, signals, stale constraints, lengths of chains; each entry with ids to look at. A report: it changes nothing. A large agent, which has an index, is answered with what was counted lately: `counted_at` says when. With `since`, `until` or a `limit` above 100 it is counted now, and no more than the newest 5,000 memories, operations and reviews of the window: `counted_since` says from when on. `exact` counts all of the window now, which reads the whole agent. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** Only these; may be repeated. Without it, all. */
          section?: components["schemas"]["Section"][];
          /** Count what became known at that time or later. */
          since?: string;
          /** Count what became known before that time. */
          until?: string;
          /** Entries per section. */
          limit?: number;
          /** After how many days without a word a constraint counts as stale. */
          stale_days?: number;
          /** Count all of the window now, even if the agent has an index. An agent without one is always counted so. */
          exact?: boolean;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["InsightsAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/import": {
    /** Import versions with their own dates on both axes, a line each; or a native export (`GET /v1/export`), known by its first line, into an agent that holds nothing (else 409); its key needs `admin` too. A bad line is named by its number and nothing of the import is kept. Of an answer over 8 MB nothing is kept for a retry under the same Idempotency-Key: it is told that all was imported (410). */
    post: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody: { content: { "application/x-ndjson": string } };
      responses: {
        200: { content: { "application/x-ndjson": string } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/export": {
    /** Export everything of an agent, as it is at one moment: memories with what was ever believed of them, the log, relationships and reviews. `POST /v1/import` of it into an empty agent, here or elsewhere, gives an agent that answers the same on both axes and exports the same bytes. An export without its last line, of type `end`, was cut off. It holds a database connection while it is read, so a key may have only some under way at a time. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** false: leave the vectors out; an import makes them again. */
          vectors?: boolean;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/x-ndjson": string } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/erasures": {
    /** Erase a fact with all versions, a session, or an agent: texts, vectors, hashes, in the tables and in the log. Intervals stay, so that reads over the hole say `erased`. This cannot be undone. */
    post: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody: { content: { "application/json": components["schemas"]["ErasureRequest"] } };
      responses: {
        200: { content: { "application/json": components["schemas"]["ErasureAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/agents/{agent_id}/stats": {
    /** Count what an agent has: memories by status, what holds and how strong it is, the log by operation and judge, reviews. All numbers are those of `as_of`. Those of a large agent, which has an index, are a while old: the worker counts them now and then. */
    get: {
      parameters: {
        path: {
          /** An agent's id: paste one from the list. */
          agent_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["StatsOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/agents": {
    /** List agents, with how many memories each has and when it last learnt something: all that were ever written to and that the key is for. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** How many entries at most. */
          limit?: number;
          /** `next_cursor` of the page before. */
          cursor?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["AgentsAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/agents/{agent_id}": {
    /** Read an agent: its mode, its time zone, and how many memories it has. */
    get: {
      parameters: {
        path: {
          /** An agent's id: paste one from the list. */
          agent_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["AgentOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** Choose an agent's mode or time zone: what becomes of changes to its memories, and where the dates in its words are read. In shadow mode changes become reviews; frozen, nothing is written. */
    patch: {
      parameters: {
        path: {
          /** An agent's id: paste one from the list. */
          agent_id: string;
        };
        query?: never;
      };
      requestBody: { content: { "application/json": components["schemas"]["AgentPatch"] } };
      responses: {
        200: { content: { "application/json": components["schemas"]["AgentOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    delete?: never;
  };
  "/v1/keys": {
    /** Issue a key. It may do no more than the key of this call, and its secret is shown only in this answer. 409 without PALIMPSEST_API_KEY. */
    post: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody: { content: { "application/json": components["schemas"]["KeyRequest"] } };
      responses: {
        201: { content: { "application/json": components["schemas"]["IssuedKeyOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** List keys that may do no more than the key of this call, without their secrets. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** How many entries at most. */
          limit?: number;
          /** `next_cursor` of the page before. */
          cursor?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["KeysAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    patch?: never;
    delete?: never;
  };
  "/v1/keys/{key_id}": {
    /** Revoke a key. Within a second no process takes it any more; it stays in the list. */
    delete: {
      parameters: {
        path: {
          /** `id` of a key: paste one from the answer to a POST, or from the list. */
          key_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["KeyOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    post?: never;
    patch?: never;
  };
  "/v1/keys/{key_id}/rotate": {
    /** Replace a key: the new one has another id and secret, and the same name, rights and length of life. The old one ends after `overlap` seconds. */
    post: {
      parameters: {
        path: {
          /** `id` of a key: paste one from the answer to a POST, or from the list. */
          key_id: string;
        };
        query?: never;
      };
      requestBody?: { content: { "application/json": components["schemas"]["RotateRequest"] | null } };
      responses: {
        201: { content: { "application/json": components["schemas"]["IssuedKeyOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/webhooks": {
    /** Send events to an address from now on, signed as Standard Webhooks says. The secret is shown only in this answer. The key of the call must be for the agents, and the webhook ends with it. */
    post: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody: { content: { "application/json": components["schemas"]["WebhookRequest"] } };
      responses: {
        201: { content: { "application/json": components["schemas"]["NewWebhookOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** List webhooks of agents that the key of the call is for, without their secrets. */
    get: {
      parameters: {
        path?: never;
        query?: {
          /** How many entries at most. */
          limit?: number;
          /** `next_cursor` of the page before. */
          cursor?: string;
        };
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["WebhooksAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    patch?: never;
    delete?: never;
  };
  "/v1/webhooks/{webhook_id}": {
    /** Read a webhook, whether it works, and what became of its last messages. */
    get: {
      parameters: {
        path: {
          /** `id` of a webhook: paste one from the answer to a POST, or the list. */
          webhook_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["WebhookWithDeliveriesOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    /** Remove a webhook, with its secret and its deliveries. */
    delete: {
      parameters: {
        path: {
          /** `id` of a webhook: paste one from the answer to a POST, or the list. */
          webhook_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["WebhookOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
  };
  "/v1/webhooks/{webhook_id}/ping": {
    /** Send a message of type `ping` now, once, and answer what became of it. */
    post: {
      parameters: {
        path: {
          /** `id` of a webhook: paste one from the answer to a POST, or the list. */
          webhook_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["DeliveryOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/webhooks/{webhook_id}/enable": {
    /** Let a webhook go on at once, if it is disabled or waits for its next try. One that ended with its key goes on with the key of the call. */
    post: {
      parameters: {
        path: {
          /** `id` of a webhook: paste one from the answer to a POST, or the list. */
          webhook_id: string;
        };
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["WebhookOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    get?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/doctor": {
    /** Check all that is stored of an agent: chains, beliefs, the log replayed, links, reviews, hashes, vectors, erasures. */
    get: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["DoctorAnswer"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/v1/actor": {
    /** Read who calls with this key, what the key allows, and until when. */
    get: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["ActorOut"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/livez": {
    /** Check that the process answers. The database is not touched. */
    get: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["Health"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/readyz": {
    /** Check that the service can serve: the database answers within two seconds and takes writes, its vectors are of this service's model, requests move on, and the process is not about to end. Read replicas are listed, the model is named with its trouble, and neither makes the service unready. */
    get: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["Ready"] } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/metrics": {
    /** Read what all workers counted: requests, operations by relation and judge, calls to the model and their tokens, the pool, the replicas, the queue. A key is needed only with PALIMPSEST_METRICS_NEED_KEY. */
    get: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "text/plain": string } };
        default: { content: { "application/problem+json": components["schemas"]["Problem"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
  "/version": {
    /** Read the version of this service and of its encoder. */
    get: {
      parameters: {
        path?: never;
        query?: never;
      };
      requestBody?: never;
      responses: {
        200: { content: { "application/json": components["schemas"]["Version"] } };
      };
    };
    post?: never;
    patch?: never;
    delete?: never;
  };
}
