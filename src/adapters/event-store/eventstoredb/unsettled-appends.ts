import type { Proposal } from './proposal.js'

/** Appends whose caller was told that the outcome is unknown: when they come again, the stream is looked at first. */
export interface UnsettledAppends {
  has(proposal: Proposal): boolean
  note(proposal: Proposal): void
  settle(proposal: Proposal): void
}

const REMEMBERED = 10_000

export const unsettledAppends = (): UnsettledAppends => {
  const noted = new Set<string>()
  const keyOf = ({ stream, ids }: Proposal) => `${ids[0]} ${stream}`

  return {
    has: (proposal) => noted.size > 0 && noted.has(keyOf(proposal)),
    note: (proposal) => {
      noted.add(keyOf(proposal))
      if (noted.size <= REMEMBERED) return
      const [oldest] = noted
      if (oldest !== undefined) noted.delete(oldest)
    },
    settle: (proposal) => {
      if (noted.size > 0) noted.delete(keyOf(proposal))
    },
  }
}
