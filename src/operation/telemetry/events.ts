/**
 * The importance of an event. error: callers miss something, or will. warn: an operator should look. info: all is well,
 * or as wanted.
 */
export type EventLevel = "debug" | "info" | "warn" | "error";

/**
 * The description of an event, wherever it happens. `msg`: a sentence that a person can read. `isOfRequest`: it happens
 * while a request is carried out; its line has the id and path of that request. `notes`: the text that docs/operate.md
 * adds to `msg`, in Markdown, and what to do.
 */
export type EventDefinition = { level: EventLevel; msg: string; notes?: string; isOfRequest?: true };

/** Events by their names. */
export type EventDefinitions = Readonly<Record<string, EventDefinition>>;

/** The events of the core; each feature has its own. */
export const coreEvents: EventDefinitions = {
  internal_error: {
    level: "error",
    msg: "The gateway has a fault.",
    isOfRequest: true,
    notes:
      "The line has the stack and its `place`: one line a second for each place, the others are counted. It costs the request that it happens in, or one piece of work in the background (`origin`: what nothing caught). Report it.",
  },
  stopping: {
    level: "info",
    msg: "The gateway stops.",
    notes: "SIGTERM or SIGINT came; the port stays open for another `delay` milliseconds.",
  },
  drain_timeout: {
    level: "error",
    msg: "Requests were cut off by the stop.",
    notes: "They were still in flight `DRAIN_TIMEOUT_MS` after the port closed. Raise it if uploads take longer.",
  },
  stopped: { level: "info", msg: "The gateway stopped.", notes: "The line has the counts of all events." },
  configuration_reloaded: {
    level: "info",
    msg: "The configuration was read again.",
    notes: "`changed` names what took effect, `warnings` what a start would warn of.",
  },
  configuration_refused: {
    level: "error",
    msg: "The changed configuration is wrong; the old one stays in force.",
    notes: "Correct what `errors` names.",
  },
  restart_needed: {
    level: "warn",
    msg: "Changed settings take effect only at a restart.",
    notes: "`settings` names them.",
  },
  log_lines_dropped: {
    level: "warn",
    msg: "Lines of the log are lost: its reader was too slow.",
    notes: "Look at what reads the standard error.",
  },
  requests_refused: {
    level: "warn",
    msg: "Requests were refused.",
    notes:
      "They were malformed, or more than a bound on clients allows. At most one line a minute, with their number by status. Look at who sends them if it goes on.",
  },
  untrusted_proxy: {
    level: "warn",
    msg: "A proxy that is not trusted forwards requests.",
    notes:
      "It sends `X-Forwarded-For` or `Forwarded` and is not in `TRUSTED_PROXIES`, so all callers behind it look like one. Logged once a subnet. If it is your proxy, add its `address` (or its network).",
  },
  circuit_opened: {
    level: "error",
    msg: "The circuit opened: the backend is failing.",
    notes:
      "Three calls to this `backend` in a row failed. Legacy answers reads for five seconds, then one call tries it. Look at that backend.",
  },
  circuit_closed: {
    level: "info",
    msg: "The circuit closed: the backend answers again.",
    notes: "It was open for `openFor` milliseconds.",
  },
  legacy_failing: {
    level: "error",
    msg: "Legacy fails: the probe says so.",
    notes:
      "`why` and `details` say how. What is stored is served, other reads are answered 503, and the probe is asked every five seconds. Look at legacy, its database and what stands before it.",
  },
  legacy_back: {
    level: "info",
    msg: "Legacy is back.",
    notes:
      "It had been failing for `failedFor` milliseconds. Meanwhile, and in the minute before that was known, `failed` requests failed; the cache answered `cached`.",
  },
  legacy_refuses: {
    level: "error",
    msg: "Legacy, or what stands before it, refuses the gateway.",
    notes: "With this `status`. Let the gateway's address and its `User-Agent` pass there.",
  },
  legacy_probe_differs: {
    level: "warn",
    msg: "Legacy answers the gateway's probe otherwise than requests.",
    notes:
      "The probe failed while three requests in a row were answered. It is not believed until legacy has answered it. Find out what stands before legacy and treats it otherwise.",
  },
  legacy_failed: {
    level: "error",
    msg: "Legacy gave no answer.",
    isOfRequest: true,
    notes:
      "A connection failed, took too long, found a full pool, or was not sent since legacy fails; `why` says which. Of these two the level is warn. Look at legacy if it goes on.",
  },
  legacy_unreadable: {
    level: "error",
    msg: "Legacy's answer cannot be read.",
    isOfRequest: true,
    notes: "It is neither JSON nor XML; the client got 502. Look at the path in the legacy server.",
  },
  legacy_cache_unreadable: {
    level: "warn",
    msg: "An answer of legacy's interface was passed on, but not stored: it cannot be read.",
    isOfRequest: true,
    notes:
      "With `coding`, something before legacy codes answers, or names a charset as their coding, though the gateway asks for no coding: fix that. Such reads pass.",
  },
  legacy_ill: {
    level: "error",
    msg: "Something other than legacy answered, or legacy has no database.",
    isOfRequest: true,
    notes:
      "A front's page, a redirection, a refusal, or legacy without its database. `status`, `type` and the first `words` say what came, `judgement` whether it is ill or refuses the gateway. Look at what stands before legacy, and at its database.",
  },
  legacy_refused_client: {
    level: "warn",
    msg: "What stands before legacy refused or limited a request, which it may do by its client's address.",
    isOfRequest: true,
    notes:
      "Status 401, 403 or 429, with the members of `legacy_ill`. Where all clients get it, the event `legacy_refuses` or `legacy_failing` says so.",
  },
  legacy_part_hangs: {
    level: "warn",
    msg: "A part of legacy hangs; a request for it was refused.",
    isOfRequest: true,
    notes:
      "For five seconds no request for this `endpoint` (of proxied requests also `write`, `file`, `website` or `read`) got a first byte. They hold half of the connections, so that others are answered. Look at its queries, or its table.",
  },
  json_broken: {
    level: "warn",
    msg: "Legacy's JSON does not parse; its XML was asked for.",
    isOfRequest: true,
    notes: "Nothing to do; a rise means that legacy changed.",
  },
  empty_list: {
    level: "error",
    msg: "A list that used to have rows came back empty.",
    isOfRequest: true,
    notes:
      "Its shortest list has no row either: what is stored of the list is served. A table of legacy's, or its temporary disk, may fail. Look at its database.",
  },
  odd_status: {
    level: "error",
    msg: "Legacy sent a document with an error status.",
    isOfRequest: true,
    notes: "The client got 502. Look at what stands before legacy.",
  },
  schema_mismatch: {
    level: "error",
    msg: "Legacy's answer does not fit the schema.",
    isOfRequest: true,
    notes: "The client got 502. `places` says where: extend the rule, or repair the record.",
  },
  unknown_field: {
    level: "warn",
    msg: "Legacy sent a field that no rule knows.",
    isOfRequest: true,
    notes: "It is passed on as it is. Logged once a field. Add it to the rules.",
  },
  code_unknown: {
    level: "warn",
    msg: "Legacy sent an error code that is not known.",
    isOfRequest: true,
    notes: "Add it to `transforms/legacyErrors.ts`.",
  },
  code_misasked: {
    level: "error",
    msg: "Legacy says that the gateway asked wrongly.",
    isOfRequest: true,
    notes: "Report it with the endpoint and code.",
  },
  service_key_refused: {
    level: "error",
    msg: "Legacy refused the gateway's own key.",
    isOfRequest: true,
    notes: "Check `LEGACY_API_KEY`.",
  },
  large_answer_failed: {
    level: "error",
    msg: "A large answer could not be read.",
    notes:
      "A thread failed, ran out of heap or read for 30 s beyond the request's end; `why` says which. Its caller was answered 502 or 504. Lower `MAX_REPLY_BYTES` if it repeats.",
  },
  pass_through_failed: {
    level: "error",
    msg: "A request that was passed through failed.",
    isOfRequest: true,
    notes:
      "`kind` and `why` say how. The level is warn where the gateway had no room, info where the client left (`aborted`), debug where the request was refused. Look at legacy if errors go on.",
  },
  request_loop: {
    level: "error",
    msg: "A request came back to this gateway.",
    isOfRequest: true,
    notes:
      "Its `Via` names a request that this process has under way. Correct `LEGACY_URL` or `MODERN_URL`: one of them leads here.",
  },
  loop_unproven: {
    level: "debug",
    msg: "A request with this gateway's name in Via was refused.",
    isOfRequest: true,
    notes:
      "Its `Via` names no request that is under way. Anyone may have sent it, or a proxy between has changed the `Via` of one that came back.",
  },
  legacy_asked: {
    level: "debug",
    msg: "Legacy was asked.",
    isOfRequest: true,
    notes: "The line has `method`, `asked` (the path without keys), `status` and `bytes` or the `failure`, and `ms`.",
  },
  modern_asked: {
    level: "debug",
    msg: "Modern was asked.",
    isOfRequest: true,
    notes: "The line has the members of `legacy_asked`.",
  },
};
