/**
 * Marks an error of the start that may pass without a change: starting again may help. Any other error comes from a
 * wrong setting, which stays wrong.
 */
export const temporary = <E extends Error>(error: E): E => Object.assign(error, { isTemporary: true });

/** True if an error is marked; an error that came from a thread still is. */
export const isTemporary = (error: Error): boolean => "isTemporary" in error;
