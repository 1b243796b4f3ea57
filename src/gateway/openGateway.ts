import { openReadCounts, type Observer, type Settings } from "../operation/index.ts";
import type { Additions } from "./answer/additions.ts";
import { gatewayApp } from "./answer/app.ts";
import type { Core } from "./answer/core.ts";
import { openHitPath } from "./answer/hitPath.ts";
import { legacyBackend } from "./answer/legacyBackend.ts";
import type { Catalogue } from "./answer/prepared.ts";
import { observePassThrough } from "./answer/proxiedWrites.ts";
import { afterAccess } from "./answer/writeAccess.ts";
import { OldReads } from "./oldReads/oldReads.ts";
import { type CoreParts, openCore, type OpenedCore, PATHS_SHARE } from "./openCore.ts";
import { dataFileSubstitutes } from "./proxy/dataFiles.ts";
import { passThrough } from "./proxy/passThrough.ts";
import { openStoredAnswers } from "./storedAnswers.ts";

/** A gateway that is put together: its interface, the proxy beside it, and its life from start to close. */
export type Gateway<F extends Additions = Additions> = Awaited<ReturnType<typeof openGateway<F>>>;

/** Parts of a gateway that are replaced or added. */
export type GatewayParts = CoreParts & {
  /** Nothing is taken from the cache or stored, and no request waits for the same one of another caller. */
  isUncached?: boolean;
};

/**
 * Puts the gateway together in three steps: the core, the features, each with the parts of the core and of others that
 * it uses, and the interface of both. Nothing is connected or listens yet. `openFeatures` defers to `closing` the
 * functions that end them.
 *
 * @throws If a feature cannot be opened. The message has the setting's name.
 */
export const openGateway = async <F extends Additions = Additions>(
  settings: Settings,
  catalogue: Catalogue,
  observer: Observer,
  openFeatures: (core: Core, closing: AsyncDisposableStack) => F | Promise<F>,
  { isUncached = false, ...parts }: GatewayParts = {},
) => {
  // Closes the opened parts, the last first: now if the start fails, else when the gateway is closed.
  await using opening = new AsyncDisposableStack();
  let features: F | undefined;
  // Only this is bound late: the core reports on legacy, and features know for what legacy is still needed.
  const legacyOnlyChecksKeys = () => features?.legacyOnlyChecksKeys() ?? false;
  const opened = openCore(settings, catalogue, observer, legacyOnlyChecksKeys, parts);
  const { core, legacy } = opened;
  // The answers that legacy still owes are read and stored.
  for (const part of [core.cache, core.reader, legacy]) opening.defer(() => part.close());
  features = await openFeatures(core, opening);
  for (const part of [core.traffic, core.unconfirmed]) opening.defer(() => part.close());
  const served = openInterface(opened, features, isUncached);
  const closing = opening.move();
  let isStopping = false;

  return {
    core,
    features,
    ...served,
    /** Requests that come from now on are answered, and their connections closed; `/readyz` says so. */
    beginStop: () => void (isStopping = true),
    isStopping: () => isStopping,
    /**
     * Closes the features, waits for pending answers of legacy, and closes everything else. At the end, rejects with
     * the errors.
     */
    close: () => closing.disposeAsync(),
  };
};

/** Opens the parts that may answer a request; server.ts has their order, with the steps of features. */
const openInterface = ({ core, identity, legacy }: OpenedCore, features: Additions, isUncached: boolean) => {
  const { settings, catalogue, meter, observer, trusted, noteLoop } = core;
  const { legacyHeaders: headers, onLegacyBody, writes, decide, documents } = features;
  const hitPath = openHitPath(core, features, settings.CACHE_BYTES * PATHS_SHARE);
  const layered = features.layers.reduce((next, layer) => layer(next), legacyBackend(core, writes, isUncached));
  const proxy = passThrough(legacy.pools.downloads, legacy.pools.uploads, {
    host: settings.LEGACY_HOST,
    meter,
    observer,
    trusted,
    noteLoop,
    observe: observePassThrough({ ...core, writes }, onLegacyBody, catalogue.legacyWrites),
    headers,
    substituteFor: dataFileSubstitutes(catalogue.legacyPaths.files, core.outage),
  });
  const app = gatewayApp({ ...core, decide, documents, handler: afterAccess(core, decide, layered), hitPath });
  const oldReads =
    settings.CACHE_LEGACY.length === 0
      ? undefined
      : new OldReads(core, {
          counts: openReadCounts(meter),
          hitPath,
          legacy: identity,
          headers,
          onLegacyBody,
          decide,
          backend: features.oldReadBackend,
        });
  return { app, hitPath, proxy, oldReads, stored: openStoredAnswers(core, features, { app, oldReads }) };
};
