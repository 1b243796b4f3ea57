/** A text as legacy's database compares it (utf8_general_ci): case, accents and blanks at the end do not count. */
export const collated = (text: string): string =>
  text.replace(/ +$/, "").normalize("NFD").replaceAll(/\p{M}/gu, "").replaceAll("ß", "s").toUpperCase();
