import { unwatchFile, watchFile } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { Observer } from "../telemetry/observer.ts";
import { loadSettings } from "./load.ts";
import type { KnownEndpoints, Settings, SettingsFragment, SettingsOf } from "./settings.ts";

type Reloading<F extends SettingsFragment> = {
  environment: Record<string, string | undefined>;
  endpoints: KnownEndpoints;
  fragments: readonly F[];
  settings: SettingsOf<F>;
  observer: Observer;
  /** Puts the settings in force. */
  apply: (settings: SettingsOf<F>) => Promise<void>;
};

/**
 * Reads the configuration again at SIGHUP, and whenever its file changes. If it has errors, the present configuration
 * stays in force.
 */
export const openReload = <F extends SettingsFragment>({
  environment,
  endpoints,
  fragments,
  settings,
  observer,
  apply,
}: Reloading<F>) => {
  /** The settings that may change while the gateway runs; all others take a restart. */
  const reloadable = new Set(fragments.flatMap((fragment) => fragment.reloadable ?? []));
  let inForce = settings;
  let running = Promise.resolve();

  const reload = async (): Promise<void> => {
    const loaded = loadSettings(environment, endpoints, fragments);
    if ("errors" in loaded) return observer.event("configuration_refused", { errors: loaded.errors });
    await apply(loaded.settings);
    const changed = Object.keys({ ...inForce, ...loaded.settings }).filter(
      (name) => !isDeepStrictEqual(inForce[name as keyof Settings], loaded.settings[name as keyof Settings]),
    );
    const taken = changed.filter((name) => reloadable.has(name));
    const restart = changed.filter((name) => !reloadable.has(name));
    const { warnings } = loaded;
    observer.event("configuration_reloaded", { changed: taken, ...(warnings.length > 0 ? { warnings } : {}) });
    if (restart.length > 0) observer.event("restart_needed", { settings: restart });
    inForce = {
      ...inForce,
      ...Object.fromEntries(taken.map((name) => [name, loaded.settings[name as keyof Settings]])),
    };
  };
  // One after the other, so that a later change does not overtake an earlier change.
  const now = async (): Promise<void> => {
    running = running
      .then(reload)
      .catch((error: Error) => observer.event("configuration_refused", { errors: [error.message] }));
    await running;
  };

  const file = environment["CONFIG"];
  // Watched by its name: editors and deployments replace the file.
  if (file) watchFile(file, { interval: 1000, persistent: false }, () => void now());
  const onHangUp = () => void now();
  process.on("SIGHUP", onHangUp);
  return {
    now,
    close() {
      if (file) unwatchFile(file);
      process.off("SIGHUP", onHangUp);
    },
  };
};
