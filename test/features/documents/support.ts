import { documentsFeature } from "../../../src/features/documents/feature.ts";
import type { DocumentsSettings } from "../../../src/features/documents/settings.ts";
import type { Core, FeatureModule } from "../../../src/serve/feature.ts";
import type { Settings } from "../../../src/settings/settings.ts";
import { listeningGateway } from "../../http/support.ts";

const module: FeatureModule = {
  open: (core: Core, settings: Settings) => documentsFeature.open(core, settings as DocumentsSettings),
};

/** A gateway that listens with this feature alone, in front of this upstream. */
export const documentedGateway = (url: string, environment: Record<string, string> = {}) =>
  listeningGateway(url, environment, { features: [module] });
