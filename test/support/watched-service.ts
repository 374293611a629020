import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { scratchDirectory } from './scratch.js'
import { startRunningService, type RunningService } from './running-service.js'

/** What the service did since it was looked at last. */
export interface Looked {
  /** The most CPU time that one turn of the event loop took, in ms; 0 for less than 20. */
  readonly longestTurn: number
  /** The peak of the resident memory above that at rest, in MiB. */
  readonly memory: number
}

export interface WatchedService extends RunningService {
  /** Waits until the process does next to nothing. */
  readonly idle: () => Promise<void>
  /** Collects garbage, and measures from here on. */
  readonly rest: () => Promise<void>
  readonly look: () => Looked
}

const PRELOADED = fileURLToPath(new URL('turns-of-loop.mjs', import.meta.url))

/** As `bin/start` sets it. */
const SEMI_SPACE = '--max-semi-space-size=64'

/** The program in a process of its own, which measures the turns of its event loop. */
export const startWatchedService = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<WatchedService> => {
  const turns = join(await scratchDirectory(), 'turns')
  writeFileSync(turns, '')
  const service = await startRunningService({
    ...environment,
    TURNS_FILE: turns,
    NODE_OPTIONS: `${SEMI_SPACE} --import=${PRELOADED}`,
  })
  let read = 0
  let atRest = 0
  const lines = () => {
    const all = readFileSync(turns, 'latin1')
    const fresh = all.slice(read, all.lastIndexOf('\n') + 1).split('\n')
    read = all.lastIndexOf('\n') + 1
    return fresh
  }
  return Object.assign(service, {
    idle: () => untilIdle(service.pid),
    rest: async () => {
      lines()
      process.kill(service.pid, 'SIGUSR2')
      while (!lines().includes('collected')) await sleep(5)
      resetPeak(service.pid)
      atRest = residentMiB(service.pid, 'VmRSS')
    },
    look: () => ({
      longestTurn: Math.max(0, ...lines().map((line) => Number(line.slice('turn '.length)) || 0)),
      memory: residentMiB(service.pid, 'VmHWM') - atRest,
    }),
  })
}

const residentMiB = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

/** Linux: writing 5 resets the peak of the resident set. */
const resetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')

const LOOK_MS = 100
/** Ticks of 10 ms; measuring takes some of them. */
const FEW_TICKS = 2
const MOST_LOOKS = 300

const untilIdle = async (pid: number): Promise<void> => {
  for (let idle = 0, looks = 0; idle < 2 && looks < MOST_LOOKS; looks += 1) {
    const before = ticksOf(pid)
    await sleep(LOOK_MS)
    idle = ticksOf(pid) - before <= FEW_TICKS ? idle + 1 : 0
  }
}

/** Linux: user and system time are the 14th and 15th field; the second is the name in parentheses. */
const ticksOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return Number(fields[11]) + Number(fields[12])
}
