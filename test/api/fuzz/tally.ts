import type { Received, Sent } from './wire.js'

/** What came of the requests: how often each status, and each problem once, with a request that shows it. */
export interface Tally {
  readonly note: (sent: Sent, received: Received | undefined, problems: readonly string[]) => void
  readonly problems: () => readonly string[]
  readonly count: (operation: string, status: number) => number
  readonly table: () => string
}

export const newTally = (): Tally => {
  const problems = new Map<string, string>()
  const statuses = new Map<string, Map<number, number>>()

  return {
    note: (sent, received, found) => {
      const { operation, method } = sent.planned
      const name = `${method} ${operation.template}`
      for (const problem of found)
        if (!problems.has(`${name}: ${problem}`)) problems.set(`${name}: ${problem}`, told(sent, received))
      const ofOperation = statuses.get(name) ?? new Map<number, number>()
      const status = received?.status ?? 0
      statuses.set(name, ofOperation.set(status, (ofOperation.get(status) ?? 0) + 1))
    },
    problems: () => [...problems].map(([problem, where]) => `${problem}\n    ${where}`),
    count: (operation, status) => statuses.get(operation)?.get(status) ?? 0,
    table: () =>
      [...statuses]
        .map(([name, counts]) => `${name} ${JSON.stringify(Object.fromEntries(counts))}`)
        .sort()
        .join('\n'),
  }
}

const told = ({ planned: { method, key }, path, headers, bytes }: Sent, received?: Received): string =>
  [
    `${method} ${path.slice(0, 200)} (${key}) ${JSON.stringify({ ...headers, authorization: undefined })}`,
    (bytes ?? '').toString().slice(0, 600),
    `${received?.status ?? 'no answer'} ${received?.bytes.toString().slice(0, 300) ?? ''}`,
  ].join('\n    ')
