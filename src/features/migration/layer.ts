import { type EndpointRequest, type Layer, type RequestCaller, type Served, uncached } from "../../serve/backend.ts";
import { confirmWrite } from "../../serve/writes.ts";
import { type MigrationServices, readByModern, writeByModern } from "./askModern.ts";
import { type Bucketing, bucketOf, decide } from "./decide.ts";
import type { Migration } from "./migration.ts";
import { type MirrorAddresses, mirrored } from "./mirror.ts";

/** What the layer is opened with. */
type MigrationLayerSettings = {
  /** Requests may name the backend that answers them (`Gateway-Backend`). */
  mayForce: boolean;
  addresses: MirrorAddresses;
};

/** Modern answers if the endpoint's stage says so. Legacy answers a read that modern fails. Both sides are compared after the answer. */
export const migrationLayer =
  (parts: MigrationServices, { mayForce, addresses }: MigrationLayerSettings): Layer =>
  (next) => {
    const { services, migration } = parts;
    const decisions = services.meter.counter("backend_answers_total", "Answers by the side that made them.", [
      "backend",
      "reason",
    ]);
    return async (request, caller) => {
      const { endpoint } = request;
      const decision = migration.decide(endpoint.name, bucketing(caller, mayForce));
      const isModern = decision.backend === "modern";
      const refusal = isModern ? await caller.authorize(true) : undefined;
      if (refusal)
        return { answered: uncached(refusal), decision: { ...decision, backend: "gateway", reason: "credential" } };
      if (endpoint.writes) {
        const served = isModern ? await write(parts, request, caller) : await next(request, caller);
        return { ...served, decision };
      }
      const answered = isModern ? await readByModern(parts, request, caller) : undefined;
      const isFallback = isModern && answered === undefined;
      const made = isFallback ? { ...decision, backend: "legacy" as const, reason: "fallback" } : decision;
      const served: Served = answered === undefined ? await next(request, caller) : { answered };
      if (decision.stage === "legacy") return { ...served, decision: made };
      decisions(made.backend, made.reason).value++;
      const compare = () =>
        migration.mirror(endpoint.name, () =>
          mirrored(parts, addresses, { request, caller, next, answered: served.answered, backend: made.backend }),
        );
      return {
        ...served,
        decision: made,
        isDivided: decision.stage === "canary" || decision.reason === "forced",
        // An incomplete list would differ from modern's.
        ...(served.isIncomplete ? {} : { afterwards: compare }),
      };
    };
  };

/** Whether modern answers this caller, by the endpoint's stage and by what the request names. */
export const answersByModern =
  (migration: Migration, mayForce: boolean) =>
  (endpoint: string, caller: RequestCaller): boolean =>
    decide(migration.stageOf(endpoint), bucketing(caller, mayForce)).backend === "modern";

const write = async (parts: MigrationServices, request: EndpointRequest, caller: RequestCaller): Promise<Served> => ({
  // Modern checks the caller's access itself.
  answered: await confirmWrite(parts.services, request, caller, await writeByModern(parts, request, caller)),
});

/** A caller always sees the same side. Its key identifies it or, without a key, its address and user agent. */
const bucketing = ({ key, client, header }: RequestCaller, mayForce: boolean): Bucketing => {
  const forced = mayForce ? header("gateway-backend") : undefined;
  // Legacy ignores the case of keys.
  const caller = () =>
    key === undefined ? `client ${client} ${header("user-agent") ?? ""}` : `key ${key.toLowerCase()}`;
  return {
    bucket: () => bucketOf(caller()),
    ...(forced === "legacy" || forced === "modern" ? { forced } : {}),
  };
};
