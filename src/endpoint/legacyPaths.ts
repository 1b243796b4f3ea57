/**
 * Where legacy's interface begins on its server, as a path: the documented one and others that reach the same handlers. `frontController`: the
 * script that all of them run through; the interface's path may also stand behind it, or in the query of either.
 */
export type LegacyPaths = { interfaces: readonly string[]; frontController: string };
