/** Sizes of the demonstration. */
export const demoLimits = {
  /** Flights, unless the command line says otherwise. */
  flightRows: 200_000,
  /** Fewest flights with which every question has an answer. */
  leastFlightRows: 12_000,
  /** Flights that the data set has. */
  mostFlightRows: 3_000_000,
  flightFiles: 6,
  /** One flight in so many has no delay, so that there are NULLs to ask for. */
  rowsPerUnknownDelay: 500,
  /** Flights that are kept inside the catalog. */
  inlineFlights: 60,
  /** Every so many flights of one file die by a delete file. */
  rowsPerDelete: 20,
  /** Deleted flights that come back inline. */
  reinsertedFlights: 40,
  /** Keys of one question with IN. */
  manyKeys: 100,
  /** Times that one question is put, to an index or to a scan, at most and at least; the median time counts. */
  mostRuns: 101,
  leastRuns: 3,
  /** Time for one question, in milliseconds, after which only the least runs are made. */
  runsBudgetMs: 80,
} as const;
