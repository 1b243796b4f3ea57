/**
 * Marks an error of the start that may pass by itself: starting again may help. Any other is of a wrong
 * setting, which stays wrong.
 */
export const temporary = <E extends Error>(error: E): E => Object.assign(error, { isTemporary: true });

/** Whether an error is marked; one that came from a thread still is. */
export const isTemporary = (error: Error): boolean => "isTemporary" in error;
