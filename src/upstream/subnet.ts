/** The addresses that one caller may have: an IPv4 address itself, or the /64 of an IPv6 address, as `2001:db8:0:1::/64`. */
export const subnetOf = (address: string): string => {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.toLowerCase().split("::");
  const groups = head.split(":");
  // What `::` stands for is zeros, up to eight groups in all.
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const width = after.length + (after.at(-1)?.includes(".") === true ? 1 : 0);
  if (tail !== undefined) while (groups.length + width < 8) groups.push("0");
  const first = [...groups, ...after].slice(0, 4).map((group) => Number.parseInt(group || "0", 16).toString(16));
  return `${first.join(":")}::/64`;
};
