/** Every limit of this package, with its unit in its name. */

/** Longest frame, without the four bytes of its length (PROTOCOL.md, "Frames"). */
export const maxFrameBytes = 1_073_741_824;

/**
 * Longest frame of a client that has not said hello. A hello has some 60 bytes, and the name of a program, which is a file's, no
 * more than 255.
 */
export const maxHelloBytes = 4_096;

/** Pieces of a stream that are shorter are put together in blocks of this length. */
export const pieceBlockBytes = 4_096;

/** Most rows of one column, at any depth. Types without bytes would else let a short frame stand for any number of rows. */
export const maxColumnRows = 134_217_728;

/** Bytes of the buffer in which a frame is built, before it has to grow. */
export const frameScratchBytes = 4_096;

/** Rendered changes that are kept for clients that follow a lake, in bytes and in revisions. Older clients load everything. */
export const followLogBytes = 67_108_864;
export const followLogRevisions = 4_096;

/** Frames of a full load that are kept for the next clients, in bytes for each lake, and for how long without one. */
export const rememberedLoadBytes = 67_108_864;
export const rememberedLoadMs = 60_000;

/**
 * A load of fewer bytes is rendered anew after a commit, in some 10 ms: cheaper than the steps of each commit, in case that somebody
 * attaches. Of a larger one clients go on by those steps, while they are no more than this part of it.
 */
export const followedLoadBytes = 262_144;
export const followedLoadShare = 1 / 4;

/** How long a `Follow` waits for the steps of a commit that has landed to be worked out, before it loads everything. */
export const followWaitMs = 5_000;

/** How long a client that repeats a refused commit keeps the commits of others waiting until its own comes. */
export const retryFloorMs = 2_000;

/** How often a `Follow` looks for a cut of the very revision that it answers with. */
export const pinAttempts = 3;

/** Longest name of a lake's folder, in bytes. Names of files have no more than 255. */
export const mostLakeFolderBytes = 240;

/** Most values in one list of a statement. */
export const statementListValues = 1_000;

/** Row ids of one index read that are located in data files; more are not: a plan does not restrict its files by so many. */
export const maxLocatedRows = 4_096;

/** How often a CREATE INDEX or DROP INDEX is run before it is refused for the commits that come before it each time. */
export const indexStatementAttempts = 5;

/** Most connections of one connected application. Requests beyond wait. */
export const connectionsPerApplication = 16;

/** Rows that a connected application asks for in one block of a scan. A block ends sooner at the store's own limit of bytes. */
export const remoteBlockRows = 4_096;
