/** The unscaled integer of decimal text, or `undefined` for other text or more digits after the point than `scale`. */
export function parseDecimal(text: string, scale: number): bigint | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
  const whole = match?.[2] ?? "";
  const fraction = (match?.[3] ?? "").replace(/0+$/, "");
  if (match === null || (whole === "" && (match[3] ?? "") === "") || fraction.length > scale) return undefined;
  const magnitude = BigInt(`0${whole}${fraction.padEnd(scale, "0")}`);
  return match[1] === "-" ? -magnitude : magnitude;
}

/** The text of an unscaled integer, with all digits of its scale. */
export function formatDecimal(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
  const point = digits.length - scale;
  const shown = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return unscaled < 0n ? `-${shown}` : shown;
}

/** The sixteen bytes of a UUID's text, with or without hyphens and braces; `undefined` for other text. */
export function parseUuid(text: string): Uint8Array | undefined {
  const bare = /^\{.*\}$/.test(text) ? text.slice(1, -1) : text;
  const digits = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i.test(bare)
    ? bare.replaceAll("-", "")
    : "";
  if (digits === "") return undefined;
  return Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

/** The usual text of a UUID's sixteen bytes. */
export function formatUuid(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20), digits.slice(20)].join(
    "-",
  );
}

/** The bytes of DuckDB's blob text: `\xAB` for a byte, any other ASCII character for itself; `undefined` for other text. */
export function parseBlob(text: string): Uint8Array | undefined {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) return undefined;
    if (text[i] !== "\\") {
      bytes.push(unit);
      continue;
    }
    const escape = /^\\x([0-9a-f]{2})$/i.exec(text.slice(i, i + 4));
    if (escape === null) return undefined;
    bytes.push(Number.parseInt(escape[1] as string, 16));
    i += 3;
  }
  return Uint8Array.from(bytes);
}

/** The number of float text, `nan` and `inf` included; `undefined` for other text. */
export function parseFloatText(text: string): number | undefined {
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return Number(text);
  const special = /^([+-]?)(nan|inf(?:inity)?)$/i.exec(text);
  if (special === null) return undefined;
  if (special[2]?.toLowerCase() === "nan") return Number.NaN;
  return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
