/** Every limit of the service process, with its unit in its name. */
export const serviceLimits = {
  /** How long a service that was started for a client stays without one. */
  idleTimeoutMs: 60_000,
  /** How long an idle service still takes clients that have found its socket just before it went. */
  farewellMs: 50,
  /** How long a start waits for another service that neither listens nor ends: one that starts, or that closes its store. */
  predecessorMs: 14_000,
  predecessorPollMs: 10,
  /** How often a service that starts begins to listen again where its folder was removed in that very instant. */
  listenAttempts: 10,
  /** Longest path of a socket, in bytes. Node would cut off the rest. */
  socketPathBytes: 107,
  /** How often a service looks whether its socket and its locks are still there. */
  placeCheckMs: 1_000,
  /** How long a connection may be without a hello. Clients say it at once; they wait 10 s for the answer. */
  helloMs: 30_000,
  /** Most connections without a hello. Node keeps 511 in wait for a process that is busy, and gives it all of them at once. */
  newcomers: 512,
  /** How long requests under way, and then the store, may take when the service is told to end. */
  stopMs: 10_000,
  /** How long a process that ends waits for the service in a thread of it: for its requests, and for its store. */
  exitMs: 20_000,
  /** The log is begun anew at this size; the one before is kept beside it. */
  logBytes: 8 * 1024 * 1024,
  /** Longest text of one field of the log. */
  logTextLength: 16_384,
  /** How long a service that was started may take until it listens. */
  startMs: 15_000,
  /** How often a service that ends is greeted before that is an error, and how long one greeting may take. */
  greetings: 20,
  greetMs: 10_000,
  /** How long a service may take to answer `status` and `stop`. */
  answerMs: 5_000,
  /** How long `stop` waits for the process to be gone. */
  goneMs: 30_000,
} as const;
