/** How much an event matters. error: callers go without something, or will. warn: somebody should look. info: it is well, or was wanted. */
export type EventLevel = "debug" | "info" | "warn" | "error";

/**
 * What is said of an event wherever it happens. `msg`: a sentence that a person can read. `isOfRequest`: it happens while a request is
 * carried out, whose id and path its line has.
 */
export type EventDefinition = { level: EventLevel; msg: string; isOfRequest?: true };

/** Events by their names. */
export type EventDefinitions = Readonly<Record<string, EventDefinition>>;

/** The events of the core; each feature has its own. docs/operate.md says of each what to do. */
export const coreEvents: EventDefinitions = {
  internal_error: { level: "error", msg: "The gateway has a fault.", isOfRequest: true },
  stopping: { level: "info", msg: "The gateway stops." },
  drain_timeout: { level: "error", msg: "Requests were cut off by the stop." },
  stopped: { level: "info", msg: "The gateway stopped." },
  configuration_reloaded: { level: "info", msg: "The configuration was read again." },
  configuration_refused: { level: "error", msg: "The changed configuration is wrong; the old one stays in force." },
  restart_needed: { level: "warn", msg: "Changed settings take effect only at a restart." },
  log_lines_dropped: { level: "warn", msg: "Lines of the log are lost: its reader was too slow." },
  requests_refused: { level: "warn", msg: "Requests were refused." },
  untrusted_proxy: { level: "warn", msg: "A proxy that is not trusted forwards requests." },
  circuit_opened: { level: "error", msg: "The circuit opened: the backend fails and is given time." },
  circuit_closed: { level: "info", msg: "The circuit closed: the backend answers again." },
  legacy_failed: { level: "error", msg: "Legacy gave no answer.", isOfRequest: true },
  legacy_unreadable: { level: "error", msg: "Legacy's answer cannot be read.", isOfRequest: true },
  json_broken: { level: "warn", msg: "Legacy's JSON does not parse; its XML was asked for.", isOfRequest: true },
  odd_status: { level: "error", msg: "Legacy sent a document with an error status.", isOfRequest: true },
  schema_mismatch: { level: "error", msg: "Legacy's answer does not fit the schema.", isOfRequest: true },
  unknown_field: { level: "warn", msg: "Legacy sent a field that no rule knows.", isOfRequest: true },
  code_unknown: { level: "warn", msg: "Legacy sent an error code that is not known.", isOfRequest: true },
  code_misasked: { level: "error", msg: "Legacy says that the gateway asked wrongly.", isOfRequest: true },
  service_key_refused: { level: "error", msg: "Legacy refused the gateway's own key.", isOfRequest: true },
  large_answer_failed: { level: "error", msg: "A large answer could not be read." },
  pass_through_failed: { level: "error", msg: "A request that was passed through failed.", isOfRequest: true },
  request_loop: { level: "error", msg: "A request came back to this gateway.", isOfRequest: true },
  legacy_asked: { level: "debug", msg: "Legacy was asked.", isOfRequest: true },
  modern_asked: { level: "debug", msg: "Modern was asked.", isOfRequest: true },
};
