import { consoleApp } from "../../../features/console/consoleApp.ts";
import { operatorsApp } from "../../../src/gateway/operators/app.ts";
import type { TestGateway } from "../../support/gateway.ts";

type Given = {
  /** Where the new interface is served. */
  address?: string;
  token?: string | undefined;
  metricsToken?: string | undefined;
  names?: readonly string[];
};

/** The operators' interface and page of a gateway, as its listener has them. */
export const consoleFor = (
  {
    core,
    stored,
    off,
    consoleParts,
    isStopping,
  }: Pick<TestGateway, "core" | "stored" | "off" | "consoleParts" | "isStopping">,
  { address = "http://127.0.0.1:8000/v1", ...guard }: Given = {},
): ReturnType<typeof consoleApp> =>
  consoleApp(
    { ...core, stored, off },
    consoleParts,
    (signIn) => operatorsApp({ ...core, isStopping }, { host: "127.0.0.1", ...guard }, signIn),
    address,
  );
