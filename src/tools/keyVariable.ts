/** The key in the environment variable that `--key` names. Throws where there is none; the error shows no key. `minLength`: in characters. */
export const readKeyVariable = (
  name: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  minLength: number,
): string | undefined => {
  if (name === undefined) return undefined;
  const key = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? environment[name] : undefined;
  // The message omits the name: someone may have given the key itself.
  if (key === undefined)
    throw new Error(
      "--key: no environment variable of this name is set; allowed is the name of one that holds the key",
    );
  if (new RegExp(`^[A-Za-z0-9]{${minLength},64}$`).test(key)) return key;
  throw new Error(`--key: what ${name} holds is no key; allowed are ${minLength} to 64 letters and digits`);
};
