import type { Settings } from "../settings/settings.ts";
import { buildInfo } from "../telemetry/buildInfo.ts";
import { type DiskSpace, openDiskSpace } from "../telemetry/diskSpace.ts";
import type { Sample } from "../telemetry/series.ts";
import type { Services } from "./services.ts";

/** Free bytes below which nothing can be relied on to be stored. */
const LEAST_FREE = 1024 ** 2;

/** Registers what runs, whether its dependencies work, and the space of `DATA_DIR`, which is a dependency. */
export const meterDependencies = (
  { DATA_DIR: directory }: Pick<Settings, "DATA_DIR">,
  { meter, dependencies }: Pick<Services, "meter" | "dependencies">,
): void => {
  let info: Sample | undefined;
  meter.gauge("build_info", "Always 1: the version, the build of the code and of Node.", () => [
    (info ??= buildInfo()),
  ]);
  meter.gauge("dependency_up", "Whether a dependency works, as it was seen last: 1 or 0.", async () =>
    (await dependencies.states()).map(({ name, state }) => ({
      labels: { dependency: name },
      value: state === "ok" ? 1 : 0,
    })),
  );
  if (directory === undefined) return;
  const look = openDiskSpace(directory);
  dependencies.add("data_dir", async (report) => {
    const found = await look();
    if ("why" in found) report(false, found.why);
    else report(found.free >= LEAST_FREE, found.free >= LEAST_FREE ? undefined : "its file system is full");
  });
  const gauge = (name: string, help: string, of: keyof DiskSpace) =>
    meter.gauge(name, help, async () => {
      const found = await look();
      return "why" in found ? [] : [{ labels: {}, value: found[of] }];
    });
  gauge("data_dir_free_bytes", "Bytes that can still be written to the file system of DATA_DIR.", "free");
  gauge("data_dir_size_bytes", "Size of the file system of DATA_DIR in bytes.", "size");
};
