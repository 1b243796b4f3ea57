import { type Difference, differenceKey, OTHER_PATHS } from "./difference.ts";

/**
 * Groups of differences, in memory that does not grow with the number of answers. `max`: the groups of an endpoint,
 * since a candidate may invent paths; its further differences share the group `(other paths)`.
 */
export const openDifferenceGroups = <Group extends { endpoint: string }>(max: number) => {
  const groups = new Map<string, Group>();
  const perEndpoint = new Map<string, number>();
  const countGroup = ({ endpoint }: Group, by: 1 | -1) =>
    perEndpoint.set(endpoint, (perEndpoint.get(endpoint) ?? 0) + by);

  const groupOf = (endpoint: string, difference: Difference, create: (difference: Difference) => Group): Group => {
    const key = `${endpoint} ${differenceKey(difference)}`;
    const known = groups.get(key);
    if (known !== undefined) return known;
    const isOther = difference.path === OTHER_PATHS;
    if (!isOther && (perEndpoint.get(endpoint) ?? 0) >= max) {
      const { rule: _rule, cause: _cause, entry: _entry, ...others } = difference;
      return groupOf(endpoint, { ...others, path: OTHER_PATHS }, create);
    }
    const created = create(difference);
    groups.set(key, created);
    countGroup(created, 1);
    return created;
  };

  return {
    /** The group of a difference of an answer. `create` makes a missing group. */
    of: groupOf,
    remove(wanted: (group: Group) => boolean): Group[] {
      const removed: Group[] = [];
      for (const [key, group] of groups)
        if (wanted(group)) {
          groups.delete(key);
          countGroup(group, -1);
          removed.push(group);
        }
      return removed;
    },
    all: () => [...groups.values()],
  };
};
