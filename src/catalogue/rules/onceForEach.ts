/** The same function, which is called once for each argument: its results are remembered with their arguments. */
export const onceForEach = <Key extends object, Value extends object>(make: (key: Key) => Value) => {
  const known = new WeakMap<Key, Value>();
  return (key: Key): Value => {
    const made = known.get(key) ?? make(key);
    known.set(key, made);
    return made;
  };
};
