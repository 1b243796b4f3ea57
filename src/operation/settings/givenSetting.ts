/** A value that was given for a setting, and its source: `from` is "in the environment" or "in <file>". */
export type GivenSetting = { value: unknown; from: string };

/** The setting that names a file with the value of a secret setting: `ADMIN_TOKEN` -> `ADMIN_TOKEN_FILE`. */
export const fileSettingOf = (secret: string): string => `${secret}_FILE`;
