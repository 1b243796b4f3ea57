/* Makes what is shown as it is in a newer document, and touches nothing that is the same: focus, selections, open folds and fields stay. */

/** What the reader has done with an element is the reader's. */
const ofReader = new Set(["open", "hidden"]);

const isOwn = (node) => node.nodeType === Node.ELEMENT_NODE && node.hasAttribute("data-own");

const keyOf = (node) =>
  node.nodeType === Node.ELEMENT_NODE ? (node.getAttribute("data-key") ?? (node.id || undefined)) : undefined;

const isAlike = (old, next) => old.nodeType === next.nodeType && old.nodeName === next.nodeName;

const morphAttributes = (old, next) => {
  for (const name of old.getAttributeNames())
    if (!next.hasAttribute(name) && !ofReader.has(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (old.getAttribute(name) !== value && !ofReader.has(name)) old.setAttribute(name, value);
};

/** Moves without a loss of focus where the browser can, and gives it back where it cannot. */
const place = (parent, node, before) => {
  const focused = node.contains(document.activeElement) ? document.activeElement : undefined;
  if (parent.moveBefore) parent.moveBefore(node, before);
  else parent.insertBefore(node, before);
  if (focused !== document.activeElement) focused?.focus({ preventScroll: true });
};

const morphChildren = (old, next) => {
  const keyed = new Map([...old.children].map((child) => [keyOf(child), child]).filter(([key]) => key !== undefined));
  const wanted = new Set([...next.children].map(keyOf));
  let at = old.firstChild;
  const skip = (node) => {
    let here = node;
    while (here && (isOwn(here) || (keyOf(here) !== undefined && !wanted.has(keyOf(here))))) here = here.nextSibling;
    return here;
  };
  for (const child of next.childNodes) {
    at = skip(at);
    const key = keyOf(child);
    const known = key === undefined ? undefined : keyed.get(key);
    if (known && isAlike(known, child)) {
      keyed.delete(key);
      if (known === at) at = at.nextSibling;
      else place(old, known, at);
      morph(known, child);
    } else if (key === undefined && at && keyOf(at) === undefined && isAlike(at, child)) {
      const same = at;
      at = at.nextSibling;
      morph(same, child);
    } else old.insertBefore(document.importNode(child, true), at);
  }
  while (at) {
    const rest = at;
    at = at.nextSibling;
    if (!isOwn(rest)) rest.remove();
  }
  for (const gone of keyed.values()) gone.remove();
};

export const morph = (old, next) => {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  if (old.isEqualNode(next)) return;
  morphAttributes(old, next);
  morphChildren(old, next);
};
