/** The key in the environment variable that `--key` names, or an error that does not show the key. `minLength`: in characters. */
export const readKeyVariable = (
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  minLength: number,
): { key: string } | { errors: string[] } => {
  const key = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? environment[name] : undefined;
  // The message omits the name: someone may have given the key itself.
  if (key === undefined)
    return {
      errors: ["--key: no environment variable of this name is set; allowed is the name of one that holds the key"],
    };
  return new RegExp(`^[A-Za-z0-9]{${minLength},64}$`).test(key)
    ? { key }
    : { errors: [`--key: what ${name} holds is no key; allowed are ${minLength} to 64 letters and digits`] };
};
