export const logLevels = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What may be said about an event: names and counts, never values of rows and never a secret. */
export type LogFields = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

/** Where a service writes what happens. */
export interface ServiceLog {
  write(level: LogLevel, event: string, fields?: LogFields): void;
}
