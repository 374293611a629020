import type { WriteStream } from 'node:tty'

export interface Progress {
  /** How many are done, and which fraction of all that is. */
  readonly note: (count: number, part: number) => void
  readonly end: () => void
}

const REPORT_EVERY_MS = { terminal: 250, file: 5000 }

/** Reports progress, speed and the remaining time on a stream. On a terminal it rewrites one line. */
export const progressOn = (
  stream: Pick<WriteStream, 'write'> & { readonly isTTY?: boolean },
  doing: string,
  now: () => number = () => performance.now(),
  counted = 'events',
): Progress => {
  const isTerminal = stream.isTTY === true
  const start = now()
  let reportedAt = start
  return {
    note: (count, part) => {
      if (now() - reportedAt < (isTerminal ? REPORT_EVERY_MS.terminal : REPORT_EVERY_MS.file)) return
      reportedAt = now()
      const seconds = (reportedAt - start) / 1000
      const left = part > 0 ? Math.ceil((seconds / part) * (1 - part)) : 0
      const line = `${doing}: ${count} ${counted}, ${Math.floor(part * 100)} %, ${Math.round(count / seconds)}/s, about ${left} s left`
      stream.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
    },
    end: () => {
      if (isTerminal) stream.write('\r\u001b[K')
    },
  }
}
