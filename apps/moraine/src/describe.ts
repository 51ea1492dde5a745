/** Text of a caller's own in quotes, fit for an error message. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}
