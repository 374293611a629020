import type { SentEnd, SentStart } from './operations.js'

/** A call whose start is known: the first start and, once there is one, the first end. */
export interface Started {
  readonly id: string
  readonly traceId: string
  readonly parentId: string | null
  readonly startedAt: bigint
  readonly start: SentStart
  readonly end: SentEnd | undefined
  readonly endedAt: bigint | undefined
  readonly deleted: boolean
}
