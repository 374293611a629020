import type { WriteStream } from 'node:tty'

export interface Progress {
  /** How many are done by now, and which part of all that is. */
  readonly note: (count: number, part: number) => void
  readonly end: () => void
}

const SAY_EVERY_MS = { terminal: 250, file: 5000 }

/** Says on a stream how far something is, how fast it goes and how long it will take: on a terminal in one line. */
export const progressOn = (
  stream: Pick<WriteStream, 'write'> & { readonly isTTY?: boolean },
  doing: string,
  now: () => number = () => performance.now(),
  counted = 'events',
): Progress => {
  const isTerminal = stream.isTTY === true
  const start = now()
  let said = start
  return {
    note: (count, part) => {
      if (now() - said < (isTerminal ? SAY_EVERY_MS.terminal : SAY_EVERY_MS.file)) return
      said = now()
      const seconds = (said - start) / 1000
      const left = part > 0 ? Math.ceil((seconds / part) * (1 - part)) : 0
      const line = `${doing}: ${count} ${counted}, ${Math.floor(part * 100)} %, ${Math.round(count / seconds)}/s, about ${left} s left`
      stream.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
    },
    end: () => {
      if (isTerminal) stream.write('\r\u001b[K')
    },
  }
}
