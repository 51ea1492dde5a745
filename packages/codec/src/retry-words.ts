/** DuckLake repeats a commit whose error text holds one of these, wherever it stands, inside a quoted name too. */
const retryWords = /conflict|concurrent|unique|primary key/giu;

/**
 * A text with a dot set into each of DuckLake's retry words, so that a refusal which mentions a table called `unique_ids`
 * stays a refusal (specification, "Uniqueness enforcement", wording of the rejection).
 */
export function withoutRetryWords(text: string): string {
  return text.replace(retryWords, (word) => `${word.slice(0, 1)}\u00b7${word.slice(1)}`);
}
