import { isIP, isIPv4 } from "node:net";

/** `::ffff:192.0.2.1` -> `192.0.2.1`, `[2001:db8::1]:80` -> `2001:db8::1`, `192.0.2.1:80` -> `192.0.2.1`; undefined where it is no address. */
export const plainAddress = (text: string): string | undefined => {
  let address = text;
  if (address.startsWith("[")) address = address.slice(1, Math.max(1, address.indexOf("]")));
  else if (address.includes(".") && address.lastIndexOf(":") > address.indexOf("."))
    address = address.slice(0, address.lastIndexOf(":"));
  const zone = address.indexOf("%");
  if (zone !== -1) address = address.slice(0, zone);
  if (address.length > 7 && address.slice(0, 7).toLowerCase() === "::ffff:" && isIPv4(address.slice(7)))
    return address.slice(7);
  return isIP(address) === 0 ? undefined : address;
};
