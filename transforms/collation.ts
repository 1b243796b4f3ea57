/** As legacy's database compares texts (utf8_general_ci): no letter's case, no accent and no blank at the end makes a difference. */
export const collated = (text: string): string =>
  text.replace(/ +$/, "").normalize("NFD").replaceAll(/\p{M}/gu, "").replaceAll("ß", "s").toUpperCase();
