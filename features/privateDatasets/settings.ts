import type { z } from "zod";
import { fields, type Settings, type SettingsFragment } from "../../src/operation/index.ts";

const shape = {
  LEGACY_ADMIN_KEY: fields.key
    .optional()
    .describe("Key of an administrator, to find private datasets. Administrators are then listed them"),
};

const secrets = ["LEGACY_ADMIN_KEY"];

const isOn = ({ LEGACY_ADMIN_KEY }: PrivateDatasetsSettings): boolean => LEGACY_ADMIN_KEY !== undefined;

const whenOff = {
  setting: "LEGACY_ADMIN_KEY",
  effect: "administrators are listed no private datasets but their own",
  section: {
    id: "private-rows",
    title: "Private datasets",
    about: "What legacy's list keeps from administrators, and the scan that finds it.",
  },
};

export const settings = { shape, group: "The legacy server", secrets, isOn, whenOff } satisfies SettingsFragment;

export type PrivateDatasetsSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
