import { arch, cpus, loadavg, platform, totalmem } from "node:os";
import { loopsInUse } from "@moraine/store";

/** What the figures were measured on. */
export interface Machine {
  readonly platform: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly node: string;
  /** Which code reads and writes stores. */
  readonly loops: string;
  /** Load of the last minute when the run began: more than a little means that the figures are disturbed. */
  readonly loadAverage: number;
}

export function describeMachine(): Machine {
  const cores = cpus();
  return {
    platform: `${platform()} ${arch()}`,
    cpu: cores[0]?.model.trim() ?? "unknown",
    cores: cores.length,
    memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    node: process.version,
    loops: loopsInUse().name,
    loadAverage: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

export function machineLine({ platform: system, cpu, cores, memoryGiB, node, loops, loadAverage }: Machine): string {
  return `${system}, ${cores} cores (${cpu}), ${memoryGiB} GiB memory, Node ${node}, ${loops} loops, load ${loadAverage}`;
}
