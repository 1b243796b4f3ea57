/** As legacy's database compares texts (utf8_general_ci): case, accents and blanks at the end make no difference. */
export const collated = (text: string): string =>
  text.replace(/ +$/, "").normalize("NFD").replaceAll(/\p{M}/gu, "").replaceAll("ß", "s").toUpperCase();
