import { failureText, interrupted } from "./failure.js";

/** Lets Ctrl-C end the process with a word about it, at once and from its first moment on. */
export function reportInterrupt(asJson: boolean): void {
  process.once("SIGINT", () => {
    const { stderr } = process;
    // A line of progress may stand where the text goes.
    if (stderr.isTTY) stderr.write("\r\u001b[K");
    stderr.write(failureText(interrupted, asJson));
    process.exit(interrupted.exitStatus);
  });
}
