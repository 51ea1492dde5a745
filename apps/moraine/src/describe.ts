const retryWords = /conflict|concurrent|unique|primary key/giu;

/**
 * Text of a caller's own in quotes, fit for an error message. DuckLake repeats a commit whose error text holds one of four
 * words; a dot is set into them, so that a refusal which quotes a name like `unique_ids` stays a refusal.
 */
export function quoted(text: string): string {
  return JSON.stringify(text.replace(retryWords, (word) => `${word.slice(0, 1)}\u00b7${word.slice(1)}`));
}
