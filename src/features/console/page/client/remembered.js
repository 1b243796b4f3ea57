/* What outlives a reload: the operator's name in this browser, the token in this tab. Where a browser keeps nothing, this page does. */
const unkept = new Map();

const openStore = (kind) => {
  try {
    return globalThis[kind];
  } catch {
    return undefined;
  }
};

const remembering = (kind, key) => ({
  get: () => openStore(kind)?.getItem(key) ?? unkept.get(key) ?? "",
  set: (text) => {
    unkept.set(key, text);
    try {
      openStore(kind)?.setItem(key, text);
    } catch {
      // Full, or forbidden.
    }
  },
  forget: () => {
    unkept.delete(key);
    openStore(kind)?.removeItem(key);
  },
});

export const operatorName = remembering("localStorage", "operator");
export const adminToken = remembering("sessionStorage", "admin-token");
