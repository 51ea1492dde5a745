import { readFileSync } from "node:fs";

const bytesPerKiB = 1024;
const bytesPerMiB = 1024 * 1024;

/** Resident memory now, after what is garbage has been collected. */
export function residentMiB(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss() / bytesPerMiB;
}

/** The most memory that this process ever had resident. */
export function peakResidentMiB(): number {
  // On Linux the kernel's own counter: that of `resourceUsage` starts at the peak of the process that started this one.
  if (process.platform === "linux") {
    const peak = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    if (peak !== undefined) return (Number(peak) * bytesPerKiB) / bytesPerMiB;
  }
  return (process.resourceUsage().maxRSS * bytesPerKiB) / bytesPerMiB;
}
