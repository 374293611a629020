import { createHash } from 'node:crypto'
import type { LogCopy, WrittenEvent } from '../adapters/event-store/sqlite/log-copy.js'

const PAGE_EVENTS = 1000

/** The events of a copy, page by page, in log order. */
export function* pagesOf(copy: LogCopy): Generator<readonly WrittenEvent[]> {
  let after = -1
  for (;;) {
    const page = copy.page(after, PAGE_EVENTS)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    after = last.position
  }
}

/** Computes the SHA-256 of events in log order, with all their fields. */
export const logDigest = () => {
  const hash = createHash('sha256')
  let events = 0
  return {
    add: ({ position, stream, revision, id, type, data, metadata, recordedAt }: WrittenEvent): void => {
      hash.update(JSON.stringify([position, stream, revision, id, type, data, metadata, recordedAt]))
      events += 1
    },
    events: (): number => events,
    digest: (): string => hash.digest('hex'),
  }
}
